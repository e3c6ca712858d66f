"""What was found is judged anew right before it is deleted: by the account and by the backend as they are then."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from components.account.inventory import read_inventory
from components.account.items import Kind
from components.orphans.backend import Backend, Project
from components.orphans.cleaning import Cleaning
from components.orphans.findings import find
from components.orphans.stacks import Stack, usual
from components.provider.api_client import Client, WaitTimes
from emulator.testing import running
from testbed.account import EmulatedAccount

BUCKET = "crates-dev-files"
KINDS = (Kind.SCRIPT, Kind.NAMESPACE, Kind.APPLICATION, Kind.BUCKET, Kind.TOKEN)
DEV = Stack("crates", "dev", makes=usual("crates", "dev"))


@dataclass(frozen=True)
class Changing(Backend):
    """A backend that has other stacks when it is asked again."""

    later: tuple[Stack, ...] = ()

    def again(self, *_: str) -> Backend:
        return replace(self, stacks=self.later)


@pytest.fixture
def account(tmp_path: Path) -> Iterator[EmulatedAccount]:
    with running(tmp_path / "cloud") as emulator:
        made = EmulatedAccount(emulator)
        made.api("POST", "/r2/buckets", json={"name": BUCKET})
        yield made
        made.http.close()


@pytest.mark.parametrize(
    ("later", "why"),
    [
        ((DEV,), ""),
        ((), "it was judged otherwise by now: its stack crates/dev is not in the backend; if it is gone, say so by"),
        ((replace(DEV, holds=usual("crates", "dev")),), "it is needed by now"),
    ],
)
def test_the_judgement_of_the_last_moment_counts(
    later: tuple[Stack, ...], why: str, account: EmulatedAccount, tmp_path: Path
) -> None:
    client = Client(account.token, account.url, WaitTimes(poll=0.05))
    inventory = read_inventory(client, account.account, KINDS)
    backend = Changing([Project(tmp_path, "crates", {}, filed=frozenset({"dev"}))], (DEV,), later=later)
    (finding,) = find(inventory, backend.known(inventory))
    assert finding.deletable
    (outcome,) = Cleaning(client, inventory, backend).delete([finding])
    assert outcome.deleted == (not why)
    assert outcome.why.startswith(why)
    left = [each["name"] for each in account.api("GET", "/r2/buckets")["buckets"]]
    assert left == ([BUCKET] if why else [])
