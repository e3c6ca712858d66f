"""Exceptions: findings that a project accepts for a reason and for a time. An expired one is itself a finding."""

from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from ..rules import MANDATORY, Finding
from ..rules.finding import CATALOGUE
from .document import BrokenDocumentError, Document, read_jsonc, read_toml
from .files import LARGEST_CONFIG, UnreadableError, read

EXPIRED: Final = "check/exception-expired"
UNUSED: Final = "check/exception-unused"
_KEYS: Final = frozenset({"rule", "where", "reason", "expires"})


class ExceptionsError(ValueError):
    """A file of exceptions that says something wrong."""


@dataclass(frozen=True)
class Exemption:
    """One accepted finding."""

    rule: str
    where: str
    """The place, or a pattern of it; the line may be left out."""
    reason: str
    expires: date
    said_at: str

    def covers(self, finding: Finding) -> bool:
        """Say whether it accepts a finding."""
        name = finding.where.rpartition(":")[0]
        return finding.rule == self.rule and any(fnmatchcase(each, self.where) for each in (finding.where, name))


def read_exceptions(path: Path) -> list[Exemption]:
    """Read a file of exceptions, TOML (`[[exceptions]]`) or JSON (a list); say everything that is wrong with it."""
    try:
        text = read(path, LARGEST_CONFIG)
        document = read_toml(path.name, text) if path.suffix == ".toml" else read_jsonc(path.name, text)
    except FileNotFoundError:
        raise ExceptionsError(f"there is no {path}") from None
    except (UnreadableError, BrokenDocumentError) as error:
        raise ExceptionsError(f"{path}:{getattr(error, 'line', 1)}: {error}") from None
    base: tuple[str, ...] = ("exceptions",) if isinstance(document.value, dict) else ()
    listed = document.value.get("exceptions") if base else document.value
    if not isinstance(listed, list):
        raise ExceptionsError(f"{path}: expected a list of exceptions, each with rule, where, reason and expires")
    problems: list[str] = []
    found = [_exemption(document, (*base, index), each, problems) for index, each in enumerate(listed)]
    if problems:
        raise ExceptionsError("\n".join(problems))
    return [each for each in found if each]


def _exemption(document: Document, path: tuple[Any, ...], said: Any, problems: list[str]) -> Exemption | None:
    where = document.where(*path)
    if not isinstance(said, dict) or set(said) != _KEYS:
        problems.append(f"{where}: an exception has exactly rule, where, reason and expires")
        return None
    if str(said["rule"]) not in CATALOGUE:
        problems.append(f"{where}: there is no rule {said['rule']!r}; docs/rules.md lists them")
    if not isinstance(said["reason"], str) or len(said["reason"].strip()) < 10:
        problems.append(f"{where}: the reason must say why, in a sentence")
    try:
        expires = said["expires"] if type(said["expires"]) is date else date.fromisoformat(str(said["expires"]))
    except ValueError:
        problems.append(f"{where}: expires is a date such as 2027-01-31, not {said['expires']!r}")
        return None
    return Exemption(str(said["rule"]), str(said["where"]), str(said["reason"]), expires, where)


def accepted(findings: list[Finding], exemptions: list[Exemption], today: date) -> list[Finding]:
    """Leave out what is accepted; add what is wrong with the exceptions themselves."""
    valid = [each for each in exemptions if each.expires >= today]
    kept = [finding for finding in findings if not any(each.covers(finding) for each in valid)]
    for each in exemptions:
        if each.expires < today:
            what = f"the exception for {each.rule} at {each.where} expired on {each.expires}"
            kept.append(_about(EXPIRED, each, what, "Mend the finding, or renew the exception with its reason."))
        elif not any(each.covers(finding) for finding in findings):
            what = f"the exception for {each.rule} at {each.where} accepts nothing"
            kept.append(_about(UNUSED, each, what, "Remove the exception."))
    return kept


def _about(rule: str, said: Exemption, what: str, remedy: str) -> Finding:
    why = "An exception that nobody looks at again is a rule that nobody keeps."
    return Finding(
        rule, MANDATORY, said.said_at, what, why, remedy, CATALOGUE[said.rule].link, said.expires.isoformat()
    )
