"""What a real engine leaves behind is found and deleted, and nothing else; the guide's commands do what it says."""

import io
import json
import re
import secrets
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.orphans import plant, trial
from components import cli
from components.check.pulumi_project import read_settings
from components.commands.exits import Exit
from components.orphans import account_client, find, read_backend, read_inventory, read_project
from emulator.settings import Account
from emulator.testing import running
from testbed.account import EmulatedAccount
from testbed.interrupted import ZONE, Stacks, stored
from tools.local import engine
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load
GUIDE = (ROOT / "docs" / "orphans.md").read_text()
COMMANDS = re.findall(r"^\$ sandbox-stack (.+)$", GUIDE, re.MULTILINE)


class Terminal(io.StringIO):
    """A person who types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def stacks(tools_provided: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stacks]:
    with running(tmp_path / "cloud", accounts=(Account(zones=(ZONE,)),)) as emulator:
        cloud = EmulatedAccount(emulator)
        made = Stacks(tmp_path / "crates", engine.isolated(tools_provided, tmp_path / "engine", extra=cloud.env), cloud)
        for name, value in made.pulumi.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(made.folder)
        yield made
        cloud.http.close()


@pytest.mark.long
def test_the_guide(stacks: Stacks, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(command: str, typed: str | None = None) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO() if typed is None else Terminal(typed))
        code = cli.main(shlex.split(command))
        return code, *capsys.readouterr()

    others = plant(stacks.cloud)
    listing, gone, asking, by_id, by_list, as_json = COMMANDS

    code, _, said = run(listing)
    assert code == Exit.REFUSED
    assert "has no stack of crates" in said

    stacks.project.succeed("stack", "init", "dev")
    stacks.write("dev", "first")
    stacks.project.up("--stack", "dev")
    code, shown, said = run(listing)
    assert (code, shown, said.count("give it with --gone.\n")) == (Exit.DONE, "nothing is left behind\n", 1)
    lock = stacks.folder.parent / "engine" / "state" / ".pulumi" / "locks" / "organization" / "crates" / "dev"
    stacks.write("dev", "second")  # pushes an image that nothing runs
    pushed = next(line for line in run(listing)[1].splitlines() if line.startswith("image:"))
    lock.mkdir(parents=True, exist_ok=True)
    (lock / "run.json").write_text("{}")
    code, _, said = run(f"orphans --delete --yes {pushed}")
    assert code == Exit.NO
    assert "an update of crates/dev is under way" in said
    (lock / "run.json").unlink()
    code, said, _ = run(f"orphans --delete --yes {pushed} --format json")
    assert (code, json.loads(said)["deleted"]) == (Exit.DONE, [pushed])

    stacks.project.succeed("stack", "init", "live")
    stacks.project.succeed("stack", "rm", "dev", "--force", "--yes", "--preserve-config")
    ours = stored(stacks.cloud).keys() - others.keys()
    code, said, _ = run(listing)
    assert code == Exit.NO
    assert {line for line in said.splitlines() if re.match(r"[a-z-]+:", line)} == ours
    assert "its stack crates/dev is not in the backend; if it is gone, say so by --gone dev" in said

    assert "its stack crates/dev is gone" in run(gone)[1]
    assert "10 instances under full load, a month" in run(gone)[1]
    code, _, said = run(asking)
    assert code == Exit.REFUSED
    assert "nobody is here to be asked" in said
    code, _, said = run(asking, "y\n" + "n\n" * 30)
    assert code == Exit.NO
    assert len(stored(stacks.cloud).keys() - others.keys()) == len(ours) - 1
    assert run(by_id)[0] == Exit.DONE
    assert "bucket:crates-dev-artifacts" not in stored(stacks.cloud)
    stacks.cloud.control(
        "PUT", f"/r2/{stacks.cloud.account}/crates-dev-files/objects/kept.txt", content=secrets.token_bytes(8)
    )
    (stacks.folder / "ids.txt").write_text("\n".join(sorted(ours | {"bucket:other-dev-files"})))
    code, _, said = run(by_list)
    assert code == Exit.NO
    assert "it holds objects; give them up with --with-data" in said
    assert [each["id"] for each in json.loads(run(as_json)[1])["found"]] == ["bucket:crates-dev-files"]
    assert run(f"{by_list} --with-data")[0] == Exit.DONE
    assert stored(stacks.cloud) == others
    assert from_python(stacks) == []


def from_python(stacks: Stacks) -> list[Any]:
    backend = read_backend([read_project(stacks.folder, read_settings(stacks.folder), gone=["dev"])])
    client, account_id = account_client()
    inventory = read_inventory(client, account_id)
    return find(inventory, backend.known(inventory))


@pytest.mark.long
def test_runs_that_are_killed_leave_just_what_is_found(tools_provided: Toolchain, tmp_path: Path):
    """The short form of `make orphans`."""
    seed = secrets.randbelow(2**32)
    made = trial(tools_provided, tmp_path, seed, 2, short=True)
    assert made.faults == [], f"seed {seed}"
    assert made.counts["comparisons"] > 0
