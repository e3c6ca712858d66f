"""The order in which tests run: each worker of pytest-xdist begins with some that take long.

The workers get equal shares of the list, one after the other, and who has nothing left takes some of another's. Without
this a test of minutes can be what somebody comes to last, while the others have nothing to do.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def in_shares(items: Sequence[Item], is_long: Callable[[Item], bool], shares: int) -> list[Item]:
    """All items, in shares of equal size: each begins with its part of the long ones, and goes on with one of the rest.

    Neighbours stay together: they mostly need the same things, which one worker has to install and others wait for.
    """
    long = [each for each in items if is_long(each)]
    rest = [each for each in items if not is_long(each)]
    ordered: list[Item] = []
    for left in range(shares, 0, -1):
        size = (len(long) + len(rest)) // left  # as xdist divides them
        first = len(long) // left
        others = size - first
        ordered += long[:first] + rest[:others]
        del long[:first], rest[:others]
    return ordered
