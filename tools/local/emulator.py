"""The Cloudflare of a local stack: an emulator on loopback, started by `up` and stopped by the last `down`.

State and token are in the stack's folder; the process is found again by the record written when it was started. An
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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from tools.errors import SetupError
from tools.local.stack import LocalStack
from tools.paths import ROOT, cache_root, venv_python, write_whole
from tools.setup.toolchain import Toolchain

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
        """Return scheme, host and port, without the path of the API."""
        return self.base_url.removesuffix("/client/v4")

    @property
    def port(self) -> int:
        """Return the port that serves everything."""
        return urlsplit(self.base_url).port or 0

    @property
    def dashboard(self) -> str:
        """Return where the account is shown as a page."""
        return f"{self.origin}/dashboard"

    @property
    def env(self) -> dict[str, str]:
        """Return the variables that Cloudflare's own clients read."""
        return {
            "CLOUDFLARE_ACCOUNT_ID": self.account_id,
            "CLOUDFLARE_API_TOKEN": self.token,
            "CLOUDFLARE_BASE_URL": self.base_url,
        }

    def control(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask something of the emulator itself, or tell it what to do; what it answers."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        return _ask(f"{self.origin}/_emulator{path}", self.token, timeout=300, data=data, headers=headers)

    def empty(self, bucket: str, jurisdiction: str) -> int:
        """Delete all objects of a bucket and return how many there were; R2 deletes no bucket that holds some."""
        address = f"{self.origin}/_emulator/r2/{self.account_id}/{bucket}/objects"
        headers = {"cf-r2-jurisdiction": jurisdiction}
        try:
            return int(_ask(address, self.token, timeout=60, method="DELETE", headers=headers)["deleted"])
        except urllib.error.HTTPError as error:
            if error.code == 404:  # the bucket is gone already
                return 0
            raise


def start(tools: Toolchain, stack: LocalStack) -> Emulated:
    """Return the running emulator, started if there is none."""
    if found := running(stack):
        return found
    stack.logs.mkdir(parents=True, exist_ok=True)
    log_file = stack.logs / "emulator.log"
    port = stack.port or os.environ.get("EMULATOR_PORT") or _port_of_last_time(stack) or _DEFAULT_PORT
    env = {key: value for key, value in os.environ.items() if not key.startswith(("CLOUDFLARE_", "CF_"))}
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [str(venv_python()), "-m", "emulator", "--port", port, "--state", str(stack.emulator), *_runtime(tools)],
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
        raise SetupError("cannot start the emulator", why, f"Choose one as in `{stack.with_port}`")
    write_whole(stack.record, json.dumps({"pid": process.pid, "base_url": base_url}))
    return _connect(stack, base_url)


def fetch_runtime(tools: Toolchain, out: TextIO) -> None:
    """Have what runs Workers before the first request waits for it; without it the API still serves, so go on."""
    argv = [str(venv_python()), "-m", "emulator", "fetch", *_runtime(tools)]
    subprocess.run(argv, cwd=ROOT, stdout=out, check=False)


def _runtime(tools: Toolchain) -> tuple[str, ...]:
    """Return what it runs Workers and containers with; unpacked images are of use to other checkouts, too."""
    containers = ("--containers", str(tools.containers)) if tools.containers else ()
    shared = ("--packages", str(cache_root() / "workerd"), "--layers", str(cache_root() / "layers"))
    return ("--node", str(tools.node), *shared, *containers)


def _port_of_last_time(stack: LocalStack) -> str | None:
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(urlsplit(_recorded(stack)["base_url"]).port)
    return None


def _recorded(stack: LocalStack) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(stack.record.read_text())
    return found


def running(stack: LocalStack) -> Emulated | None:
    """Return the stack's emulator if it answers."""
    with contextlib.suppress(OSError, ValueError, KeyError, SetupError):
        return _connect(stack, _recorded(stack)["base_url"])
    return None


def stop(stack: LocalStack, out: TextIO) -> None:
    """Stop the emulator and forget its account; one that is not empty, or cannot be asked, is kept and reported."""
    left = _what_is_left(stack)
    halt(stack)
    stack.record.unlink(missing_ok=True)
    kept = stack.shown(stack.emulator)
    if left:
        print(f"The emulated account still holds {left}; it is kept in {kept}.", file=out)
    elif left is None and stack.emulator.exists():
        why = "no emulator runs that could say whether it is empty"
        print(f"The emulated account in {kept} is kept: {why}.", file=out)
    else:
        shutil.rmtree(stack.emulator, ignore_errors=True)


def halt(stack: LocalStack) -> bool:
    """End the process and keep its account; whether there was one."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return _end(int(_recorded(stack)["pid"]))
    return False


def _what_is_left(stack: LocalStack) -> str | None:
    """Name what the account holds: an empty text when that is nothing, None when it does not answer."""
    found = running(stack)
    if not found:
        return None
    deployed = found.control("/state")["deployed"]
    return ", ".join(f"{count} {kind}" for kind, count in sorted(deployed.items()))


def _connect(stack: LocalStack, base_url: str) -> Emulated:
    token = (stack.emulator / "token").read_text().strip()
    try:
        accounts = _ask(f"{base_url}/accounts", token, timeout=5)
    except urllib.error.URLError as error:
        remedy = f"Run `{stack.command} down`, then `{stack.command} up`"
        raise SetupError("the emulator does not answer", str(error.reason), remedy) from error
    return Emulated(base_url, accounts[0]["id"], token)


def _ask(address: str, token: str, *, timeout: float, headers: Mapping[str, str] = {}, **options: Any) -> Any:
    authorized = {"Authorization": f"Bearer {token}", **headers}
    request = urllib.request.Request(address, headers=authorized, **options)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310 - as above
        return json.load(answer)["result"]


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
