"""The three ways Cloudflare's lists page.

Page numbers end with an empty result beyond the last page, cursors and page tokens end by leaving the next one out:
real clients go on until exactly that.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

from . import errors
from .calls import Call, Result
from .store import Document, Order

_LARGEST = 10**9


@dataclass(frozen=True)
class Page:
    """Which part of a list the client asks for."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """Entries before the page."""
        return (self.number - 1) * self.size

    def info(self, count: int, total: int) -> dict[str, int]:
        """`result_info` for a page with `count` entries out of `total`."""
        return {
            "page": self.number,
            "per_page": self.size,
            "count": count,
            "total_count": total,
            "total_pages": -(-total // self.size),
        }


def asked_page(call: Call, *, default: int = 20, most: int = 100, least: int = 1) -> Page:
    """Read `page` and `per_page`."""
    return Page(whole_query(call, "page", 1, 1, _LARGEST), whole_query(call, "per_page", default, least, most))


def whole_query(call: Call, name: str, default: int, least: int, most: int) -> int:
    """A whole-number query parameter within limits."""
    value = call.query.get(name)
    if not value:
        return default
    if not (value.isascii() and value.isdigit() and len(value) < 12 and least <= int(value) <= most):
        raise errors.BAD_QUERY(name=name, problem=f"must be a number from {least} to {most}")
    return int(value)


def page_of(call: Call, entries: Sequence[Any], *, default: int = 20, most: int = 100, least: int = 1) -> Result:
    """One page of a list already in hand (filtered lists)."""
    page = asked_page(call, default=default, most=most, least=least)
    part = list(entries[page.offset : page.offset + page.size])
    return Result(part, page.info(len(part), len(entries)))


def is_descending(call: Call) -> bool:
    """Whether `direction` turns the list around."""
    return call.choice("direction", ("asc", "desc"), "asc") == "desc"


def ordered(call: Call, entries: Sequence[Document], orders: tuple[str, ...], default: str) -> list[Document]:
    """A list by the field that `order` names, in the `direction` asked for; a dot leads to a field of a field."""
    path = call.choice("order", orders, default).split(".")
    return sorted(entries, key=lambda each: str(reduce(getitem, path, each)), reverse=is_descending(call))


def page_of_kind(
    call: Call, kind: str, scope: str, *, default: int = 20, most: int = 100, order: Order = "age", least: int = 1
) -> Result:
    """One page of stored documents, read page-wise."""
    page = asked_page(call, default=default, most=most, least=least)
    part = call.store.select(kind, scope, order=order, limit=page.size, offset=page.offset)
    return Result(part, page.info(len(part), call.store.count(kind, scope)))


def cursor_after(call: Call, name: str = "cursor") -> str | None:
    """The key a cursor (or page token) stands for; None at the beginning of the list."""
    value = call.query.get(name)
    if not value:
        return None
    try:
        return base64.urlsafe_b64decode(value.encode()).decode()
    except (binascii.Error, ValueError) as error:
        raise errors.BAD_QUERY(name=name, problem="is not a cursor of this list") from error


def cursor_for(key: str) -> str:
    """A cursor that continues after the key."""
    return base64.urlsafe_b64encode(key.encode()).decode()


def cut(entries: list[Document], size: int) -> tuple[list[Document], bool]:
    """Take `size` entries of a list read with one more; whether there is a next page."""
    return entries[:size], len(entries) > size
