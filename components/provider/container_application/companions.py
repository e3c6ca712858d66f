"""Applications of one Worker that roll out in one run: where a failure takes the Worker back, all of them go back.

The engine changes them at the same time and tells them nothing of each other; this process serves them all. One that
the engine begins only after the others are done (`pulumi up --parallel 1`) finds them in `done`, and begins nothing
after a failure: that would bring the Worker forward again.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..errors import ProviderError
from ..resource import Inputs, Run


@dataclass
class Companions:
    """Those that wait for one version of a Worker to have its images."""

    moving: int = 0
    """How many are under way."""
    done: list[str] = field(default_factory=list)
    """Names of those that run what is wanted and have said so."""
    failed: str = ""
    """Name of the one whose failure took the Worker back."""
    served: str = ""
    """The Worker's version that served before the first of them brought it forward."""
    _seen: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _worker: threading.Lock = field(default_factory=threading.Lock)
    """Held while the Worker is brought forward or taken back: what one does the other then sees."""

    @contextmanager
    def under_way(self, name: str) -> Iterator[None]:
        """Count an application as under way while the block runs; one that comes again begins another run."""
        with self._lock:
            if name in self._seen and not self.moving:
                self.done, self.failed, self.served, self._seen = [], "", "", set()
            self._seen.add(name)
            self.moving += 1
        try:
            yield
        finally:
            with self._lock:
                self.moving -= 1

    def forward(self, name: str, bring: Callable[[], str]) -> str:
        """Bring the Worker forward for an application, unless a failure has taken it back in this run.

        Returns the version that served before any of them did so.
        """
        with self._worker:
            if self.failed:
                raise ProviderError(
                    f"application {self.failed} of the same Worker could not be rolled out, and the Worker is back; "
                    f"application {name} was not changed. Fix {self.failed} and run `pulumi up` again"
                )
            served = bring()
            self.served = self.served or served
            return self.served

    def back(self, name: str, take: Callable[[], str]) -> str:
        """Take the Worker back because of an application; return words for the message, none if it did not move."""
        with self._worker:
            words = take()
            if words:
                self.failed = name
            return words

    def outcome(self, run: Run, name: str) -> str:
        """Wait until no other is under way; return the name of the one that took the Worker back, if one did."""
        while True:
            with self._lock:
                if self.failed or not self.moving:
                    self.done += [] if self.failed else [name]
                    return self.failed
            run.status("waiting for the other applications of the Worker")
            run.client.pause(run.client.waits.poll)


class Runs:
    """The companions of each Worker's version in one run of the engine."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Companions] = {}
        self._lock = threading.Lock()

    def companions(self, wanted: Inputs) -> Companions:
        """Return those that an application belongs to."""
        key = tuple(str(wanted.get(name, "")) for name in ("accountId", "scriptName", "workerVersionId"))
        with self._lock:
            return self._known.setdefault(key, Companions())
