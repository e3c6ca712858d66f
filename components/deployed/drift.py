"""What `pulumi refresh --preview-only --json` found: how the account differs from what the state says. Pure.

A refresh, not `preview --refresh`: that would mix what somebody changed in the account with what the program is about
to change. Pulumi prints secrets as `[secret]`, so none can come out of here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UserError

ARGUMENTS: Final = ("refresh", "--preview-only", "--json")
_GONE: Final = "delete"
_LONGEST: Final = 60
_SUMMARY: Final = "preview failed"
_WAYS: Final = {"add": "added", "delete": "removed", "update": "changed"}


@dataclass(frozen=True)
class Difference:
    """One property that is otherwise, or a resource that is gone."""

    name: str
    type: str
    urn: str
    place: str
    """The property, as a path."""
    way: str
    """`gone` of a resource; `added`, `removed` or `changed` of a property."""
    state: Any = None
    account: Any = None

    @property
    def document(self) -> dict[str, Any]:
        """For programs."""
        values = {} if self.way == "gone" else {"state": self.state, "account": self.account}
        return {
            "resource": self.name,
            "type": self.type,
            "urn": self.urn,
            "property": self.place or None,
            "way": self.way,
            **values,
        }


def read_refresh(text: str) -> tuple[Difference, ...]:
    """Return what a refresh found; what says nothing of drift, such as the order of a list's keys, is no difference."""
    try:
        found = json.loads(text)
        return tuple(each for step in found["steps"] for each in _of_step(step))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError("pulumi refresh: printed no JSON that tells what it found; is it 3.140 or newer?") from None


def complaint(text: str) -> str:
    """Return what a refresh that failed said went wrong; what many resources say is said once."""
    try:
        said = json.loads(text).get("diagnostics") or ()
    except (ValueError, AttributeError):
        return text.strip()
    errors = (str(each["message"]).strip() for each in said if each.get("severity") == "error")
    reasons = dict.fromkeys(each.removeprefix("error: ").removeprefix("Preview failed: ") for each in errors)
    reasons.pop(_SUMMARY if len(reasons) > 1 else "", None)
    return "; ".join(reasons)


def _of_step(step: Mapping[str, Any]) -> Iterator[Difference]:
    urn = str(step["urn"])
    name, kind = urn.rpartition("::")[2], urn.split("::")[2].rpartition("$")[2]
    if step["op"] == _GONE:
        yield Difference(name, kind, urn, "", "gone")
        return
    before, after = step.get("oldState") or {}, step.get("newState") or {}
    for path, said in sorted((step.get("detailedDiff") or {}).items()):
        side = "inputs" if said.get("inputDiff") else "outputs"
        state, account = _at(before.get(side), path), _at(after.get(side), path)
        yield Difference(name, kind, urn, path, _WAYS.get(said["kind"].split("-")[0], "changed"), state, account)


def _at(value: Any, path: str) -> Any:
    """Return what is at a path such as `a.b[0]["c.d"]`; None where there is nothing."""
    for part in _parts(path):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _parts(path: str) -> Iterator[str]:
    word, rest = "", path
    while rest:
        if rest.startswith('["') and '"]' in rest:
            if word:
                yield word
            quoted, _, rest = rest[2:].partition('"]')
            yield quoted
            word = ""
            continue
        each, rest = rest[0], rest[1:]
        if each in ".[]":
            if word:
                yield word
            word = ""
        else:
            word += each
    if word:
        yield word


def table(found: Sequence[Difference]) -> str:
    """Return lines for people: one for each difference, in columns."""
    if not found:
        return "no drift: the account is what the state says\n"
    rows = [("resource", "property", "state", "account"), *map(_row, found)]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = ["  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]).rstrip() for row in rows]
    count = "1 difference" if len(found) == 1 else f"{len(found)} differences"
    advice = "`pulumi up --refresh` brings the account back; `pulumi refresh` takes the account's side"
    return "\n".join([*lines, f"{count}; {advice}", ""])


def _row(each: Difference) -> tuple[str, str, str, str]:
    where = f"{each.type.rpartition(':')[2]} {each.name}"
    if each.way == "gone":
        return where, "(all of it)", "there", "gone"
    return where, each.place, _short(each.state), _short(each.account)


def _short(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 + 1 :]}"
