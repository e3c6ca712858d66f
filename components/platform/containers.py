"""Instance types, size rules, places and limits of container applications.

Source: Cloudflare's documentation and changelog (disk no longer follows memory since 2026-09-29) and wrangler 4.125 to
4.147. 2026-11-16.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

InstanceType = Literal["lite", "basic", "standard-1", "standard-2", "standard-3", "standard-4"]
Region = Literal["AFR", "APAC", "EEUR", "ENAM", "ME", "OC", "SAM", "WEUR", "WNAM"]
Jurisdiction = Literal["eu", "fedramp", "us"]


@dataclass(frozen=True)
class Size:
    """What one instance gets."""

    vcpu: float
    memory_mib: int
    disk_mb: int


INSTANCE_TYPES: Final[Mapping[str, Size]] = {
    "lite": Size(0.0625, 256, 2000),
    "basic": Size(0.25, 1024, 4000),
    "standard-1": Size(0.5, 4096, 8000),
    "standard-2": Size(1, 6144, 12000),
    "standard-3": Size(2, 8192, 16000),
    "standard-4": Size(4, 12288, 20000),
}
INSTANCE_TYPE_ALIASES: Final[Mapping[str, str]] = {"dev": "lite", "standard": "standard-1"}
"""Former names, which wrangler and the API still take."""
DEFAULT_INSTANCE_TYPE: Final = "lite"
"""What Cloudflare takes where an application says nothing."""
SANDBOX_INSTANCE_TYPE: Final[InstanceType] = "basic"
"""What this package takes where the settings say nothing: the smallest type with room for the image with Python."""
DEFAULT_MAX_INSTANCES: Final = 20
"""What wrangler 4.158 takes where a configuration says nothing."""
LARGEST: Final = INSTANCE_TYPES["standard-4"]
MEMORY_PER_VCPU: Final = 3072
"""MiB that a custom size needs for each vCPU."""

SCHEDULED, MANAGED = "default", "durable_object"
"""Scheduling policies: instances placed by the scheduler, or managed by the Durable Objects themselves."""

REGIONS: Final[tuple[Region, ...]] = get_args(Region)
JURISDICTIONS: Final[Mapping[str, frozenset[str]]] = {
    "eu": frozenset({"EEUR", "WEUR"}),
    "fedramp": frozenset({"ENAM", "WNAM"}),
    "us": frozenset({"ENAM", "WNAM"}),
}
"""Jurisdictions and the regions that lie in them."""

SMALLEST_STEP: Final = 10
LONGEST_GRACE_SECONDS: Final = 604_800
TIERS_DEFAULT: Final = [1, 2]
"""Tiers of locations for an application that says nothing about them, as wrangler writes them."""
SSH_DEFAULT: Final = {"enabled": True, "port": 22}
"""What the API assumes when an application says nothing about SSH."""
REGISTRY: Final = "registry.cloudflare.com"
IMAGE_PLATFORM: Final = "linux/amd64"
"""What images have to be built for."""


def size_of(name: str | None) -> Size | None:
    """Return the size of a type, by its name or a former one; of the default type for None, None for no type."""
    name = name or DEFAULT_INSTANCE_TYPE
    return INSTANCE_TYPES.get(INSTANCE_TYPE_ALIASES.get(name, name))


def instance_type_of(size: Size) -> str | None:
    """Return the type that has exactly this size; the API answers with numbers even where a type was sent."""
    return next((name for name, known in INSTANCE_TYPES.items() if known == size), None)


def size_problems(size: Size) -> Iterator[tuple[str, str]]:
    """Say which field of a custom size breaks which rule."""
    if not 1 <= size.vcpu <= LARGEST.vcpu:
        yield (
            "vcpu",
            f"a custom size has 1 to {LARGEST.vcpu:g} vCPU, not {size.vcpu:g}; smaller ones are instance types",
        )
    if size.memory_mib > LARGEST.memory_mib:
        yield "memoryMib", f"an instance has at most {LARGEST.memory_mib} MiB of memory, not {size.memory_mib}"
    elif size.memory_mib < size.vcpu * MEMORY_PER_VCPU:
        needed = round(size.vcpu * MEMORY_PER_VCPU)
        yield (
            "memoryMib",
            f"{size.vcpu:g} vCPU need at least {needed} MiB of memory (3 GiB each), not {size.memory_mib}",
        )
    if size.disk_mb > LARGEST.disk_mb:
        yield "diskMb", f"an instance has at most {LARGEST.disk_mb} MB of disk, not {size.disk_mb}"


ACCOUNT_LIMITS: Final = Size(1_500, 6 * 1024 * 1024, 30_000_000)
"""What all instances of an account together may have (documentation, 2026-11-16)."""


def most_instances(size: Size) -> int:
    """Return how many instances of a size an account may run at once."""
    shares = (
        ACCOUNT_LIMITS.vcpu / size.vcpu,
        ACCOUNT_LIMITS.memory_mib / size.memory_mib,
        ACCOUNT_LIMITS.disk_mb / size.disk_mb,
    )
    return int(min(shares))
