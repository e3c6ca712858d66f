"""What docs/smoke.md says of the steps is true."""

import re
from pathlib import Path

from components.smoke.runner import ALL
from tests.smoke.runs import REQUESTS

PAGE = (Path(__file__).resolve().parents[2] / "docs/smoke.md").read_text(encoding="utf-8")


def test_the_page_counts_right():
    assert f"prints a table: {len(ALL) + 1} steps" in PAGE
    assert f"One run makes {len(REQUESTS)} requests" in PAGE


def test_the_page_shows_rows_as_they_are():
    proves = {step.name: step.proves for step in ALL} | {"destroy": "the sandbox is gone"}
    shown = re.findall(r"^(\w[\w ]*?)  +passed +\d+  (.+)$", PAGE, re.MULTILINE)
    assert len(shown) == 6
    assert all(proves[name] == text for name, text in shown)
