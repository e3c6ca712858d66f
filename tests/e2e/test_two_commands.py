"""`make up` and `make down` as a newcomer runs them, in a checkout of their own."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest
import yaml

from tests.checkout import Checkout

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.engine


def test_up_twice_then_down_twice(checkout: Checkout):
    first = checkout.succeed("up")
    assert "+ 2 created" in first
    assert "  worker_name             sandbox-local\n" in first
    assert "  bucket_names.files      sandbox-local-files\n" in first
    assert "  make down " in first
    assert "2 unchanged" in checkout.succeed("up")
    assert "- 2 deleted" in checkout.succeed("down")
    assert checkout.succeed("down") == "Nothing to take down: the local stack is not up.\n"
    assert "+ 2 created" in checkout.succeed("up")


def test_the_committed_stack_file_is_never_written(checkout: Checkout):
    checkout.succeed("up")
    assert (checkout.folder / "Pulumi.local.yaml").read_text() == (ROOT / "Pulumi.local.yaml").read_text()


def test_the_stack_can_be_worked_on_by_hand_and_what_was_added_stays(checkout: Checkout):
    checkout.succeed("up")
    assert "2 unchanged" in checkout.by_hand("pulumi preview --non-interactive")
    assert json.loads(checkout.by_hand("pulumi stack output --json"))["worker_name"] == "sandbox-local"
    checkout.by_hand("pulumi config set --secret apiKey s3cret")
    checkout.succeed("up")
    assert checkout.by_hand("pulumi config get apiKey").strip() == "s3cret"
    written = "".join(path.read_text() for path in (checkout.folder / ".local").rglob("*.y*ml"))
    assert "s3cret" not in written


def test_a_run_that_was_killed_is_mended_by_the_next(checkout: Checkout):
    main = checkout.folder / "__main__.py"
    program = main.read_text()
    started = checkout.folder / "started"
    main.write_text(f"import pathlib, time\npathlib.Path({str(started)!r}).touch()\ntime.sleep(60)\n")
    process = subprocess.Popen(
        ["make", "up"],
        cwd=checkout.folder,
        env=checkout.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not started.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert list((checkout.folder / ".local" / "state" / ".pulumi" / "locks").rglob("*.json")), "the lock was left"

    main.write_text(program)
    assert "+ 2 created" in checkout.succeed("up")


def test_the_emulator_keeps_its_account_and_comes_back_when_killed(checkout: Checkout):
    assert "  emulator                http://127.0.0.1:" in checkout.succeed("up")
    account = checkout.emulator("/client/v4/accounts")[0]["id"]
    checkout.emulator(f"/client/v4/accounts/{account}/r2/buckets", {"name": "left-behind"})
    os.kill(json.loads((checkout.folder / ".local" / "emulator.json").read_text())["pid"], signal.SIGKILL)
    checkout.succeed("up")
    assert checkout.emulator(f"/client/v4/accounts/{account}/r2/buckets")["buckets"][0]["name"] == "left-behind"
    down = checkout.succeed("down")
    assert "The emulated account still holds 1 r2_bucket; it is kept in .local/emulator.\n" in down


def test_down_stops_the_emulator_and_forgets_an_empty_account(checkout: Checkout):
    checkout.succeed("up")
    address = json.loads((checkout.folder / ".local" / "emulator.json").read_text())["base_url"]
    checkout.succeed("down")
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)
    assert not (checkout.folder / ".local" / "emulator").exists()


def test_a_port_in_use_is_one_clear_sentence(checkout: Checkout):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = checkout.make("up", f"EMULATOR_PORT={port}")
    assert done.returncode != 0
    assert (
        f"error: cannot start the emulator: Port {port} on 127.0.0.1 is in use; choose another with --port. "
        "Try `make up EMULATOR_PORT=8788`\n"
    ) in done.stderr


def test_a_failed_deployment_says_so_and_exits_non_zero(checkout: Checkout):
    settings = checkout.folder / "Pulumi.local.yaml"
    settings.write_text(yaml.safe_dump({"config": {"cloudflare-sandbox:sandbox": {"name": "NOT VALID"}}}))
    done = checkout.make("up")
    assert done.returncode != 0
    assert "name: use 1 to 32 lower-case letters" in done.stdout
    assert "error: the local stack was not deployed: the engine's reason is above." in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_help_lists_every_target(checkout: Checkout):
    text = checkout.succeed("help")
    targets = [
        line.split(":")[0]
        for line in (ROOT / "Makefile").read_text().splitlines()
        if ":.*" not in line and "## " in line
    ]
    assert {"up", "down", "test", "lint"} <= set(targets)
    assert all(f"make {target} " in text for target in targets)
