"""Shows long work: one line per finished step, and what is running now with the time it has taken."""

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from tools.errors import SetupError

_TERMINAL_INTERVAL: Final = 0.5
_LOG_INTERVAL: Final = 30.0


def elapsed(seconds: float) -> str:
    """Write a duration as people say it."""
    whole = int(seconds)
    return f"{whole // 60}m {whole % 60:02d}s" if whole >= 60 else f"{seconds:.1f}s"


class Board:
    """The steps that are running. On a terminal the last line is redrawn; in a log a line appears now and then."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._ticker: threading.Thread | None = None

    @contextmanager
    def step(self, title: str, *, otherwise: str = "failed") -> Iterator[None]:
        """Show `title` as running until the block ends, then as done, or as `otherwise` when it raised."""
        started = time.monotonic()
        with self._lock:
            self._running[title] = started
            self._start_ticker()
        outcome, reason = otherwise, ""
        try:
            yield
            outcome = "done"
        except SetupError as error:
            reason = f": {error.why}"
            raise
        finally:
            with self._lock:
                del self._running[title]
                self._print(f"  {outcome:<6} {title} ({elapsed(time.monotonic() - started)}){reason}")

    def say(self, line: str) -> None:
        """Print one line above the running steps."""
        with self._lock:
            self._print(line)

    def close(self) -> None:
        """Stop redrawing."""
        self._stop.set()
        if self._ticker:
            self._ticker.join()

    def _start_ticker(self) -> None:
        if self._ticker is None:
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()

    def _tick(self) -> None:
        while not self._stop.wait(_TERMINAL_INTERVAL if self._terminal else _LOG_INTERVAL):
            with self._lock:
                now = time.monotonic()
                running = " | ".join(f"{title} {elapsed(now - start)}" for title, start in self._running.items())
                if running and self._terminal:
                    # A line that wraps cannot be redrawn.
                    width = shutil.get_terminal_size().columns - 1
                    self._stream.write("\r\033[K" + f"  {running}"[:width])
                    self._stream.flush()
                elif running:
                    self._print(f"  still  {running}")

    def _print(self, line: str) -> None:
        self._stream.write(f"\r\033[K{line}\n" if self._terminal else f"{line}\n")
        self._stream.flush()
