import io
import re

import pytest

from tools import progress
from tools.progress import Board, elapsed


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0s"), (4.26, "4.3s"), (59.9, "59.9s"), (60, "1m 00s"), (725, "12m 05s")]
)
def test_durations_read_as_people_say_them(seconds: float, text: str):
    assert elapsed(seconds) == text


def test_a_log_gets_one_line_per_step():
    stream = io.StringIO()
    board = Board(stream)
    with board.step("compiling"):
        pass
    with pytest.raises(ValueError, match="no"), board.step("downloading", otherwise="absent"):
        raise ValueError("no")
    board.close()
    lines = [re.sub(r"[\d.]+s", "Ns", line) for line in stream.getvalue().splitlines()]
    assert lines == ["  done   compiling (Ns)", "  absent downloading (Ns)"]


def test_long_work_shows_how_long_it_has_taken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "_LOG_INTERVAL", 0.01)

    class Stream(io.StringIO):
        seen = progress.threading.Event()

        def write(self, text: str) -> int:
            if "still" in text:
                self.seen.set()
            return super().write(text)

    stream = Stream()
    board = Board(stream)
    with board.step("compiling"):
        assert stream.seen.wait(5)
    board.close()
    assert re.search(r"^  still  compiling [\d.]+s$", stream.getvalue(), re.MULTILINE)


def test_a_terminal_is_redrawn_in_place(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "_TERMINAL_INTERVAL", 0.01)

    class Terminal(io.StringIO):
        drawn = progress.threading.Event()

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            if "compiling" in text:
                self.drawn.set()
            return super().write(text)

    terminal = Terminal()
    board = Board(terminal)
    with board.step("compiling"):
        assert terminal.drawn.wait(5)
    board.close()
    assert "\r\033[K  compiling" in terminal.getvalue()
    assert terminal.getvalue().endswith("s)\n")
