"""Uploaded code, tried in workerd before it is accepted.

Cloudflare starts a script once before it takes it, and refuses one that does not parse, imports what is not there or
asks for compatibility flags that do not exist. So does this, where the runtime is there to be asked. The trial has no
bindings: what the code itself throws while it starts may come from that and is no reason to refuse it.
"""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from emulator.store import Document

from . import process
from .assemble import trial_configuration
from .packages import MissingError
from .process import Order, SlowStartError, StartError

_REMEMBERED = 256
_SOCKET = "trial"
_REFUSED = ("SyntaxError:", "No such module", "No such compatibility flag", "mutually contradictory")


class Trials:
    """What became of the code that was tried, by what it is made of."""

    def __init__(self, program: Callable[[], Path], blobs: Path, log: Path) -> None:
        self._program = program
        self._blobs = blobs
        self._log = log
        self._verdicts: OrderedDict[str, str] = OrderedDict()

    def are_possible(self) -> bool:
        """Whether the runtime is there; an upload does not wait until it is fetched."""
        try:
            self._program()
        except MissingError:
            return False
        return True

    def verdict(self, key: str) -> str | None:
        """Why the code is refused, empty if it is not; None when it was not tried yet."""
        return self._verdicts.get(key)

    async def run(self, key: str, code: Document) -> None:
        """Start the code, and remember what the runtime said of it."""
        order = Order(self._program(), trial_configuration(_SOCKET, code), frozenset({_SOCKET}), self._blobs, self._log)
        try:
            started = await process.start(order)
        except SlowStartError:
            problem = ""  # a busy machine says nothing about the code
        except StartError as error:
            problem = _problem(str(error))
        else:
            await started.stop()
            problem = ""
        self._verdicts[key] = problem
        while len(self._verdicts) > _REMEMBERED:
            self._verdicts.popitem(last=False)


def _problem(said: str) -> str:
    """What of the runtime's words is the code's fault for certain."""
    lines = [line.removeprefix(f"service {_SOCKET}: ") for line in said.splitlines()]
    return "\n".join(lines) if any(reason in said for reason in _REFUSED) else ""
