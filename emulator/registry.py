"""Declaration of operations.

Each service has one `Service` and decorates its handlers with method, official path, permission and fidelity.
The router, the permission check, the fuzz and the fidelity table read these declarations; nothing is said twice.
"""

import enum
import importlib
import importlib.util
import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from . import errors

if TYPE_CHECKING:
    from .calls import Call, Reply
    from .world import World

MEBIBYTE = 1024 * 1024
API = "/client/v4"
CONTROL = "/_emulator"

Handler = Callable[["Call"], "Reply | Awaitable[Reply]"]
Hook = Callable[["World"], Awaitable[None]]
Settler = Callable[["World"], None]
Sweeper = Callable[["World"], Iterable[str]]
H = TypeVar("H", bound=Callable[..., Any])


class Fidelity(enum.StrEnum):
    """How far an operation can be trusted to behave like Cloudflare's."""

    FULL = "full"
    """State, rules, answers and documented errors as far as they are known."""
    PARTIAL = "partial"
    """The common path is right; the note says what is missing."""
    STORED = "stored"
    """Accepted, checked for shape, kept and given back; it has no effect."""
    ABSENT = "absent"
    """Refused with a sentence that says so."""


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    id: str
    service: str
    method: str
    path: str
    needs: tuple[str, ...]
    fidelity: Fidelity
    source: str
    date: str
    note: str
    handler: Handler
    base: str = API
    body_limit: int = MEBIBYTE
    stream: bool = False
    public: bool = False


@dataclass(frozen=True)
class Mounted:
    """One row of the fidelity table about something a mount serves."""

    method: str
    path: str
    needs: str
    fidelity: Fidelity = Fidelity.FULL
    note: str = ""


@dataclass(frozen=True)
class Hosted:
    """What answers everything below a domain, and what it calls the operation that a request is."""

    service: str
    handler: Handler
    name_of: Callable[["Call"], str]


@dataclass
class Service:
    """The operations of one service, with the source and date that hold for all of them unless said otherwise."""

    name: str
    source: str
    date: str
    base: str = API
    operations: list[Operation] = field(default_factory=list)
    mounts: dict[str, Handler] = field(default_factory=dict)
    hosts: dict[str, Hosted] = field(default_factory=dict)  # by domain
    mounted: tuple[Mounted, ...] = ()
    asides: set[str] = field(default_factory=set)
    starters: list[Hook] = field(default_factory=list)
    stoppers: list[Hook] = field(default_factory=list)
    settlers: list[Settler] = field(default_factory=list)
    sweepers: list[Sweeper] = field(default_factory=list)

    def operation(
        self,
        method: str,
        path: str,
        *,
        needs: str | tuple[str, ...] = (),
        fidelity: Fidelity = Fidelity.FULL,
        note: str = "",
        source: str | None = None,
        name: str | None = None,
        body_limit: int = MEBIBYTE,
        stream: bool = False,
        public: bool = False,
    ) -> Callable[[H], H]:
        """Declare a handler.

        Args:
            method: HTTP method; HEAD is answered by GET.
            path: official template below the base path, such as `/zones/{zone_id}/dns_records`.
            needs: permission groups of which the token must hold one; a Write group includes its Read group.
            fidelity: how faithful it is; `note` says what is missing.
            note: goes into the table.
            source: where the behaviour is known from, if not from the service's source.
            name: operation id after the service's name; the function's name when left out.
            body_limit: bytes; more is answered 413.
            stream: the handler is `async`, reads the body itself and opens its own short transactions.
            public: no token is asked for: the handler authenticates by itself.
        """

        def register(handler: H) -> H:
            self.operations.append(
                Operation(
                    id=f"{self.name}.{name or handler.__name__}",
                    service=self.name,
                    method=method,
                    path=path,
                    needs=(needs,) if isinstance(needs, str) else needs,
                    fidelity=fidelity,
                    source=source or self.source,
                    date=self.date,
                    note=note,
                    handler=handler,
                    base=self.base,
                    body_limit=body_limit,
                    stream=stream,
                    public=public,
                )
            )
            return handler

        return register

    def absent(self, method: str, path: str) -> None:
        """Say that an official operation is not here, where its path would be taken for that of another."""

        def absent(call: "Call") -> "Reply":
            raise errors.NOT_HERE(method=call.method, path=call.path)

        name = "_".join(["absent", method.lower(), *(part.strip("{}") for part in path.split("/") if part)])
        self.operation(method, path, fidelity=Fidelity.ABSENT, name=name)(absent)

    def mount(self, segment: str, rows: tuple[Mounted, ...] = (), *, aside: bool = False) -> Callable[[H], H]:
        """Serve everything below `/segment` (outside the API) with one async handler that routes and authenticates.

        What is served there is told to the fidelity table by `rows`. What is `aside` is no part of the emulated
        Cloudflare: no record, no fault, no latency.
        """

        def register(handler: H) -> H:
            self.mounts[segment] = handler
            self.asides |= {segment} if aside else set()
            self.mounted += rows
            return handler

        return register

    def host(self, domain: str, name_of: Callable[["Call"], str], rows: tuple[Mounted, ...] = ()) -> Callable[[H], H]:
        """Serve every host below a domain with one async handler that routes and authenticates.

        The journal and faults know its operations by the names that `name_of` gives.
        """

        def register(handler: H) -> H:
            self.hosts[domain] = Hosted(self.name, handler, name_of)
            self.mounted += rows
            return handler

        return register

    def on_start(self, hook: Hook) -> Hook:
        """Run when the server starts, on its event loop."""
        self.starters.append(hook)
        return hook

    def on_stop(self, hook: Hook) -> Hook:
        """Run when the server stops."""
        self.stoppers.append(hook)
        return hook

    def on_settle(self, settler: Settler) -> Settler:
        """Write down what time alone has done: asked for when the clock was moved and before the state is counted."""
        self.settlers.append(settler)
        return settler

    def on_sweep(self, sweeper: Sweeper) -> Sweeper:
        """Remove documents nobody can reach any more and name the blobs that are still needed, soon after the start."""
        self.sweepers.append(sweeper)
        return sweeper


def load_services() -> list[Service]:
    """Every service below `emulator.services`, control routes included, and the dashboard; each has a `routes.py`."""
    from . import services  # noqa: PLC0415 - services import this module
    from .dashboard import routes as dashboard  # noqa: PLC0415

    found: list[Service] = []
    for module in sorted(pkgutil.iter_modules(services.__path__), key=lambda module: module.name):
        name = f"{services.__name__}.{module.name}.routes"
        if importlib.util.find_spec(name) is None:
            continue  # a folder without operations serves others
        routes = importlib.import_module(name)
        found += [value for value in vars(routes).values() if isinstance(value, Service) and value not in found]
    return [*found, dashboard.api]
