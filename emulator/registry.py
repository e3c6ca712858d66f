"""Declaration of operations.

Each service has one `Service`, and in its `routes.py` a line per operation: method, official path, handler, permission.
The router, the permission check, the fuzz and the fidelity table read these declarations; nothing is said twice.
"""

import enum
import importlib
import importlib.util
import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partialmethod
from typing import TYPE_CHECKING, Any, TypeVar

from . import errors
from .errors import Failure
from .schema import Check

if TYPE_CHECKING:
    from .calls import Call
    from .state import State

MEBIBYTE = 1024 * 1024
API = "/client/v4"
CONTROL = "/_emulator"

Handler = Callable[..., Any]
View = Callable[["Call", Any], Any]
Hook = Callable[["State"], Awaitable[None]]
Settler = Callable[["State"], None]
Sweeper = Callable[["State"], Iterable[str]]
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


PARTIAL, STORED = Fidelity.PARTIAL, Fidelity.STORED


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
    body: Check | None
    invalid: Failure
    view: View | None
    status: int
    base: str
    body_limit: int
    stream: bool
    public: bool


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
    invalid: Failure = errors.BAD_BODY  # what a malformed body is answered with; its text tells the `{problem}`
    operations: list[Operation] = field(default_factory=list)
    mounts: dict[str, Handler] = field(default_factory=dict)
    hosts: dict[str, Hosted] = field(default_factory=dict)  # by domain
    mounted: tuple[Mounted, ...] = ()
    asides: set[str] = field(default_factory=set)
    starters: list[Hook] = field(default_factory=list)
    stoppers: list[Hook] = field(default_factory=list)
    settlers: list[Settler] = field(default_factory=list)
    sweepers: list[Sweeper] = field(default_factory=list)
    below: str = ""  # see `branch`
    prefix: str = ""
    fidelity: Fidelity = Fidelity.FULL

    def branch(self, below: str, prefix: str, fidelity: Fidelity = Fidelity.FULL) -> "Service":
        """Declare operations of this service below a path, with ids that begin alike: an account's, and a zone's."""
        return replace(self, below=below, prefix=prefix, fidelity=fidelity)

    def operation(
        self,
        method: str,
        path: str,
        handler: Handler,
        needs: str | tuple[str, ...] = (),
        fidelity: Fidelity | None = None,
        *,
        body: Check | None = None,
        invalid: Failure | None = None,
        view: View | None = None,
        status: int = 200,
        note: str = "",
        source: str | None = None,
        name: str | None = None,
        body_limit: int = MEBIBYTE,
        stream: bool = False,
        public: bool = False,
    ) -> None:
        """Declare an operation.

        Args:
            method: HTTP method; HEAD is answered by GET.
            path: official template below the base path, such as `/zones/{zone_id}/dns_records`.
            handler: takes the call, and the body where one is declared; what it returns is the `result` of the
                envelope, unless it returns a `Result` or a `Raw`.
            needs: permission groups of which the token must hold one; a Write group includes its Read group.
            fidelity: how faithful it is; `note` says what is missing.
            body: what the JSON body must be.
            invalid: what another body is answered with, if not with the service's own failure.
            view: turns the document that the handler returns, or each of a list, into what the API shows.
            status: of a success.
            note: goes into the table.
            source: where the behaviour is known from, if not from the service's source.
            name: operation id after the service's name; the handler's name when left out.
            body_limit: bytes; more is answered 413.
            stream: the handler is `async`, reads the body itself and opens its own short transactions.
            public: no token is asked for: the handler authenticates by itself.
        """
        self.operations.append(
            Operation(
                id=f"{self.name}.{self.prefix}{name or handler.__name__}",
                service=self.name,
                method=method,
                path=self.below + path,
                needs=(needs,) if isinstance(needs, str) else needs,
                fidelity=fidelity or self.fidelity,
                source=source or self.source,
                date=self.date,
                note=note,
                handler=handler,
                body=body,
                invalid=invalid or self.invalid,
                view=view,
                status=status,
                base=self.base,
                body_limit=body_limit,
                stream=stream,
                public=public,
            )
        )

    get = partialmethod(operation, "GET")
    post = partialmethod(operation, "POST")
    put = partialmethod(operation, "PUT")
    patch = partialmethod(operation, "PATCH")
    delete = partialmethod(operation, "DELETE")

    def absent(self, method: str, path: str) -> None:
        """Say that an official operation is not here, where its path would be taken for that of another."""
        name = "_".join(["absent", method.lower(), *(part.strip("{}") for part in path.split("/") if part)])
        self.operation(method, path, _absent, fidelity=Fidelity.ABSENT, name=name)

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


def _absent(call: "Call") -> None:
    raise errors.NOT_HERE(method=call.method, path=call.path)


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
        found += [value for value in vars(routes).values() if isinstance(value, Service) and not value.below]
    return [*found, dashboard.api]
