"""Every command in the documentation runs, and prints what the documentation shows."""

import re

import pytest

from tests.checkout import Checkout
from tools.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Not run from here, and why.
ELSEWHERE = {
    "make test": "this is part of it",
    "make test-quick": "a part of `make test`",
    "make lint": ".ci/run does it",
}
ON_REAL_SANDBOXES = "/files/content?"
"""In lines that move a file of the reader's own; `worker_src/test/real/large.test.ts` runs them."""
pytestmark = pytest.mark.engine


def blocks(language: str) -> list[tuple[str, str]]:
    found = [
        (page.relative_to(ROOT).as_posix(), block)
        for page in PAGES
        for block in re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    ]
    assert found, f"no page has a {language} block: has the format changed?"
    return found


@pytest.mark.parametrize(("page", "block"), blocks("console"))
def test_a_shown_run_prints_what_the_page_says(checkout: Checkout, page: str, block: str):
    command, *shown = [line.rstrip() for line in block.splitlines() if line.strip()]
    printed = iter(checkout.by_hand(command.removeprefix("$ ")).splitlines())
    for line in shown:
        assert any(real.startswith(line) for real in printed), f"{page}: `{command}` does not print {line!r} here"


@pytest.mark.parametrize(("page", "block"), blocks("sh"))
def test_a_command_block_runs(checkout: Checkout, page: str, block: str):
    lines = [line for line in block.splitlines() if line.strip() and line.strip() not in ELSEWHERE]
    commands = [line for line in lines if ON_REAL_SANDBOXES not in line]
    if commands:
        checkout.succeed("up")
        checkout.by_hand("set -e\n" + "\n".join(commands))
    assert page


def test_every_link_between_pages_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_path_in_the_readme_exists():
    table = (ROOT / "README.md").read_text().partition("## Where things are")[2]
    paths = [
        path for cell in re.findall(r"^\| (`[^|]+)\|", table, re.MULTILINE) for path in re.findall(r"`([^`]+)`", cell)
    ]
    assert len(paths) > 4
    assert [path for path in paths if not (ROOT / path).exists()] == []
