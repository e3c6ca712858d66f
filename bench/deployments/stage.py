"""The emulated account that both sides deploy to: the same process, the same images, the same latency.

Rollouts and deletions of applications take no time there: pulumi waits for them and wrangler does not, so the wait is
taken out for both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulator.testing import Running, running
from testbed.cloud import WRITES, Cloud
from tools.local import bases
from tools.local.emulator import Emulated

_REPOSITORY = "cloudflare/sandbox"
_NO_WAIT = {"deletion": 0, "step": 0, "preparation": 0}


@dataclass(frozen=True)
class Calls:
    """How often the API was asked."""

    reads: int
    writes: int


class Stage:
    """The account."""

    def __init__(self, served: Running) -> None:
        self.served = served
        self.cloud = Cloud(served)
        self.images: tuple[str, str] = ("", "")
        """Two images by reference: that of the first deployment and the one it is changed to."""

    def clear(self, latency_ms: int) -> None:
        """Bring the account back to its first state."""
        self.served.reset()
        cloudflare = Emulated(self.served.url, self.served.account_id, self.served.token)
        first = bases.seed_empty(cloudflare)
        body = {"repository": _REPOSITORY, "tags": ["changed"], "labels": {"bench": "changed"}}
        made = self.cloud.control("POST", "/registry/images", json=body)
        self.images = (first, f"docker.io/{_REPOSITORY}@{made['digest']}")
        self.cloud.control("PUT", "/containers/durations", json=_NO_WAIT)
        self.cloud.control("PUT", "/latency", json={"ms": latency_ms})
        self.cloud.clear_journal()

    def applications(self) -> dict[str, str]:
        """Return the ids of container applications by name."""
        return {each["name"]: each["id"] for each in self.cloud.api("GET", "/containers/applications")}

    def journal(self) -> list[dict[str, Any]]:
        """Return what was asked of the API since it was last forgotten, in the order of the answers."""
        return [each for each in self.cloud.journal() if "/_emulator/" not in each["path"]]


def count(journal: list[dict[str, Any]]) -> Calls:
    """Count reads and writes."""
    writes = sum(each["method"] in WRITES for each in journal)
    return Calls(len(journal) - writes, writes)


@contextmanager
def served(folder: Path) -> Iterator[Stage]:
    """Serve the account while the block runs."""
    with running(folder) as emulator:
        stage = Stage(emulator)
        try:
            yield stage
        finally:
            stage.cloud.http.close()
