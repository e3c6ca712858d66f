"""What becomes of a wrangler project: one entry for each thing that is not simply as it was.

`change` is what the first `pulumi up` changes, `left` stays in the account without an owner here, `lost` would be gone,
`secret` is to be given, `note` is wrangler's own business that a deployment does not see.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final, Literal

Kind = Literal["change", "left", "lost", "secret", "note"]
_TITLES: Final[dict[Kind, str]] = {
    "lost": "Lost: no counterpart here",
    "change": "Changed by the first `pulumi up`",
    "secret": "Secrets to give",
    "left": "Stays in the account, and is not managed here",
    "note": "Not taken over",
}


@dataclass(frozen=True)
class Entry:
    """One thing that is not simply as it was."""

    kind: Kind
    where: str
    """File and line that say it."""
    name: str
    """Path in the configuration; of a change, the property that a preview shows."""
    what: str

    def text(self) -> str:
        """Say it in one line."""
        return f"{self.where}: {self.name}: {self.what}"


def text(entries: Iterable[Entry]) -> str:
    """Return all entries by kind, for people."""
    found = list(entries)
    parts = []
    for kind, title in _TITLES.items():
        lines = [f"  {each.text()}\n" for each in found if each.kind == kind]
        if lines:
            parts.append(f"{title}:\n{''.join(lines)}")
    return "".join(parts)


def document(entries: Iterable[Entry]) -> list[dict[str, str]]:
    """Return all entries for programs."""
    found: list[dict[str, str]] = json.loads(json.dumps([asdict(each) for each in entries]))
    return found
