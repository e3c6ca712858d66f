"""Exceptions: findings that are accepted for a reason and for a time. An expired one is itself a finding."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Any, Final

from .finding import CATALOGUE, MANDATORY, Finding

EXPIRED: Final = "check/exception-expired"
UNUSED: Final = "check/exception-unused"
_WHY: Final = "An exception that nobody looks at again is a rule that nobody keeps."
_SHORTEST_REASON: Final = 10


@dataclass(frozen=True)
class Exemption:
    """One accepted finding."""

    rule: str
    where: str
    """The place, or a pattern of it."""
    reason: str
    expires: date
    said_at: str

    def covers(self, finding: Finding, names: Iterable[str]) -> bool:
        """Say whether it accepts a finding, whose place has these names."""
        return finding.rule == self.rule and any(fnmatchcase(each, self.where) for each in names)

    def expired(self) -> Finding:
        """Return the finding that its time is over."""
        what = f"the exception for {self.rule} at {self.where} expired on {self.expires}"
        return self._about(EXPIRED, what, "Fix the finding, or renew the exception with its reason.")

    def unused(self) -> Finding:
        """Return the finding that it accepts nothing."""
        return self._about(
            UNUSED, f"the exception for {self.rule} at {self.where} accepts nothing", "Remove the exception."
        )

    def _about(self, rule: str, what: str, remedy: str) -> Finding:
        link, since = CATALOGUE[self.rule].link, self.expires.isoformat()
        return Finding(rule, MANDATORY, self.said_at, what, _WHY, remedy, link, since)


def exemption(said: Any, said_at: str, place: str, problems: list[str]) -> Exemption | None:
    """Read one exception, whose pattern is under the key `place`; what is wrong with it goes to the problems."""
    keys = ("rule", place, "reason", "expires")
    if not isinstance(said, Mapping) or set(said) != set(keys):
        problems.append(f"{said_at}: an exception has exactly rule, {place}, reason and expires")
        return None
    if str(said["rule"]) not in CATALOGUE:
        problems.append(f"{said_at}: there is no rule {said['rule']!r}; docs/rules.md lists them")
    if not isinstance(said["reason"], str) or len(said["reason"].strip()) < _SHORTEST_REASON:
        problems.append(f"{said_at}: the reason must say why, in a sentence")
    try:
        expires = said["expires"] if type(said["expires"]) is date else date.fromisoformat(str(said["expires"]))
    except ValueError:
        problems.append(f"{said_at}: expires is a date such as 2027-01-31, not {said['expires']!r}")
        return None
    return Exemption(str(said["rule"]), str(said[place]), str(said["reason"]), expires, said_at)
