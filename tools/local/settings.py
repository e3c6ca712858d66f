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
from tools.local.stack import LocalStack
from tools.paths import write_whole

_SEALED = "secure"


def selection(stack: LocalStack) -> tuple[str, ...]:
    """Return the arguments that make the engine work on this stack with these settings."""
    return ("--stack", stack.name, "--config-file", str(stack.settings_copy))


def copy_project(stack: LocalStack) -> None:
    """Make the folder a project of the same name."""
    stack.project_copy.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(stack.project / "Pulumi.yaml", stack.project_copy / "Pulumi.yaml")


def original(stack: LocalStack) -> dict[str, Any]:
    """Return the settings under version control; a project may have none."""
    return (read(stack.settings).get("config") or {}) if stack.settings.exists() else {}


def takes_settings(stack: LocalStack, wanted: dict[str, Any]) -> str:
    """Return the key under which the project's program reads the settings of a sandbox stack; empty if it reads none.

    It does when the project declares a setting `settings`, as the projects of `sandbox-stack init` do, or has one.
    """
    own, short = f"{stack.project_name}:settings", "settings"
    if short in wanted:
        return short
    declared = read(stack.project / "Pulumi.yaml").get("config") or {}
    return own if own in wanted or {own, short} & set(declared) else ""


def openable(stack: LocalStack, wanted: dict[str, Any]) -> dict[str, Any]:
    """Leave out what only the key of another machine opens; refuse it where this one has nothing in its place."""
    sealed = [key for key, value in wanted.items() if isinstance(value, dict) and set(value) == {_SEALED}]
    own = (read(stack.settings_copy).get("config") or {}) if stack.settings_copy.exists() else {}
    missing = [key for key in sealed if key not in own]
    if missing:
        commands = "; ".join(f"pulumi config set --secret {key}" for key in missing)
        raise SetupError(
            f"{stack.settings.name} holds secrets that cannot be opened here ({', '.join(missing)})",
            "they are sealed with another key than this machine's",
            f'Give some for this machine: eval "$({stack.command} env)", then {commands}',
        )
    return {key: value for key, value in wanted.items() if key not in sealed}


def update_copy(stack: LocalStack, wanted: dict[str, Any]) -> None:
    """Bring the original's settings into the copy; what is under version control wins."""
    settings = read(stack.settings_copy) if stack.settings_copy.exists() else {}
    # A setting that is removed from the original must go from the copy too.
    taken = json.loads(stack.taken.read_text()) if stack.taken.exists() else []
    by_hand = {key: value for key, value in (settings.get("config") or {}).items() if key not in taken}
    write_whole(stack.settings_copy, yaml.safe_dump({**settings, "config": by_hand | wanted}))
    write_whole(stack.taken, json.dumps(sorted(wanted)))


def is_outdated(stack: LocalStack) -> bool:
    """Tell whether the original has changed since it was brought into the copy."""
    there = stack.settings_copy.exists() and stack.settings.exists()
    return there and stack.settings.stat().st_mtime > stack.settings_copy.stat().st_mtime


def read(path: Path) -> dict[str, Any]:
    """Read a settings file, or a project's."""
    try:
        found = yaml.safe_load(path.read_text()) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        raise SetupError(f"cannot read {path.name}", why, "Fix the file and run the same command again") from error
    if not isinstance(found, dict) or not isinstance(found.get("config") or {}, dict):
        raise SetupError(f"cannot read {path.name}", "it is not a list of settings", "Begin it with `config:`")
    return found
