"""One container of a Durable Object: whose it is, how its ports are reached, what is known of it."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from emulator.engine.container import Command, Container, NotListeningError, Process
from emulator.engine.network.patterns import Pattern
from emulator.runtime.proxy.upstream import Upstream
from emulator.store import Document

_YOUNG = 10.0  # seconds for which a request waits for a port that nothing listens on yet …
_HOLD = 4.0  # … so many at most: the library gives up on a request after five
_LOOK = 2.0  # seconds that a look at one may take
_LINES = 20  # of its output that are shown


@dataclass(frozen=True)
class Key:
    """Whose container it is."""

    account: str
    namespace: str
    object: str

    def __str__(self) -> str:
        """As the entry module calls it."""
        return f"{self.namespace}/{self.object}"


@dataclass
class Sandbox:
    """A container of an object, from the moment it was asked for."""

    key: Key
    run: str  # what its object calls this start of it
    application: Document | None = None
    version: int = 0
    image: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    state: str = "provisioning"
    created_at: float = field(default_factory=time.time)
    memory: int | None = None
    output: str = ""
    container: Container | None = None
    ended: "asyncio.Future[Document]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    began: float = field(default_factory=time.monotonic)
    asked_at: float = field(default_factory=time.monotonic)
    inactivity: float | None = None
    most_seconds: float | None = None  # that it may run, whatever it does
    told_to_end: float | None = None  # when, by the emulator's clock
    destroyed: bool = False
    problem: str = ""  # why it was given up
    looked_at: int = 0  # looks under way
    ended_at: float = 0.0
    uses: int = 0  # requests, connections and commands under way
    reached: bool = False  # whether anything has listened on any port
    reaches_endpoint: bool = False  # whether it was told of R2's own address
    upstreams: dict[int, Upstream] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)  # commands under way, by the name the object gave them
    outbound: dict[str, Pattern] = field(default_factory=dict)  # addresses its object intercepts, as it wrote them

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.ended.done()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Not idle while the block runs."""
        self.uses += 1
        try:
            yield
        finally:
            self.uses -= 1
            self.asked_at = time.monotonic()

    async def wait(self) -> Document:
        """Until it ends; how."""
        return await asyncio.shield(self.ended)

    async def look(self) -> None:
        """Take note of what it uses and says; one that does not answer says nothing new."""
        if self.container is None:
            return
        self.memory = self.container.memory()
        self.looked_at += 1
        try:
            async with asyncio.timeout(_LOOK):
                self.output = "\n".join((await self.container.log()).splitlines()[-_LINES:])
        except TimeoutError:
            pass
        finally:
            self.looked_at -= 1

    def shown(self) -> Document:
        """What is known of it, for people."""
        return {
            "object": self.key.object,
            "namespace": self.key.namespace,
            "application": self.application["name"] if self.application else None,
            "version": self.version,
            "image": self.image,
            "digest": self.container.image.digest if self.container else None,
            "state": self.state,
            "started": self.created_at,
            "memory": self.memory,
            "output": self.output,
        }

    def upstream(self, port: int) -> Upstream:
        """Connections to a port."""
        if port not in self.upstreams:
            self.upstreams[port] = Upstream(lambda protocol: self._dial(port, protocol))
        return self.upstreams[port]

    async def _dial(self, port: int, protocol: Callable[[], asyncio.Protocol]) -> Any:
        return await asyncio.get_running_loop().create_connection(protocol, sock=await self.connect(port))

    async def connect(self, port: int) -> socket.socket:
        """A connection to a port; until the first, that waits for something to listen."""
        if self.container is None:
            raise NotListeningError
        booting = not self.reached and time.monotonic() - self.began < _YOUNG
        opened = await self.container.connect(port, _HOLD if booting else 0.0)
        self.reached = True
        return opened

    async def execute(self, command: Command, stdio: tuple[int, int, int]) -> Process:
        """Run a command."""
        if self.container is None:
            raise NotListeningError
        return await self.container.execute(command, stdio)
