"""The page for contributors names a place for each of the usual changes, and every file it names is there."""

import re

import pytest

from tools.paths import ROOT

PAGE = (ROOT / "docs" / "contributing.md").read_text()
CHANGES = (
    "an R2 bucket option",
    "a rule",
    "an emulator endpoint",
    "a binding type",
    "a Worker route",
    "an SDK version",
    "an instance type's limits",
    "a command",
)
PLACE = re.compile(r"`([\w.-]+/[\w./-]*)`")


def line_of(change: str) -> str:
    _, found, rest = PAGE.partition(f"\n- **{change}**:")
    assert found, f"docs/contributing.md has no line for {change}"
    return rest.partition("\n- ")[0]


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_has_a_place(change: str):
    assert PLACE.search(line_of(change))


@pytest.mark.parametrize("place", sorted(set(PLACE.findall(PAGE))))
def test_every_place_it_names_exists(place: str):
    assert (ROOT / place).exists()


def test_it_links_the_glossary():
    assert "(glossary.md)" in PAGE
    assert (ROOT / "docs" / "glossary.md").exists()
