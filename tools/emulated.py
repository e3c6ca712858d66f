"""The Cloudflare of a local stack: an emulator on loopback, started by `up` and stopped by the last `down`.

State and token are in its world's folder; the process is found again by the record written when it was started. An
emulator that died comes back with the same account.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from tools.errors import SetupError
from tools.paths import ROOT, cache_root, venv_python, write_whole
from tools.toolchain import Toolchain
from tools.world import World

_DEFAULT_PORT: Final = "8787"
_STOP_SECONDS: Final = 10


@dataclass(frozen=True)
class Emulated:
    """Where the emulated account answers, and how to be let in."""

    base_url: str
    account_id: str
    token: str

    @property
    def origin(self) -> str:
        """Give scheme, host and port, without the path of the API."""
        return self.base_url.removesuffix("/client/v4")

    @property
    def port(self) -> int:
        """Give the port that serves everything."""
        return urlsplit(self.base_url).port or 0

    @property
    def dashboard(self) -> str:
        """Give where the account is shown as a page."""
        return f"{self.origin}/dashboard"

    @property
    def env(self) -> dict[str, str]:
        """Give the variables that Cloudflare's own clients read."""
        return {
            "CLOUDFLARE_ACCOUNT_ID": self.account_id,
            "CLOUDFLARE_API_TOKEN": self.token,
            "CLOUDFLARE_BASE_URL": self.base_url,
        }

    def control(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask something of the emulator itself, or tell it what to do; what it answers."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.origin}/_emulator{path}", data=data, headers=headers
        )
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - as above
            return json.load(answer)["result"]

    def empty(self, bucket: str, jurisdiction: str) -> int:
        """Delete all objects of a bucket and give how many there were; R2 deletes no bucket that holds some."""
        address = f"{self.origin}/_emulator/r2/{self.account_id}/{bucket}/objects"
        headers = {"Authorization": f"Bearer {self.token}", "cf-r2-jurisdiction": jurisdiction}
        request = urllib.request.Request(address, headers=headers, method="DELETE")  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
                return int(json.load(answer)["result"]["deleted"])
        except urllib.error.HTTPError as error:
            if error.code == 404:  # the bucket is gone already
                return 0
            raise


def start(tools: Toolchain, world: World) -> Emulated:
    """Give the running emulator, started if there is none."""
    if found := running(world):
        return found
    world.logs.mkdir(parents=True, exist_ok=True)
    log_file = world.logs / "emulator.log"
    port = world.port or os.environ.get("EMULATOR_PORT") or _port_of_last_time(world) or _DEFAULT_PORT
    env = {key: value for key, value in os.environ.items() if not key.startswith(("CLOUDFLARE_", "CF_"))}
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [str(venv_python()), "-m", "emulator", "--port", port, "--state", str(world.emulator), *_runtime(tools)],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    assert process.stdout is not None  # noqa: S101 - PIPE was asked for
    with process.stdout:
        base_url = process.stdout.readline().decode().strip()
    if not base_url:
        why = (log_file.read_text(errors="replace").strip().splitlines() or ["it ended without a word"])[-1]
        raise SetupError("cannot start the emulator", why, f"Choose one as in `{world.with_port}`")
    write_whole(world.record, json.dumps({"pid": process.pid, "base_url": base_url}))
    return _connect(world, base_url)


def fetch_runtime(tools: Toolchain, out: TextIO) -> None:
    """Have what runs Workers before the first request waits for it; without it the API still serves, so go on."""
    argv = [str(venv_python()), "-m", "emulator", "fetch", *_runtime(tools)]
    subprocess.run(argv, cwd=ROOT, stdout=out, check=False)


def _runtime(tools: Toolchain) -> tuple[str, ...]:
    """Give what it runs Workers and containers with; unpacked images are of use to other checkouts, too."""
    containers = ("--containers", str(tools.containers)) if tools.containers else ()
    shared = ("--packages", str(cache_root() / "workerd"), "--layers", str(cache_root() / "layers"))
    return ("--node", str(tools.node), *shared, *containers)


def _port_of_last_time(world: World) -> str | None:
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(urlsplit(_recorded(world)["base_url"]).port)
    return None


def _recorded(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.record.read_text())
    return found


def running(world: World) -> Emulated | None:
    """Give the emulator of a world if it answers."""
    with contextlib.suppress(OSError, ValueError, KeyError, SetupError):
        return _connect(world, _recorded(world)["base_url"])
    return None


def stop(world: World, out: TextIO) -> None:
    """Stop the emulator and forget its account; one that is not empty, or cannot be asked, is kept and reported."""
    left = _what_is_left(world)
    halt(world)
    world.record.unlink(missing_ok=True)
    kept = world.shown(world.emulator)
    if left:
        print(f"The emulated account still holds {left}; it is kept in {kept}.", file=out)
    elif left is None and world.emulator.exists():
        why = "no emulator runs that could say whether it is empty"
        print(f"The emulated account in {kept} is kept: {why}.", file=out)
    else:
        shutil.rmtree(world.emulator, ignore_errors=True)


def halt(world: World) -> bool:
    """End the process and keep its account; whether there was one."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return _end(int(_recorded(world)["pid"]))
    return False


def _what_is_left(world: World) -> str | None:
    """Name what the account holds: an empty text when that is nothing, None when it does not answer."""
    found = running(world)
    if not found:
        return None
    deployed = found.control("/state")["deployed"]
    return ", ".join(f"{count} {kind}" for kind, count in sorted(deployed.items()))


def _connect(world: World, base_url: str) -> Emulated:
    token = (world.emulator / "token").read_text().strip()
    accounts = _get(f"{base_url}/accounts", token, f"Run `{world.command} down`, then `{world.command} up`")
    return Emulated(base_url, accounts[0]["id"], token)


def _get(address: str, token: str, remedy: str) -> Any:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - as above
            return json.load(answer)["result"]
    except urllib.error.URLError as error:
        raise SetupError("the emulator does not answer", str(error.reason), remedy) from error


def _end(pid: int) -> bool:
    """End the process if it is still the emulator: process ids are used again. Whether it was."""
    if "emulator" not in _command_line(pid):
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while "emulator" in _command_line(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return True


def _command_line(pid: int) -> str:
    if Path("/proc/self/cmdline").exists():
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_text()
        return ""
    asked = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout
