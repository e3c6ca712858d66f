"""The settings of the stack `local` as the engine sees them: a copy of what is under version control.

The engine writes the key that goes with the passphrase into a stack's settings file. Ours is under version control and
the passphrase is not, so the engine works on a copy, in a folder that is a project of the same name. Settings added to
the copy by hand, secrets for instance, stay until the stack is taken down.
"""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import yaml

from tools.errors import SetupError
from tools.paths import LOCAL, ROOT, write_whole

STACK: Final = "local"
PROJECT_COPY: Final = LOCAL / "project"
COPY: Final = PROJECT_COPY / f"Pulumi.{STACK}.yaml"
_ORIGINAL: Final = ROOT / COPY.name
# Which settings came from the original: one that is removed there must go from the copy too.
_TAKEN: Final = PROJECT_COPY / "taken.json"


def selection() -> tuple[str, ...]:
    """Give the arguments that make the engine work on this stack with these settings."""
    return ("--stack", STACK, "--config-file", str(COPY))


def copy_project() -> None:
    """Make the folder a project of the same name."""
    PROJECT_COPY.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "Pulumi.yaml", PROJECT_COPY / "Pulumi.yaml")


def original() -> dict[str, Any]:
    """Give the settings under version control."""
    return _read(_ORIGINAL).get("config") or {}


def update_copy(wanted: dict[str, Any]) -> None:
    """Bring the original's settings into the copy; what is under version control wins."""
    settings = _read(COPY) if COPY.exists() else {}
    taken = json.loads(_TAKEN.read_text()) if _TAKEN.exists() else []
    by_hand = {key: value for key, value in (settings.get("config") or {}).items() if key not in taken}
    write_whole(COPY, yaml.safe_dump({**settings, "config": by_hand | wanted}))
    write_whole(_TAKEN, json.dumps(sorted(wanted)))


def is_outdated() -> bool:
    """Tell whether the original has changed since it was brought into the copy."""
    return COPY.exists() and _ORIGINAL.exists() and _ORIGINAL.stat().st_mtime > COPY.stat().st_mtime


def _read(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text()) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        raise SetupError(f"cannot read {path.name}", why, "Mend the file and run the same command again") from error
    if not isinstance(found, dict) or not isinstance(found.get("config") or {}, dict):
        raise SetupError(f"cannot read {path.name}", "it is not a list of settings", "Begin it with `config:`")
    return found
