"""Cron expressions as Cloudflare takes them: five fields, numbers within their ranges, names of months and days.

Days of the week count from 1 for Sunday, as the documentation of cron triggers says.
"""

import re
from dataclasses import dataclass, field

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d{1,3}))?")
_NUMBER = re.compile(r"\d{1,3}")


@dataclass(frozen=True)
class _Field:
    """What one field may hold."""

    least: int
    most: int
    names: tuple[str, ...] = ()
    special: re.Pattern[str] = field(default_factory=lambda: re.compile(r"(?!)"))

    def takes(self, text: str) -> bool:
        return all(self._takes_part(part) for part in text.split(","))

    def _takes_part(self, part: str) -> bool:
        if self.special.fullmatch(part):
            return True
        found = _PART.fullmatch(part)
        if found is None or (found["step"] is not None and not 0 < int(found["step"]) <= self.most):
            return False
        if found["first"] == "*":
            return found["last"] is None
        first, last = self._value(found["first"]), self._value(found["last"] or found["first"])
        return first is not None and last is not None and first <= last

    def _value(self, text: str) -> int | None:
        if text.lower() in self.names:
            return self.names.index(text.lower()) + 1
        if _NUMBER.fullmatch(text) and self.least <= int(text) <= self.most:
            return int(text)
        return None


_FIELDS = (
    _Field(0, 59),
    _Field(0, 23),
    _Field(1, 31, special=re.compile(r"L|LW|([1-9]|[12]\d|3[01])W")),
    _Field(1, 12, _MONTHS),
    _Field(1, 7, _DAYS, special=re.compile(rf"([1-7]|{'|'.join(_DAYS)})(L|#[1-5])", re.IGNORECASE)),
)


def is_valid(expression: str) -> bool:
    """Whether a schedule can be made of the expression."""
    parts = expression.split()
    return len(parts) == len(_FIELDS) and all(each.takes(part) for each, part in zip(_FIELDS, parts, strict=True))
