"""What a change of size or number of instances does to the most that they can cost, for a preview to say."""

from collections.abc import Mapping
from typing import Any, Final

from ....platform.containers import DEFAULT_MAX_INSTANCES, Size, instance_type_of, size_of
from ....platform.prices import AS_OF, month_at_full_load
from ....pulumi_protocol.values import UNKNOWN
from .application import is_managed

_SIZING: Final = ("instanceType", "size", "maxInstances")


def size(inputs: Mapping[str, Any]) -> Size | None:
    """Return the size of an application's instances; None where that is not known, or not said here."""
    said = inputs.get("size")
    if said is not None:
        known = isinstance(said, Mapping) and UNKNOWN not in said.values()
        return Size(said["vcpu"], said["memoryMib"], said["diskMb"]) if known else None
    return None if is_managed(inputs) else size_of(inputs.get("instanceType"))


def most(inputs: Mapping[str, Any]) -> int | None:
    """Return how many instances there are at most; None where that is not known."""
    said = inputs.get("maxInstances", DEFAULT_MAX_INSTANCES)
    return int(said) if isinstance(said, int | float) else None


def remark(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say what a change of size or number does to the price of all instances; nothing where neither changes."""
    if [old.get(name) for name in _SIZING] == [new.get(name) for name in _SIZING]:
        return ""
    before, after = _ceiling(old), _ceiling(new)
    if before is None or after is None:
        return ""
    difference = after[1] - before[1]
    return (
        f"{before[0]} cost at most ${before[1]:,.2f} a month, {after[0]} at most ${after[1]:,.2f}: a difference of "
        f"{'-' if difference < 0 else '+'}${abs(difference):,.2f} (all instances at full load, list prices of {AS_OF})"
    )


def _ceiling(inputs: Mapping[str, Any]) -> tuple[str, float] | None:
    one, count = size(inputs), most(inputs)
    if one is None or count is None:
        return None
    name = instance_type_of(one) or f"({one.vcpu:g} vCPU, {one.memory_mib:g} MiB, {one.disk_mb:g} MB)"
    return f"{count} x {name}", count * month_at_full_load(one)
