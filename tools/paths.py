"""Where set-up keeps things: the checkout, its `.local` folder, and the cache shared by all checkouts."""

import json
import os
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCAL: Final = ROOT / ".local"
LOGS: Final = LOCAL / "logs"
VENV: Final = ROOT / ".venv"
BUILDS: Final = ROOT / ".sandbox-build"
"""Bundles, build contexts and the packages they are made with, as `components.stack` names it."""
GO_MODULES: Final = ROOT / "tools" / "go"
SDK_LOCK: Final = ROOT / "worker_src" / "package-lock.json"
WHEELS: Final = ROOT / "tools" / "wheels"


def cache_root() -> Path:
    """Give the cache folder, `$XDG_CACHE_HOME` or `~/.cache` as the desktop convention has it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "pulumi-cloudflare-sandbox"


def venv_python() -> Path:
    """Give the interpreter of the checkout's virtual environment."""
    return VENV / "bin" / "python"


def sdk_version() -> str:
    """Give the version of the Sandbox SDK that the Worker's lock file resolves."""
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
