"""What the account says of instances that are awake now. It only reads.

The API gives which instances run at this moment, since when, and their size. It gives no hours, no processor time and
no dollars of a month: those are in the dashboard under Billing alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..account.address import account_client
from ..errors import UserError
from ..platform.containers import Size, instance_type_of
from ..platform.prices import AS_OF, month_at_full_load
from ..provider.errors import ProviderError
from .tables import TOTAL, Row, money

HONESTLY: Final = (
    "The API tells which instances are awake at this moment, and neither hours nor processor time of the month: what "
    "is billed is in the dashboard, under Billing. The dollars are those of a month in which as many stay awake, at "
    f"full load, with nothing taken off (list prices of {AS_OF})."
)


@dataclass(frozen=True)
class Used:
    """One application as it is at this moment."""

    name: str
    size: Size | None
    """None where its Durable Objects choose it."""
    most: int | None
    awake: int

    @property
    def month(self) -> float:
        """US dollars of a month in which as many instances stay awake, at full load."""
        return self.awake * month_at_full_load(self.size) if self.size else 0.0


def usage(environment: Mapping[str, str]) -> list[Used]:
    """Return every application of the account that the environment names, by name."""
    client, account_id = account_client(environment)
    try:
        found = client.get(f"/accounts/{account_id}/containers/applications")
    except ProviderError as error:
        raise UserError(str(error)) from None
    return sorted(map(_used, found), key=lambda each: each.name)


def _used(application: Mapping[str, Any]) -> Used:
    said = application.get("configuration") or {}
    size = None
    if {"vcpu", "memory_mib", "disk"} <= said.keys():
        size = Size(float(said["vcpu"]), int(said["memory_mib"]), int(said["disk"]["size_mb"]))
    counts = (application.get("health") or {}).get("instances") or {}
    awake = sum(int(counts.get(name) or 0) for name in ("active", "assigned"))
    return Used(str(application["name"]), size, application.get("max_instances"), awake)


def rows(found: list[Used]) -> list[Row]:
    """Return a table of them."""
    return [("Application", "Size", "Awake", "US dollars a month"), *_body(found)]


def _body(found: list[Used]) -> Iterator[Row]:
    for each in found:
        most = "" if each.most is None else f" of {each.most:,}"
        size = (instance_type_of(each.size) or "its own") if each.size else "unsaid"
        yield (each.name, size, f"{each.awake:,}{most}", money(each.month) if each.size else "unknown")
    yield (TOTAL, "", f"{sum(each.awake for each in found):,}", money(sum(each.month for each in found)))


def as_document(found: list[Used]) -> dict[str, Any]:
    """Return them for programs."""
    return {
        "applications": [
            {
                "name": each.name,
                "awake": each.awake,
                "max_instances": each.most,
                "dollars": round(each.month, 2) if each.size else None,
            }
            for each in found
        ],
        "note": HONESTLY,
    }
