"""Which plugin serves `pulumi_cloudflare`: the real one where it is found, else the stand-in of the emulator.

The real one is looked for where Pulumi keeps it and on PATH. The engine runs in a home of its own, which links to it.
"""

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Final

from tools.paths import IS_CHECKOUT, ROOT

PROGRAM: Final = "pulumi-resource-cloudflare"
STAND_IN: Final = ROOT / "emulator" / "bridged_plugin" / "bin" / PROGRAM
_PIN: Final = re.compile(r"^pulumi-cloudflare==(\S+)$", re.MULTILINE)
_ANSWER_SECONDS: Final = 10


def version() -> str:
    """Return the version of the SDK that is pinned, or installed: SDK and plugin are released together."""
    if not IS_CHECKOUT:
        return metadata.version("pulumi-cloudflare")
    pinned = _PIN.search((ROOT / "requirements.txt").read_text())
    assert pinned is not None  # noqa: S101 - a test of the pins fails before this does
    return pinned[1]


def choose(wanted: str, installed: Path | None, on_path: tuple[Path, str] | None) -> Path:
    """Return the installed plugin, else one on PATH that differs in the last digit at most, else the stand-in."""
    if installed is not None:
        return installed
    if on_path is not None and on_path[1].split(".")[:2] == wanted.split(".")[:2]:
        return on_path[0]
    return STAND_IN


def plugin(home: Path) -> Path:
    """Look for the plugin in the user's own Pulumi home and on PATH."""
    wanted = version()
    installed = home / ".pulumi" / "plugins" / f"resource-cloudflare-v{wanted}" / PROGRAM
    found = shutil.which(PROGRAM)
    on_path = (Path(found).resolve(), _version_of(Path(found))) if found else None
    return choose(wanted, installed if installed.is_file() else None, on_path)


def is_stand_in(program: Path) -> bool:
    """Tell whether a plugin is the stand-in."""
    return program == STAND_IN


def _version_of(program: Path) -> str:
    """Ask a plugin for its version; empty when it does not tell."""
    try:
        asked = subprocess.run(
            [str(program), "-version"], capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip().removeprefix("v")
