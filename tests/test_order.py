"""Long tests begin the shares of xdist's workers, and none is lost."""

from hypothesis import given
from hypothesis import strategies as st

from tests.order import in_shares


def is_long(each: int) -> bool:
    return each < 0


def test_each_share_begins_with_long_ones():
    assert in_shares([1, 2, 3, -1, 4, -2, -3, 5, 6, 7], is_long, 3) == [-1, 1, 2, -2, 3, 4, -3, 5, 6, 7]
    assert in_shares([1, 2, 3, -1, 4, -2, -3, -4], is_long, 3) == [-1, 1, -2, 2, 3, -3, -4, 4]
    assert in_shares([1, 2, -1], is_long, 1) == [-1, 1, 2]
    assert in_shares([1, 2, 3], is_long, 2) == [1, 2, 3]


@given(st.lists(st.integers(-9, 99)), st.integers(1, 5))
def test_none_is_lost_and_the_rest_keep_their_order(items: list[int], shares: int):
    ordered = in_shares(items, is_long, shares)
    assert sorted(ordered) == sorted(items)
    assert [each for each in ordered if not is_long(each)] == [each for each in items if not is_long(each)]
