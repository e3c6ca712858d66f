"""Instance types, custom sizes and account limits: pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from emulator.schema import without_nulls

Configuration = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """What one instance gets."""

    vcpu: float
    memory_mib: int
    disk_mb: int


TYPES = {
    "lite": Size(0.0625, 256, 2000),
    "basic": Size(0.25, 1024, 4000),
    "standard-1": Size(0.5, 4096, 8000),
    "standard-2": Size(1, 6144, 12000),
    "standard-3": Size(2, 8192, 16000),
    "standard-4": Size(4, 12288, 20000),
}
ALIASES = {"dev": "lite", "standard": "standard-1"}
LARGEST = Size(4, 12288, 20000)
TOTAL = Size(1500, 6 * 1024 * 1024, 30_000_000)
LITE = TYPES["lite"]
_KEYS = ("vcpu", "memory_mib", "disk")
_SIZE = (*_KEYS, "instance_type")
LEAST_CUSTOM_VCPU = 1
MEMORY_PER_VCPU = 3 * 1024


def normalise(sent: Configuration, base: Size = LITE) -> tuple[Configuration, dict[str, str]]:
    """A sent configuration with its size in one form: a canonical type, or all three numbers; and what is wrong.

    Numbers that are not sent stay as they are in `base`.
    """
    rest = {name: value for name, value in sent.items() if name not in (*_KEYS, "instance_type", "memory")}
    given = [name for name in _KEYS if name in sent]
    if "instance_type" in sent:
        if given:
            return rest, {"configuration.instance_type": f"cannot be combined with {', '.join(given)}"}
        name = sent["instance_type"]
        return {**rest, "instance_type": ALIASES.get(name, name)}, {}
    if not given:
        return rest, {}
    disk = sent.get("disk", {}).get("size_mb", base.disk_mb)
    size = Size(sent.get("vcpu", base.vcpu), int(sent.get("memory_mib", base.memory_mib)), int(disk))
    return {**rest, **_numbers(size)}, custom_problems(size)


def custom_problems(size: Size) -> dict[str, str]:
    """What the rules of custom sizes say against one; named types are exempt."""
    if size in TYPES.values():
        return {}
    found = {}
    if size.vcpu < LEAST_CUSTOM_VCPU:
        found["configuration.vcpu"] = f"custom instances need at least {LEAST_CUSTOM_VCPU} vCPU"
    if size.memory_mib < size.vcpu * MEMORY_PER_VCPU:
        found["configuration.memory_mib"] = "custom instances need at least 3 GiB of memory per vCPU"
    return found


def size_of(configuration: Configuration) -> Size:
    """The size a stored configuration means."""
    if "vcpu" in configuration:
        disk = configuration["disk"]["size_mb"]
        return Size(configuration["vcpu"], configuration["memory_mib"], disk)
    return TYPES[configuration.get("instance_type", "lite")]


def type_of(size: Size) -> str | None:
    """The type that has this size."""
    return next((name for name, known in TYPES.items() if known == size), None)


def expanded(configuration: Configuration) -> Configuration:
    """A stored configuration as the API gives it back: always with the numbers, and with the type they amount to."""
    size = size_of(configuration)
    shown = {**configuration, **_numbers(size), "memory": f"{size.memory_mib}MiB"}
    shown["disk"] = {"size_mb": size.disk_mb, "size": f"{size.disk_mb}MB"}
    name = type_of(size)
    if name is not None:
        shown["instance_type"] = name
    return shown


def merged(stored: Configuration, change: Configuration) -> Configuration:
    """Apply a normalised partial configuration: null takes away, one form of size replaces the other."""
    result = dict(stored)
    if "instance_type" in change or "vcpu" in change:
        for name in _SIZE:
            result.pop(name, None)
    result.update(change)
    return without_nulls(result)


def restored(stored: Configuration, former: Configuration, names: Iterable[str]) -> Configuration:
    """Take the named parts from a former configuration again; a size is taken as a whole."""
    back = set(names)
    if not back.isdisjoint(_SIZE):
        back.update(_SIZE)
    return merged(stored, {name: former.get(name) for name in back})


def over(size: Size, limit: Size, count: int = 1) -> bool:
    """Whether so many of a size go beyond a limit."""
    return (
        size.vcpu * count > limit.vcpu
        or size.memory_mib * count > limit.memory_mib
        or size.disk_mb * count > limit.disk_mb
    )


def _numbers(size: Size) -> Configuration:
    return {"vcpu": size.vcpu, "memory_mib": size.memory_mib, "disk": {"size_mb": size.disk_mb}}


def account_view(account_id: str) -> dict[str, Any]:
    """Limits and defaults of an account, as wrangler reads them."""
    largest, total, lite = LARGEST, TOTAL, LITE
    return {
        "external_account_id": account_id,
        "legacy_identity": "",
        "capabilities": [],
        "limits": {
            "account_id": account_id,
            "vcpu_per_deployment": largest.vcpu,
            "memory_mib_per_deployment": largest.memory_mib,
            "memory_per_deployment": f"{largest.memory_mib}MiB",
            "disk_mb_per_deployment": largest.disk_mb,
            "disk_per_deployment": f"{largest.disk_mb}MB",
            "total_vcpu": total.vcpu,
            "total_memory_mib": total.memory_mib,
            "total_memory": f"{total.memory_mib}MiB",
            "total_disk_mb": total.disk_mb,
            "node_group": "cloudchamber",
            "ipv4s": 0,
            "network_modes": ["private"],
        },
        "locations": [],
        "defaults": {
            "vcpus": lite.vcpu,
            "memory_mib": lite.memory_mib,
            "memory": f"{lite.memory_mib}MiB",
            "disk_mb": lite.disk_mb,
        },
    }
