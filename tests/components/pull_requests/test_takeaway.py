"""A stack that is made anew between the judgement and the deletion keeps all it has; a lease is what tells."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.naming import physical_name
from components.provider.api_client import Client, WaitTimes
from components.pull_requests.lease import Lease
from components.pull_requests.takeaway import Doomed, Tools, take_away
from emulator.testing import running
from testbed.account import EmulatedAccount

JUDGED = Lease(datetime(2026, 1, 1, tzinfo=UTC), "box")
RENEWED = replace(JUDGED, expires=JUDGED.expires + timedelta(days=7))
BUCKET = physical_name("box", "pr-1", "files")


@dataclass
class Requested:
    """A request's stack whose lease changes at one moment; what was done to it."""

    folder: Path
    leases: list[Lease]
    name: str = "pr-1"
    done: list[str] = field(default_factory=list)

    @property
    def pulumi(self) -> Any:
        return SimpleNamespace(folder=self.folder)

    def lease(self) -> Lease:
        return self.leases.pop(0) if len(self.leases) > 1 else self.leases[0]

    def destroy(self, *, refresh: bool = False) -> None:
        self.done.append(f"destroy{' with refresh' if refresh else ''}")

    def forget(self) -> None:
        self.done.append("forget")


@pytest.fixture
def account(tmp_path: Path) -> Iterator[EmulatedAccount]:
    with running(tmp_path / "cloud") as emulator:
        raw = EmulatedAccount(emulator)
        raw.api("POST", "/r2/buckets", json={"name": BUCKET})
        yield raw
        raw.http.close()


@pytest.mark.parametrize(
    ("leases", "done", "problem"),
    [
        ([RENEWED], [], "pr-1: was made anew meanwhile; the next sweep judges it again"),
        ([JUDGED, RENEWED], ["destroy"], "pr-1: was made anew meanwhile; the next sweep judges it again"),
        ([JUDGED], ["destroy", "forget"], ""),
    ],
)
def test_a_lease_that_was_renewed_keeps_the_stack(
    leases: list[Lease], done: list[str], problem: str, account: EmulatedAccount, tmp_path: Path
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: crates\n")
    stack: Any = Requested(tmp_path, leases)
    tools = Tools(Client(account.token, account.url, WaitTimes(poll=0.05)), account.account)
    doomed = Doomed(stack, JUDGED)
    assert take_away([doomed], tools) == []
    assert (stack.done, doomed.problem, doomed.locked) == (done, problem, bool(problem))
    left = [each["name"] for each in account.api("GET", "/r2/buckets")["buckets"]]
    assert left == ([BUCKET] if problem else [])
