"""`make up` and `make down` as a newcomer runs them, in a checkout of their own."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import httpx
import pytest
import yaml

from tests.checkout import Checkout
from tools.paths import ROOT

pytestmark = pytest.mark.engine


def test_up_twice_then_down_twice(checkout: Checkout):
    first = checkout.succeed("up")
    assert "+ 26 created" in first
    assert "  worker_name             sandbox-local\n" in first
    assert "  bucket_names.files      sandbox-local-files\n" in first
    assert re.search(r"  images.main +127\.0\.0\.1:\d+/[0-9a-f]{32}/sandbox-local-main@sha256:[0-9a-f]{64}\n", first)
    assert "  make down " in first
    key = (checkout.local / "api-key").read_text().strip()
    assert stat.S_IMODE((checkout.local / "api-key").stat().st_mode) == 0o600
    assert "26 unchanged" in checkout.succeed("up")
    assert (checkout.local / "api-key").read_text().strip() == key
    written = first + "".join(path.read_text() for path in checkout.local.rglob("*.*ml"))
    assert key not in written
    account = checkout.emulator("/client/v4/accounts")[0]["id"]
    for written_by_the_worker in ("a", "b%2Fc"):
        path = f"/_emulator/r2/{account}/sandbox-local-files/objects/{written_by_the_worker}"
        checkout.emulator(path, method="PUT")
    last = checkout.succeed("down")
    assert "Deleted 2 objects in the bucket sandbox-local-files.\n" in last
    assert "- 26 deleted" in last
    assert checkout.succeed("down") == "Nothing to take down: the local stack is not up.\n"


def test_up_ends_with_a_smoke_test_whose_lines_work_as_pasted(checkout: Checkout):
    done = checkout.make("up")
    assert done.returncode == 0, done.stdout + done.stderr
    command, _, table = done.stdout.partition("Does it answer? (")[2].partition(")\n")
    results = {line.split("  ")[0]: line.split("  ")[1:] for line in table.splitlines() if "  " in line}
    assert results["health"][-1] == "/health answers without a key"
    assert re.search(r"^25 passed, 0 failed, 0 not run$", table, re.MULTILINE), table
    (api_url,) = re.findall(r"^  api_url +(\S+)$", done.stdout, re.MULTILINE)
    assert checkout.by_hand("pulumi stack output api_url").strip() == api_url
    assert command.split(" smoke ")[1].startswith(f"{api_url} ")
    readme = (ROOT / "README.md").read_text().partition("$ make up\n")[2].partition("```")[0]
    named = re.compile(r"^  ([a-z_]+(?:\.\w+)?)(?=  |$)", re.MULTILINE)
    assert named.findall(readme) == named.findall(done.stdout.partition(" is up:\n")[2].partition("\n\n")[0])
    pasted = [line.strip() for line in table.partition("Try it:\n")[2].splitlines() if line.strip()]
    answers = [
        subprocess.run(["sh", "-c", line], cwd=checkout.folder, capture_output=True, text=True, check=True).stdout
        for line in pasted
    ]
    assert answers[0] == '{"status":"ok"}'
    assert json.loads(answers[1])["openapi"] == "3.1.0"
    assert answers[2].startswith("HTTP/1.1 401 Unauthorized\n")
    again = subprocess.run(["sh", "-c", command], cwd=checkout.folder, capture_output=True, text=True, check=False)
    assert (again.returncode, "25 passed, 0 failed, 0 not run" in again.stdout) == (0, True), again.stderr
    script = checkout.emulator("/_emulator/runtime")["scripts"][0]
    assert (script["state"], Path(f"/proc/{script['pid']}").exists()) == ("running", True)
    checkout.succeed("down")
    assert not Path(f"/proc/{script['pid']}").exists(), "workerd has outlived the stack"


def test_without_a_builder_a_ready_image_is_deployed(checkout: Checkout):
    record = checkout.local / "toolchain.json"
    tools = json.loads(record.read_text())
    tools["parts"]["buildkit"] = None
    record.write_text(json.dumps(tools))
    shown = checkout.succeed("up")
    assert "No image is built here (BuildKit needs Linux): the base image itself is deployed.\n" in shown
    assert re.search(r"  images.main +docker\.io/cloudflare/sandbox@sha256:[0-9a-f]{64}\n", shown)
    assert "23 unchanged" in checkout.succeed("up")


def test_the_committed_stack_file_is_never_written(plain: Checkout):
    plain.succeed("up")
    assert (plain.folder / "Pulumi.local.yaml").read_text() == (ROOT / "Pulumi.local.yaml").read_text()


def test_the_stack_can_be_worked_on_by_hand_and_what_was_added_stays(checkout: Checkout):
    checkout.succeed("up")
    assert "26 unchanged" in checkout.by_hand("pulumi preview --non-interactive")
    assert json.loads(checkout.by_hand("pulumi stack output --json"))["worker_name"] == "sandbox-local"
    checkout.by_hand("pulumi config set --secret apiKey s3cret")
    checkout.succeed("up")
    assert checkout.by_hand("pulumi config get apiKey").strip() == "s3cret"
    written = "".join(path.read_text() for path in (checkout.local).rglob("*.y*ml"))
    assert "s3cret" not in written


def assert_ends_soon(folder: Path) -> None:
    """Wait for everything that runs in the folder, apart from the emulator, to end by itself."""
    deadline = time.monotonic() + 60
    while left := [
        line
        for path in Path("/proc").glob("[0-9]*/cwd")
        if path.is_symlink() and _points_to(path, folder) and b"emulator" not in (line := _command_line(path.parent))
    ]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def _points_to(link: Path, folder: Path) -> bool:
    try:
        return link.readlink().is_relative_to(folder)
    except OSError:
        return False


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b"emulator, or gone"


def test_a_run_that_was_killed_is_mended_by_the_next(plain: Checkout):
    main = plain.folder / "__main__.py"
    program = main.read_text()
    started = plain.folder / "started"
    main.write_text(f"import pathlib, time\npathlib.Path({str(started)!r}).touch()\ntime.sleep(60)\n")
    process = subprocess.Popen(
        ["make", "up"],
        cwd=plain.folder,
        env=plain.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 90
    while not started.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (lock,) = (plain.local / "state" / ".pulumi" / "locks").rglob("*.json")
    os.killpg(process.pid, signal.SIGKILL)
    os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
    process.wait()
    assert_ends_soon(plain.folder)
    assert lock.exists(), "the engine's lock was left"

    main.write_text(program)
    assert "+ 2 created" in plain.succeed("up")


def test_the_emulator_keeps_its_account_and_comes_back_when_killed(plain: Checkout):
    assert "  emulator     http://127.0.0.1:" in plain.succeed("up")
    account = plain.emulator("/client/v4/accounts")[0]["id"]
    plain.emulator(f"/client/v4/accounts/{account}/r2/buckets", {"name": "left-behind"})
    os.kill(json.loads((plain.local / "emulator.json").read_text())["pid"], signal.SIGKILL)
    plain.succeed("up")
    assert plain.emulator(f"/client/v4/accounts/{account}/r2/buckets")["buckets"][0]["name"] == "left-behind"
    down = plain.succeed("down")
    assert "The emulated account still holds 1 r2_bucket; it is kept in .local/emulator.\n" in down
    assert plain.succeed("down") == (
        "The emulated account in .local/emulator is kept: no emulator runs that could say whether it is empty.\n"
        "Nothing to take down: the local stack is not up.\n"
    )
    plain.succeed("up")
    assert plain.emulator(f"/client/v4/accounts/{account}/r2/buckets")["buckets"][0]["name"] == "left-behind"


def test_down_stops_the_emulator_and_forgets_an_empty_account(plain: Checkout):
    plain.succeed("up")
    address = json.loads((plain.local / "emulator.json").read_text())["base_url"]
    plain.succeed("down")
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)
    assert not (plain.local / "emulator").exists()


def test_a_port_in_use_is_one_clear_sentence(plain: Checkout):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = plain.make("up", f"EMULATOR_PORT={port}")
    assert done.returncode != 0
    assert (
        f"error: cannot start the emulator: Port {port} on 127.0.0.1 is in use; choose another with --port. "
        "Choose one as in `make up EMULATOR_PORT=8788`\n"
    ) in done.stderr


SHOWS_ITS_WORLD = """
import os, pulumi
mine = ("PULUMI_", "CLOUDFLARE_", "CF_", "DOCKER_")
pulumi.export("seen", {key: value for key, value in os.environ.items() if key.startswith(mine)})
"""


def test_nothing_of_the_users_own_settings_reaches_the_stack(checkout: Checkout):
    (checkout.folder / "__main__.py").write_text(SHOWS_ITS_WORLD)
    checkout.succeed("up")
    strangers = {"PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE", "DOCKER_HOST", "CLOUDFLARE_API_KEY"}
    assert strangers <= checkout.env.keys()
    for by_hand in ("true", "pulumi up --yes --skip-preview --non-interactive"):
        checkout.by_hand(by_hand)
        seen = json.loads(checkout.by_hand("pulumi stack output --json"))["seen"]
        assert not strangers & seen.keys()
        assert seen["CLOUDFLARE_BASE_URL"].startswith("http://127.0.0.1:")
        assert seen["CLOUDFLARE_API_TOKEN"] != checkout.env["CLOUDFLARE_API_TOKEN"]
        assert seen["DOCKER_CONFIG"].startswith(str(checkout.folder))


def test_a_setting_removed_from_the_stack_file_is_removed_from_the_stack(plain: Checkout):
    assert "  environment  throw-away\n" in plain.succeed("up")
    (plain.folder / "Pulumi.local.yaml").write_text("config: {}\n")
    assert "  environment  " not in plain.succeed("up")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("config: {a: [", "error: cannot read Pulumi.local.yaml: while parsing a flow"),
        ("- a list", "error: cannot read Pulumi.local.yaml: it is not a list of settings. Begin it with `config:`"),
    ],
)
def test_an_unreadable_stack_file_is_one_clear_sentence(plain: Checkout, text: str, sentence: str):
    (plain.folder / "Pulumi.local.yaml").write_text(text)
    done = plain.make("up")
    assert done.returncode != 0
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_by_hand_is_not_disturbed(plain: Checkout):
    plain.succeed("up")
    locks = plain.local / "state" / ".pulumi" / "locks" / "organization" / "sandbox-stack" / "local"
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "another.json").write_text(json.dumps({"pid": os.getpid()}))
    done = plain.make("up")
    assert done.returncode != 0
    assert f"error: the local stack is in use: process {os.getpid()} is working on it. Wait until" in done.stderr
    assert (locks / "another.json").exists()
    (locks / "another.json").unlink()


def test_clean_refuses_while_the_stack_is_up(plain: Checkout):
    plain.succeed("up")
    done = plain.make("clean")
    assert done.returncode != 0
    assert done.stderr.startswith("error: nothing was removed: the local stack is still up. Run `make down` first\n")
    plain.succeed("down")
    plain.succeed("clean")
    assert not (plain.local).exists()
    assert not (plain.folder / ".venv").is_symlink()
    assert (ROOT / ".venv").is_dir()


OTHER_PROJECT = "name: other\nruntime: {name: python, options: {virtualenv: .venv}}\n"


def test_another_project_lives_on_the_same_emulator_and_is_not_forgotten(plain: Checkout, tmp_path: Path):
    plain.succeed("up")
    other = tmp_path / "other"
    other.mkdir()
    (other / "Pulumi.yaml").write_text(OTHER_PROJECT)
    (other / "__main__.py").write_text(SHOWS_ITS_WORLD)
    (other / ".venv").symlink_to(ROOT / ".venv")
    plain.by_hand(f"cd {other} && pulumi stack init dev --non-interactive && pulumi up --yes --skip-preview")
    seen = json.loads(plain.by_hand(f"cd {other} && pulumi stack output --json"))["seen"]
    assert seen["CLOUDFLARE_BASE_URL"].startswith("http://127.0.0.1:")
    assert "PULUMI_STACK" not in seen
    assert "PULUMI_OPTION_CONFIG_FILE" not in seen
    assert "2 unchanged" in plain.by_hand("pulumi preview --non-interactive")
    down = plain.succeed("down")
    assert "The emulator goes on for other/dev, with its state in .local/state.\n" in down
    done = plain.make("clean")
    assert done.stderr.startswith(
        "error: nothing was removed: the state of other/dev is in .local/state. In its project run `pulumi destroy "
        "--remove`, with the settings that `make env` prints here\n"
    )
    assert "Nothing to take down" in plain.succeed("down")
    plain.by_hand(f"cd {other} && pulumi destroy --yes --skip-preview --remove --non-interactive")
    plain.succeed("clean")


def test_what_was_built_goes_with_the_stack(plain: Checkout):
    plain.succeed("up")
    (plain.folder / ".sandbox-build" / "worker").mkdir(parents=True, exist_ok=True)
    plain.succeed("down")
    assert not (plain.folder / ".sandbox-build").exists()


def test_a_cancelled_run_ends_in_an_orderly_way(plain: Checkout):
    """What a pipeline does when it is cancelled: SIGTERM to the one process it knows."""
    main = plain.folder / "__main__.py"
    program = main.read_text()
    started = plain.folder / "started"
    main.write_text(f"import pathlib, time\npathlib.Path({str(started)!r}).touch()\ntime.sleep(60)\n")
    argv = [str(plain.folder / ".venv/bin/python"), "-m", "tools", "up"]
    process = subprocess.Popen(
        argv, cwd=plain.folder, env=plain.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 90
    while not started.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.terminate()
    assert process.wait(timeout=20) != 0
    assert_ends_soon(plain.folder)
    assert not list((plain.local / "state" / ".pulumi" / "locks").rglob("*.json"))
    main.write_text(program)
    assert "+ 2 created" in plain.succeed("up")


def test_a_failed_deployment_says_so_and_exits_non_zero(checkout: Checkout):
    settings = checkout.folder / "Pulumi.local.yaml"
    settings.write_text(yaml.safe_dump({"config": {"sandbox-stack:settings": {"name": "NOT VALID"}}}))
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
