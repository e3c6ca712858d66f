"""The order in which tests run: each worker of pytest-xdist begins with some that take long.

The workers get equal shares of the list, one after the other, and who has nothing left takes some of another's. Without
this a test of minutes can be what somebody comes to last, while the others have nothing to do.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def dealt(items: Sequence[Item], is_long: Callable[[Item], bool], shares: int) -> list[Item]:
    """All items, in shares of equal size: the long ones, dealt like cards, begin them; the rest keep their order."""
    long = [each for each in items if is_long(each)]
    rest = [each for each in items if not is_long(each)]
    ordered: list[Item] = []
    for number in range(shares):
        first = long[number::shares]
        size = (len(items) - len(ordered)) // (shares - number)
        count = max(size - len(first), 0)
        ordered += first + rest[:count]
        del rest[:count]
    return ordered + rest
