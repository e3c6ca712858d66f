"""The settings of a local stack as the engine sees them: a copy of what is under version control.

The engine writes the key that goes with the passphrase into a stack's settings file. That file is under version control
and the passphrase is not, so the engine works on a copy, in a folder that is a project of the same name. Settings added
to the copy by hand, secrets for instance, stay until the stack is taken down.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from tools.errors import SetupError
from tools.paths import write_whole
from tools.world import World

_SEALED = "secure"


def selection(world: World) -> tuple[str, ...]:
    """Give the arguments that make the engine work on this stack with these settings."""
    return ("--stack", world.stack, "--config-file", str(world.settings_copy))


def copy_project(world: World) -> None:
    """Make the folder a project of the same name."""
    world.project_copy.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(world.project / "Pulumi.yaml", world.project_copy / "Pulumi.yaml")


def original(world: World) -> dict[str, Any]:
    """Give the settings under version control; a project may have none."""
    return (read(world.settings).get("config") or {}) if world.settings.exists() else {}


def takes_settings(world: World, wanted: dict[str, Any]) -> str:
    """Give the key under which the project's program reads the settings of a sandbox stack; empty if it reads none.

    It does when the project declares a setting `settings`, as the projects of `sandbox-stack init` do, or has one.
    """
    own, short = f"{world.name}:settings", "settings"
    if short in wanted:
        return short
    declared = read(world.project / "Pulumi.yaml").get("config") or {}
    return own if own in wanted or {own, short} & set(declared) else ""


def openable(world: World, wanted: dict[str, Any]) -> dict[str, Any]:
    """Leave out what only the key of another world opens; refuse it where this one has nothing in its place."""
    sealed = [key for key, value in wanted.items() if isinstance(value, dict) and set(value) == {_SEALED}]
    own = (read(world.settings_copy).get("config") or {}) if world.settings_copy.exists() else {}
    missing = [key for key in sealed if key not in own]
    if missing:
        commands = "; ".join(f"pulumi config set --secret {key}" for key in missing)
        raise SetupError(
            f"{world.settings.name} holds secrets that cannot be opened here ({', '.join(missing)})",
            "they are sealed with another key than this machine's",
            f'Give some for this machine: eval "$({world.command} env)", then {commands}',
        )
    return {key: value for key, value in wanted.items() if key not in sealed}


def update_copy(world: World, wanted: dict[str, Any]) -> None:
    """Bring the original's settings into the copy; what is under version control wins."""
    settings = read(world.settings_copy) if world.settings_copy.exists() else {}
    # A setting that is removed from the original must go from the copy too.
    taken = json.loads(world.taken.read_text()) if world.taken.exists() else []
    by_hand = {key: value for key, value in (settings.get("config") or {}).items() if key not in taken}
    write_whole(world.settings_copy, yaml.safe_dump({**settings, "config": by_hand | wanted}))
    write_whole(world.taken, json.dumps(sorted(wanted)))


def is_outdated(world: World) -> bool:
    """Tell whether the original has changed since it was brought into the copy."""
    there = world.settings_copy.exists() and world.settings.exists()
    return there and world.settings.stat().st_mtime > world.settings_copy.stat().st_mtime


def read(path: Path) -> dict[str, Any]:
    """Read a settings file, or a project's."""
    try:
        found = yaml.safe_load(path.read_text()) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        raise SetupError(f"cannot read {path.name}", why, "Mend the file and run the same command again") from error
    if not isinstance(found, dict) or not isinstance(found.get("config") or {}, dict):
        raise SetupError(f"cannot read {path.name}", "it is not a list of settings", "Begin it with `config:`")
    return found
