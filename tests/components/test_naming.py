import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.naming import LIMIT, physical_name

PARTS = st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=4)
READABLE = st.lists(st.from_regex(r"[a-z0-9]{1,10}", fullmatch=True), min_size=1, max_size=4)


@given(PARTS)
def test_a_name_is_valid_and_stable(parts: list[str]):
    name = physical_name(*parts)
    assert name == physical_name(*parts)
    assert 0 < len(name) <= LIMIT
    assert all(character in "abcdefghijklmnopqrstuvwxyz0123456789-" for character in name)
    assert not name.startswith("-")
    assert not name.endswith("-")


@given(PARTS, PARTS)
def test_different_inputs_get_different_names(one: list[str], other: list[str]):
    assert (physical_name(*one) == physical_name(*other)) == (one == other)


@given(READABLE)
def test_plain_parts_stay_readable(parts: list[str]):
    assert physical_name(*parts) == "-".join(parts)


def test_parts_that_join_alike_are_kept_apart():
    assert physical_name("a-b", "c") != physical_name("a", "b-c")
    assert physical_name("a-b", "c").startswith("a-b-c-")


def test_a_long_name_keeps_its_beginning():
    name = physical_name("sandbox", "x" * 100)
    assert name.startswith("sandbox-xxx")
    assert len(name) == LIMIT


@pytest.mark.parametrize("parts", [(), ("",), ("a", "")])
def test_empty_parts_are_refused(parts: tuple[str, ...]):
    with pytest.raises(ValueError, match="non-empty parts"):
        physical_name(*parts)


def test_a_limit_without_room_for_the_hash_is_refused():
    with pytest.raises(ValueError, match="leaves no room"):
        physical_name("a", limit=9)
