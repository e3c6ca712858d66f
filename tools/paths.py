"""Where set-up keeps things: a folder of its own, and the cache shared by all checkouts and installed packages.

In a checkout the folder is `.local`. An installed package has `tools` and `emulator` in a folder `programs` inside it,
and keeps what set-up notes in the cache: nothing is written beside what was installed.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
IS_CHECKOUT: Final = (ROOT / "requirements.lock").is_file()
PACKAGE: Final = ROOT if IS_CHECKOUT else ROOT.parent
"""Holds `worker_src` and `requirements.txt`."""


def cache_root() -> Path:
    """Return the cache folder, `$XDG_CACHE_HOME` or `~/.cache` as the desktop convention has it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "pulumi-cloudflare-sandbox"


LOCAL: Final = ROOT / ".local" if IS_CHECKOUT else cache_root() / "installed"
LOGS: Final = LOCAL / "logs"
VENV: Final = ROOT / ".venv"
BUILDS: Final = ROOT / ".sandbox-build"
"""Bundles, build contexts and the packages they are made with, as `components.stack` names it."""
GO_MODULES: Final = ROOT / "tools" / "go"
SDK_LOCK: Final = PACKAGE / "worker_src" / "package-lock.json"
WHEELS: Final = ROOT / "tools" / "wheels"
COMMAND: Final = ("-m", "components") if IS_CHECKOUT else ("-m", "pulumi_cloudflare_sandbox")
"""Starts the command line of the package, in `ROOT`."""


def venv_python() -> Path:
    """Return the interpreter that has the packages: that of the checkout's environment, or the one that runs this."""
    return VENV / "bin" / "python" if IS_CHECKOUT else Path(sys.executable)


def sdk_version() -> str:
    """Return the version of the Sandbox SDK that the Worker's lock file resolves."""
    version: str = json.loads(SDK_LOCK.read_text())["packages"]["node_modules/@cloudflare/sandbox"]["version"]
    return version


def write_whole(path: Path, text: str) -> None:
    """Write a file, for its owner only, so that it has its old or its new content whatever happens."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as target:
            target.write(text)
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
