"""List prices of container instances, for a ceiling and never for a bill.

Source: Cloudflare's container pricing as read in August 2026: memory and disk count while an instance runs, processor
time while it is busy. Included amounts of the plan are left out, so an estimate is never below the bill.
"""

from typing import Final

from .containers import Size

AS_OF: Final = "2026-08"
GIB_SECOND: Final = 0.000_002_5
VCPU_SECOND: Final = 0.000_020
GB_SECOND: Final = 0.000_000_07
MONTH_SECONDS: Final = 30 * 24 * 3600


def month_at_full_load(size: Size) -> float:
    """Return the US dollars of one instance that runs and computes for a whole month."""
    second = size.memory_mib / 1024 * GIB_SECOND + size.vcpu * VCPU_SECOND + size.disk_mb / 1000 * GB_SECOND
    return second * MONTH_SECONDS
