"""Where set-up keeps things: the checkout, its `.local` folder, and the cache shared by all checkouts."""

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCAL: Final = ROOT / ".local"
LOGS: Final = LOCAL / "logs"
VENV: Final = ROOT / ".venv"
GO_MODULES: Final = ROOT / "tools" / "go"
WHEELS: Final = ROOT / "tools" / "wheels"


def cache_root() -> Path:
    """Give the cache folder, `$XDG_CACHE_HOME` or `~/.cache` as the desktop convention has it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "pulumi-cloudflare-sandbox"


def venv_python() -> Path:
    """Give the interpreter of the checkout's virtual environment."""
    return VENV / "bin" / "python"
