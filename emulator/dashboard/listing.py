"""Lists of the snapshot: the first rows of what may be thousands, and how many there are.

Each view picks the fields it shows, so that what a service stores later stays out until somebody names it here.
"""

from collections.abc import Callable, Iterable

from emulator.store import Document, Order, Store

MOST = 100
"""Rows of a list."""
_LONGEST = 300

View = Callable[[str, Document], Document | None]


def listing(store: Store, kind: str, scopes: Iterable[str], view: View, *, order: Order = "age") -> Document:
    """Rows of a kind over several scopes; a view that returns None leaves the document out and uncounted."""
    places = list(scopes)
    total = sum(store.count(kind, scope) for scope in places)
    rows: list[Document] = []
    for scope in places:
        if len(rows) == MOST:
            break
        found = [view(scope, each) for each in store.select(kind, scope, order=order, limit=MOST - len(rows))]
        total -= found.count(None)
        rows += [row for row in found if row is not None]
    return {"total": total, "rows": rows}


def plain(text: object) -> str:
    """Text as a line of a table: not too long, nothing in it that turns the line around or cannot be seen."""
    line = "".join(character if character.isprintable() else "\ufffd" for character in str(text)[: _LONGEST + 1])
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
