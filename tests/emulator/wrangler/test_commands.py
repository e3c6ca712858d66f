"""Every chapter of `make wrangler`, with the real wrangler."""

from pathlib import Path

import pytest

from bench.wrangler.commands import CHAPTERS, play
from emulator.testing import running
from testbed.wrangler.cli import Wrangler


@pytest.mark.wrangler
@pytest.mark.long
@pytest.mark.timeout(1800)  # some twenty commands, each with a limit of its own
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_command_of_the_chapter(wrangler_program: tuple[Path, Path], tmp_path: Path, chapter: str):
    home = tmp_path / "home"
    home.mkdir()
    # Images are listed by HTTPS alone.
    with running(tmp_path / "state", tls=True) as emulator:
        outcomes = list(play(chapter, Wrangler(*wrangler_program, emulator, home), tmp_path / "project"))
    assert [(each.line, each.problem) for each in outcomes if each.problem] == []
    assert len(outcomes) == len(CHAPTERS[chapter])


def test_there_are_a_hundred():
    assert sum(map(len, CHAPTERS.values())) >= 100
