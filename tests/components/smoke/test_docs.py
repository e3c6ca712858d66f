"""What docs/smoke.md and the README say of the steps is true."""

import re

from components import SandboxStack
from components.smoke.runner import ALL
from tests.components.smoke.runs import REQUESTS
from tools.paths import ROOT

PAGE = (ROOT / "docs/smoke.md").read_text(encoding="utf-8")
SHOWN_UP = (ROOT / "README.md").read_text(encoding="utf-8").partition("$ make up\n")[2].partition("```")[0]
STEPS = [*(step.name for step in ALL), "destroy"]


def test_the_page_counts_right():
    assert f"prints a table: {len(STEPS)} steps" in PAGE
    assert f"One run makes {len(REQUESTS)} requests" in PAGE


def test_the_page_shows_rows_as_they_are():
    proves = {step.name: step.proves for step in ALL} | {"destroy": "the sandbox is gone"}
    shown = re.findall(r"^(\w[\w ]*?)  +passed +\d+  (.+)$", PAGE, re.MULTILINE)
    assert len(shown) == 6
    assert all(proves[name] == text for name, text in shown)


def test_the_readme_shows_every_step_in_its_order():
    assert re.findall(r"^(\w[\w ]*?)  +passed$", SHOWN_UP, re.MULTILINE) == STEPS
    assert SHOWN_UP.endswith(f"\n{len(STEPS)} passed, 0 failed, 0 not run\n")


def test_the_readme_shows_every_output_of_the_stack():
    shown = re.findall(r"^  (\w+)(?:\.\w+)?(?: |$)", SHOWN_UP, re.MULTILINE)
    assert set(shown) == {*SandboxStack.__annotations__, "dashboard", "emulator"}
    assert shown == sorted(shown)
