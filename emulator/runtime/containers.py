"""The Docker engine, which gives Durable Objects their containers.

Without one, classes run without containers, and the SDK's own error says that they have none; everything else works.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

_DEFAULT = "unix:///var/run/docker.sock"
NO_ENGINE = (
    "Sandboxes cannot start: no Docker engine listens on {address}. Start one, or name its socket in DOCKER_HOST, "
    "and restart the emulator; everything else works without."
)


@dataclass(frozen=True)
class Engine:
    """Where the engine listens (empty: there is none), and the image of each namespace by its id."""

    socket: str = ""
    reason: str = ""
    images: dict[str, str] = field(default_factory=dict)

    def configuration(self) -> dict[str, str]:
        """As workerd wants it."""
        return {"socketPath": f"unix:{self.socket}"}


def find_engine(environment: dict[str, str] | None = None) -> Engine:
    """The engine of this machine."""
    address = (os.environ if environment is None else environment).get("DOCKER_HOST") or _DEFAULT
    path = Path(address.removeprefix("unix://"))
    try:
        there = address.startswith("unix://") and stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        there = False
    return Engine(socket=str(path)) if there else Engine(reason=NO_ENGINE.format(address=address))
