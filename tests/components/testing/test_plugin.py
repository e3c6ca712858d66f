"""The fixtures for pytest cost nothing where no test asks for them; tests/engine/test_anywhere.py uses them."""

import subprocess
import sys
from pathlib import Path

import pytest

from components import testing
from tools.paths import ROOT

PROBE = """
import sys, pytest
before = set(sys.modules)
import components.testing.plugin
print(*sorted(set(sys.modules) - before))
"""


def test_loading_the_plugin_loads_nothing_else():
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["components", "components.testing", "components.testing.plugin"]


def test_every_public_name_is_there():
    assert all(getattr(testing, name) for name in testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Sandbx'"):
        _ = testing.Sandbx


def test_pytest_knows_the_fixtures_and_the_settings(tmp_path: Path):
    argv = [sys.executable, "-m", "pytest", "-p", "components.testing.plugin", "--fixtures", "-q", str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    told = (ROOT / "docs" / "testing.md").read_text()
    names = [line.split("`")[1] for line in told.splitlines() if line.startswith("| `") and line.count("|") == 4]
    assert len(names) == 6
    assert [name for name in names if f"\n{name} " not in done.stdout] == []
    help_text = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "components.testing.plugin", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    settings = [line.split("`")[1] for line in told.splitlines() if line.startswith("| `") and line.count("|") == 3]
    assert settings == ["sandbox_project", "sandbox_stack", "sandbox_state"]
    assert all(f"{name} (string)" in help_text for name in settings)
