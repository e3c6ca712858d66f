"""What an item costs a month at list prices: a ceiling for what runs, a rate for what is stored. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..account.items import Item, Kind
from ..platform.containers import Size, size_of
from ..platform.prices import PRICES, Meter, month_at_full_load


@dataclass(frozen=True)
class Cost:
    """US dollars a month."""

    month: float | None
    """At most this much; None where it depends on what the item holds."""
    text: str


def monthly(item: Item) -> Cost | None:
    """Return what an item costs; None for what has no price."""
    if item.kind is Kind.APPLICATION:
        return _application(item.details)
    return _COSTS.get(item.kind)


# What the plan includes is left out: it may be used up.
_STORED, _KEYS = PRICES[Meter.STORED], PRICES[Meter.KEYS_STORED]
_CERTIFICATES = PRICES[Meter.CERTIFICATES]
_COSTS: Final[Mapping[Kind, Cost]] = {
    Kind.BUCKET: Cost(None, f"${_STORED.dollars:g} for each GB"),
    Kind.KV: Cost(None, f"${_KEYS.dollars:g} for each GB"),
    Kind.CERTIFICATE: Cost(_CERTIFICATES.dollars, f"${_CERTIFICATES.dollars:g}, once for the zone"),
}


def _application(details: Mapping[str, Any]) -> Cost | None:
    size, most = _size(details), details.get("max_instances")
    if size is None or not isinstance(most, int):
        return None  # instances of images that the objects choose
    month = round(most * month_at_full_load(size), 2)
    return Cost(month, f"at most ${month:,.2f}: {most} instances under full load")


def _size(details: Mapping[str, Any]) -> Size | None:
    """The API tells sizes in numbers, or the type alone."""
    disk = details.get("disk") or {}
    vcpu, memory = details.get("vcpu"), details.get("memory_mib")
    space = disk.get("size_mb") if isinstance(disk, Mapping) else None
    if vcpu and memory and space:
        return Size(float(vcpu), int(memory), int(space))
    return size_of(str(details.get("instance_type") or ""))
