"""What the README and docs/commands.md say of `init` is what it does."""

from pathlib import Path

import pytest

from components.cli import main
from tools.paths import ROOT


def test_the_readme_shows_the_commands_that_init_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    way = (ROOT / "README.md").read_text().partition("## The way in\n")[2]
    first, *following = way.partition("```text\n")[2].partition("```")[0].splitlines()
    monkeypatch.chdir(tmp_path)
    assert main(first.split()[1:]) == 0
    printed = capsys.readouterr().out.partition("Next:\n")[2].splitlines()
    assert [f"  {line}" for line in following] == printed[: len(following)]
