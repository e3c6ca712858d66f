"""Where the time of one `pulumi up` goes: the engine's trace, the emulator's journal and the processes, as bars.

Nothing in the product takes part in this: all of it is seen from outside. Bars may overlap, as what they show does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.deployments.spans import Span

Period = tuple[float, float]

_MONITOR = "pulumirpc.ResourceMonitor/"
_HOST = "pulumirpc.LanguageRuntime/"
STARTS_ENGINE = "engine starts"
HOST = "language host starts"
ABOUT = "engine asks the host about Python"
PYTHON = "Python and the import of pulumi"
PROGRAM = "other imports, settings, bundle looked up"
BUNDLING = "bundling (esbuild)"
BRIDGED = "bridged plugin starts"
OURS = "our plugin starts"
REGISTERS = "resources are registered"
CALLS = "calls of the API"
ENDS_PROGRAM = "program ends"
ENDS_ENGINE = "engine ends"
NAMES = (
    *(STARTS_ENGINE, HOST, ABOUT, PYTHON, PROGRAM, BUNDLING),
    *(BRIDGED, OURS, REGISTERS, CALLS, ENDS_PROGRAM, ENDS_ENGINE),
)


@dataclass(frozen=True)
class Bar:
    """One line of the picture: a phase and when it went on, in seconds from the start of the run."""

    name: str
    periods: list[Period]

    @property
    def seconds(self) -> float:
        """Seconds in which at least one of its periods went on."""
        total, until = 0.0, float("-inf")
        for start, end in sorted(self.periods):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total


def bars(
    spans: Sequence[Span], journal: Sequence[dict[str, Any]], bundling: Sequence[Period], began: float, ended: float
) -> list[Bar]:
    """Make the bars of one run; all times are times of the day."""
    hosts = _plugins(spans, "language")
    program = _first(spans, f"{_HOST}Run")
    connected = _first(spans, f"{_MONITOR}GetDeploymentInfo").start
    asked = _first_request(spans)
    last = max(span.end for span in spans if span.name.startswith(f"{_MONITOR}RegisterResource"))
    found = {
        STARTS_ENGINE: [(began, hosts[0][0])],
        HOST: hosts,
        ABOUT: [(span.start, span.end) for span in spans if span.name == f"{_HOST}About"],
        PYTHON: [(program.start, connected)],
        PROGRAM: [(connected, asked)],
        BUNDLING: list(bundling),
        BRIDGED: _plugins(spans, "resource", "cloudflare (resource)"),
        OURS: _plugins(spans, "resource", "cloudflare-sandbox (resource)"),
        REGISTERS: [(asked, last)],
        CALLS: [(each["time"] - each["ms"] / 1000, each["time"]) for each in journal],
        ENDS_PROGRAM: [(last, program.end)],
        ENDS_ENGINE: [(program.end, ended)],
    }
    return [
        Bar(name, [(round(start - began, 3), round(end - began, 3)) for start, end in periods])
        for name, periods in found.items()
        if periods
    ]


def program_start(spans: Sequence[Span]) -> float:
    """Return the seconds from the start of the program to the first resource that it registers."""
    return _first_request(spans) - _first(spans, f"{_HOST}Run").start


def plugin_start(spans: Sequence[Span], name: str) -> float | None:
    """Return the seconds until a plugin serves; None when the run did not need it."""
    found = _plugins(spans, "resource", f"{name} (resource)")
    return found[0][1] - found[0][0] if found else None


def document(made: Sequence[Bar]) -> list[dict[str, Any]]:
    """Return bars as JSON has them."""
    return [asdict(bar) for bar in made]


def from_document(listed: Sequence[dict[str, Any]]) -> list[Bar]:
    """Read what `document` gave."""
    return [Bar(each["name"], [(start, end) for start, end in each["periods"]]) for each in listed]


def _plugins(spans: Sequence[Span], kind: str, prefix: str | None = None) -> list[Period]:
    return [
        (span.start, span.end)
        for span in spans
        if span.name == "newPlugin"
        and span.labels.get("kind") == kind
        and (prefix is None or span.labels.get("prefix") == prefix)
    ]


def _first(spans: Sequence[Span], name: str) -> Span:
    return next(span for span in spans if span.name == name)


def _first_request(spans: Sequence[Span]) -> float:
    return _first(spans, f"{_MONITOR}RegisterResource").start
