"""Ranges as npm reads them, as far as an image's version is compared with one."""

import pytest

from components.platform.sdk_support import allows, exact


@pytest.mark.parametrize(
    ("range_", "inside", "outside"),
    [
        ("^0.12.0", "0.12.10", "0.13.0"),
        ("^0.12.3", "0.12.3", "0.12.2"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("^1.2.3", "1.9.0", "2.0.0"),
        ("^0", "0.7.0", "1.0.0"),
        ("^0.12", "0.12.9", "0.13.0"),
        ("~0.12.3", "0.12.9", "0.13.0"),
        ("~0.12", "0.12.0", "0.13.0"),
        ("~1", "1.9.9", "2.0.0"),
        ("0.12.x", "0.12.1", "0.11.9"),
        ("0.12", "0.12.1", "0.13.0"),
        ("1.*", "1.2.3", "2.0.0"),
        ("=0.12.1", "0.12.1", "0.12.2"),
        (">=0.10.0 <0.12.0", "0.11.9", "0.12.0"),
        (">0.10.0", "0.10.1", "0.10.0"),
        (">0.10", "0.11.0", "0.10.9"),
        ("<= 0.10", "0.10.9", "0.11.0"),
        ("0.7.0 - 0.9.1", "0.9.1", "0.9.2"),
        ("^0.7.0 || ^0.12.0", "0.12.1", "0.8.0"),
    ],
)
def test_what_a_range_brings(range_: str, inside: str, outside: str):
    said = [exact(each) for each in (inside, outside)]
    assert [allows(range_, each) if each else None for each in said] == [True, False]


@pytest.mark.parametrize("range_", ["*", "", "x"])
def test_any_version(range_: str):
    version = exact("0.7.0")
    assert version is not None
    assert allows(range_, version) is True


@pytest.mark.parametrize("range_", ["latest", "workspace:*", "^0.12.0-next.1", "git+ssh://a/b", "^0.7.0 || next"])
def test_what_is_not_understood(range_: str):
    version = exact("0.12.1")
    assert version is not None
    assert allows(range_, version) is None
