"""Pulumi's engine: which one programs of this package need.

Source: the releases that this package is tested with, of which `tools/pins.py` has the oldest. 2026-11-18.
"""

from typing import Final

OLDEST: Final = "3.259.0"
"""The oldest `pulumi` that deploys a stack of this package in its tests."""
