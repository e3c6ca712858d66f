"""The newest output of a sandbox, as much as is kept of it."""

import contextlib
import os
import selectors
import time

KEPT = 64 * 1024  # bytes
_CHUNK = 64 * 1024
_PAUSE = 0.02  # seconds: a sandbox that floods its output waits, not the machine
_LAST_CHUNKS = 16  # as much as the largest pipe that a sandbox can make of its output holds


class Output:
    """What was read of one pipe."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._handle, self.written = os.pipe()  # `written` is for the sandbox
        os.set_blocking(self._handle, False)
        self._selector = selector
        self._said = bytearray()
        self._silent_until = 0.0

    @property
    def text(self) -> str:
        """What is kept."""
        return self._said.decode(errors="replace")

    @property
    def pause(self) -> float | None:
        """Seconds until `tend` has something to do."""
        return _PAUSE if self._silent_until else None

    def add(self, said: bytes) -> None:
        """Keep this too."""
        self._said += said
        del self._said[:-KEPT]

    def listen(self) -> None:
        """Hear what is said from now on."""
        self._selector.register(self._handle, selectors.EVENT_READ, self._read)

    def _read(self) -> None:
        try:
            chunk = os.read(self._handle, _CHUNK)
        except BlockingIOError:
            return
        self.add(chunk)
        if len(chunk) == _CHUNK:
            self._silent_until = time.monotonic() + _PAUSE
        if len(chunk) in (0, _CHUNK):
            self._selector.unregister(self._handle)

    def tend(self) -> None:
        """Listen again to a sandbox that had said too much at once."""
        if self._silent_until and time.monotonic() >= self._silent_until:
            self._silent_until = 0.0
            self.listen()

    def drain(self) -> None:
        """Take what was said last; a sandbox that still runs, for nobody is there any more, may say more for ever."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_LAST_CHUNKS):
                self.add(os.read(self._handle, _CHUNK))
