"""Everything one emulator holds, in one object.

Handlers reach it as `call.state`: documents, blobs, vault, clock, tokens, journal, faults. Seeding writes the
configured accounts and zones into a new state; a reset clears all and seeds again.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .blobs import Blobs
from .clock import Clock
from .faults import Faults
from .identity import Identities
from .journal import Journal
from .seed import seed
from .settings import Settings
from .store import Store
from .vault import Vault

if TYPE_CHECKING:
    from .runtime.runtime import Runtime


class State:
    """The emulated Cloudflare: what it is started with, what it keeps, and what happened to it."""

    runtime: "Runtime"  # known once there is an application to serve it

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.store = Store(folder)
        self.blobs = Blobs(folder / "blobs")
        self.vault = Vault(folder / "key")
        self.clock = Clock(self.store)
        self.journal = Journal()
        self.faults = Faults()
        self.identities = Identities(settings, self.store)
        self.latency_ms = 0.0
        self.base_url = ""  # known once the server listens
        self.settlers: list[Callable[[State], None]] = []  # how services let time do its work
        self.sweepers: list[Callable[[State], Iterable[str]]] = []  # how services clear up
        with self.store.transaction():
            seed(self.store, self.clock, settings)

    def reset(self) -> None:
        """Back to the state of the first start."""
        with self.store.transaction():
            self.store.clear()
            self.clock.restart()
            seed(self.store, self.clock, self.settings)
        self.blobs.clear()
        self.journal.clear()
        self.faults.clear()
        self.identities.forget()
        self.latency_ms = 0.0

    def settle(self) -> None:
        """Write down what time alone has done, so that the state counts nothing that is overdue."""
        with self.store.transaction():
            for settler in self.settlers:
                settler(self)

    def sweep(self) -> None:
        """Remove expired documents, then content that none names; a process killed between leaves it to the next."""
        needed: set[str] = set()
        with self.store.transaction():
            for sweeper in self.sweepers:
                needed.update(sweeper(self))
        self.blobs.keep(needed)

    def close(self) -> None:
        """Let go of the state folder."""
        self.store.close()
