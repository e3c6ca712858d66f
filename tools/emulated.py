"""The Cloudflare of the local stack: an emulator on loopback, started by `make up` and stopped by `make down`.

State and token are in `.local/emulator`; the process is found again by the record written when it was started. An
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
from typing import Any, Final
from urllib.parse import urlsplit

from tools.errors import SetupError
from tools.paths import LOCAL, LOGS, ROOT, cache_root, venv_python, write_whole
from tools.toolchain import Toolchain

_STATE: Final = LOCAL / "emulator"
_RECORD: Final = LOCAL / "emulator.json"
_LOG: Final = LOGS / "emulator.log"
_DEFAULT_PORT: Final = "8787"
_STOP_SECONDS: Final = 10


@dataclass(frozen=True)
class Emulated:
    """Where the emulated account answers, and how to be let in."""

    base_url: str
    account_id: str
    token: str

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
            f"{_control(self.base_url)}{path}", data=data, headers=headers
        )
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - as above
            return json.load(answer)["result"]

    def empty(self, bucket: str, jurisdiction: str) -> int:
        """Delete all objects of a bucket and give how many there were; R2 deletes no bucket that holds some."""
        address = f"{_control(self.base_url)}/r2/{self.account_id}/{bucket}/objects"
        headers = {"Authorization": f"Bearer {self.token}", "cf-r2-jurisdiction": jurisdiction}
        request = urllib.request.Request(address, headers=headers, method="DELETE")  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
                return int(json.load(answer)["result"]["deleted"])
        except urllib.error.HTTPError as error:
            if error.code == 404:  # the bucket is gone already
                return 0
            raise


def start(tools: Toolchain) -> Emulated:
    """Give the running emulator, started if there is none."""
    if found := running():
        return found
    LOGS.mkdir(parents=True, exist_ok=True)
    port = os.environ.get("EMULATOR_PORT") or _port_of_last_time() or _DEFAULT_PORT
    env = {key: value for key, value in os.environ.items() if not key.startswith(("CLOUDFLARE_", "CF_"))}
    with _LOG.open("wb") as log:
        process = subprocess.Popen(
            [str(venv_python()), "-m", "emulator", "--port", port, "--state", str(_STATE), *_runtime(tools)],
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
        why = (_LOG.read_text(errors="replace").strip().splitlines() or ["it ended without a word"])[-1]
        raise SetupError("cannot start the emulator", why, "Choose one as in `make up EMULATOR_PORT=8788`")
    write_whole(_RECORD, json.dumps({"pid": process.pid, "base_url": base_url}))
    return _connect(base_url)


def fetch_runtime(tools: Toolchain) -> None:
    """Have what runs Workers before the first request waits for it; without it the API still serves, so go on."""
    subprocess.run([str(venv_python()), "-m", "emulator", "fetch", *_runtime(tools)], cwd=ROOT, check=False)


def _runtime(tools: Toolchain) -> tuple[str, ...]:
    """Give what it runs Workers and containers with; unpacked images are of use to other checkouts, too."""
    containers = ("--containers", str(tools.containers)) if tools.containers else ()
    shared = ("--packages", str(cache_root() / "workerd"), "--layers", str(cache_root() / "layers"))
    return ("--node", str(tools.node), *shared, *containers)


def _port_of_last_time() -> str | None:
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(urlsplit(json.loads(_RECORD.read_text())["base_url"]).port)
    return None


def running() -> Emulated | None:
    """Give the emulator of this checkout if it answers."""
    with contextlib.suppress(OSError, ValueError, KeyError, SetupError):
        return _connect(json.loads(_RECORD.read_text())["base_url"])
    return None


def stop() -> None:
    """Stop the emulator and forget its account; one that is not empty, or cannot be asked, is kept and reported."""
    left = _what_is_left()
    with contextlib.suppress(OSError, ValueError, KeyError):
        _end(int(json.loads(_RECORD.read_text())["pid"]))
    _RECORD.unlink(missing_ok=True)
    kept = _STATE.relative_to(ROOT)
    if left:
        print(f"The emulated account still holds {left}; it is kept in {kept}.")
    elif left is None and _STATE.exists():
        print(f"The emulated account in {kept} is kept: no emulator runs that could say whether it is empty.")
    else:
        shutil.rmtree(_STATE, ignore_errors=True)


def _what_is_left() -> str | None:
    """Name what the account holds: an empty text when that is nothing, None when it does not answer."""
    found = running()
    if not found:
        return None
    state = _get(f"{_control(found.base_url)}/state", found.token)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(state["deployed"].items()))


def _control(base_url: str) -> str:
    """Give where the emulator itself is controlled, beside the API it serves."""
    return f"{base_url.removesuffix('/client/v4')}/_emulator"


def _connect(base_url: str) -> Emulated:
    token = (_STATE / "token").read_text().strip()
    accounts = _get(f"{base_url}/accounts", token)
    return Emulated(base_url, accounts[0]["id"], token)


def _get(address: str, token: str) -> Any:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - as above
            return json.load(answer)["result"]
    except urllib.error.URLError as error:
        raise SetupError(
            "the emulator does not answer", str(error.reason), "Run `make down`, then `make up`"
        ) from error


def _end(pid: int) -> None:
    """End the process if it is still the emulator: process ids are used again."""
    if "emulator" not in _command_line(pid):
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while "emulator" in _command_line(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _command_line(pid: int) -> str:
    if Path("/proc/self/cmdline").exists():
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_text()
        return ""
    asked = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout
