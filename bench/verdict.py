"""How programs end that look for what must not be."""

import sys
from collections.abc import Sequence


def verdict(faults: Sequence[str]) -> int:
    """Print the faults; return 1 when there is one."""
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0
