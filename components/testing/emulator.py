"""The emulator as tests see it: a process for the session, accounts in it, and what it is told beside the API."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..bundle import packaged
from ..platform import api


@dataclass(frozen=True)
class Account:
    """An emulated account."""

    id: str
    base_url: str
    """Where the API answers, as `CLOUDFLARE_BASE_URL` names it."""
    token: str = field(repr=False)
    """May do everything."""

    @property
    def env(self) -> dict[str, str]:
        """The variables that Cloudflare's own clients, wrangler and Pulumi read."""
        return {
            api.ACCOUNT_ID: self.id,
            api.TOKEN: self.token,
            api.BASE_URL: self.base_url,
        }


@dataclass(frozen=True)
class Emulator:
    """A Cloudflare on this machine."""

    folder: Path
    """Holds its state, and that of what is deployed to it."""
    account: Account
    """The account that stacks are deployed to."""

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return self.account.base_url.removesuffix("/client/v4")

    def new_account(self, *zones: str, name: str = "An account of a test") -> Account:
        """Make an account with nothing in it but these zones."""
        made = self.control("POST", "/accounts", {"name": name, "zones": list(zones)})
        return Account(made["id"], self.account.base_url, self.account.token)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Tell the emulator itself something (docs/emulator.md lists what), and give its answer."""
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.origin}/_emulator{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.account.token}", "content-type": "application/json"},
        )
        # Whatever proxy the machine has is not for this machine itself.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            return json.load(answer)["result"]


@contextmanager
def serving(folder: Path, *, saved: Path | None = None, project: Path | None = None) -> Iterator[Emulator]:
    """Serve while the block runs; `saved` is a file to begin with, of a stack of `project`."""
    if saved:
        required(program("load", folder, project or Path(), f"--file={saved}"))
    try:
        told = json.loads(required(program("serve", folder, folder)))
        token = Path(told["token_file"]).read_text(encoding="utf-8").strip()
        yield Emulator(folder, Account(told["account_id"], told["base_url"], token))
    finally:
        program("stop", folder, folder)


def program(action: str, folder: Path, project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run what `sandbox-stack local` runs."""
    argv = [sys.executable, "-m", "tools", "local", action, f"--project={project}", f"--folder={folder}", "--port=0"]
    return subprocess.run(
        [*argv, "--format=json", *options],
        cwd=packaged.programs(),
        env=environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def environment(present: Mapping[str, str]) -> dict[str, str]:
    """Leave out what keeps Python from finding programs in the folder it is started in."""
    return {name: value for name, value in present.items() if name != "PYTHONSAFEPATH"}


def required(done: "subprocess.CompletedProcess[str]") -> str:
    """Return what a program has told; raise what it complains of when it has failed."""
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"it ended with {done.returncode}")
    return done.stdout
