"""From the folder of somebody's Pulumi project to the world its local stack lives in."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from tools import local_settings, stacks
from tools.errors import SetupError
from tools.world import World, is_name

FOLDER: Final = ".sandbox-local"
"""Where a world is unless another place is named: in the project, with a file that keeps it from version control."""
_PROGRAM: Final = "sandbox-stack"
_STACK: Final = "local"
_MARK: Final = ".gitignore"
_MARK_TEXT: Final = "# Made by `sandbox-stack local`, which takes it away again.\n*\n"


def world_of(project: Path, *, stack: str = "", folder: Path | None = None, port: str = "") -> World:
    """Give the world of a project's stack; which one follows from the files where it is not said."""
    file = project / "Pulumi.yaml"
    if not file.is_file():
        remedy = f"Go to the folder of a project, or make one with `{_PROGRAM} init`"
        raise SetupError(f"no Pulumi project in {project}", "there is no Pulumi.yaml", remedy)
    name = local_settings.read(file).get("name")
    if not isinstance(name, str) or not name:
        raise SetupError(f"cannot use {file}", "it does not name the project", "Begin it with `name:`")
    letters = "letters, digits, hyphens, underscores and dots, 100 at most"
    if not is_name(name):
        raise SetupError(f"cannot use {file}", f"{name!r} is no name of a project", f"Use {letters}")
    if stack and not is_name(stack):
        raise SetupError("cannot use --stack", f"{stack!r} is no name of a stack", f"Use {letters}")
    place = folder or project / FOLDER
    command = f"{program(project)} local"
    found = World(project, name, stack or _STACK, place, command, port)
    return found if stack else World(project, name, _chosen(found), place, command, port)


def require_environment(world: World) -> None:
    """Refuse a project whose own environment is not there: the engine would say so after minutes, and less clearly."""
    runtime = local_settings.read(world.project / "Pulumi.yaml").get("runtime")
    options = runtime.get("options") if isinstance(runtime, dict) else None
    named = options.get("virtualenv") if isinstance(options, dict) else None
    if isinstance(named, str) and not (world.project / named / "bin" / "python").exists():
        install = f"python3 -m venv {named} && {named}/bin/pip install --requirement requirements.txt"
        raise SetupError(
            f"{world.name} cannot run", f"there is no Python environment in {named}", f"Make it: {install}"
        )


def require_own(world: World) -> None:
    """Refuse a folder that is for something else: `down` takes it away with all that it holds."""
    if world.folder.exists() and not _is_own(world) and any(world.folder.iterdir()):
        remedy = "Name one that is empty, or does not exist: `down` takes it away with all that it holds"
        raise SetupError(f"cannot use {world.folder}", "it holds something else", remedy)


def make_folder(world: World) -> None:
    """Make the folder of a world, for its owner alone and out of version control."""
    world.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (world.folder / _MARK).write_text(_MARK_TEXT)


def remove_folder(world: World) -> None:
    """Take the folder away, if it is one that was made here."""
    if _is_own(world):
        shutil.rmtree(world.folder, ignore_errors=True)


def _is_own(world: World) -> bool:
    mark = world.folder / _MARK
    return mark.is_file() and mark.read_text(errors="replace") == _MARK_TEXT


def program(project: Path) -> str:
    """Name the command as people in the project's folder can type it."""
    own = Path(sys.executable).parent / _PROGRAM
    found = shutil.which(_PROGRAM)
    if not own.is_file() or (found and Path(found).resolve() == own.resolve()):
        return _PROGRAM
    return os.path.relpath(own, project) if own.is_relative_to(project) else str(own)


def _chosen(world: World) -> str:
    """Choose the stack: the one that is up, `local`, or the only one that has settings."""
    up = [each.partition("/")[2] for each in stacks.known(world.backend) if each.startswith(f"{world.name}/")]
    if len(up) == 1:
        return up[0]
    if world.settings.exists():
        return world.stack
    files = sorted(path.name for path in world.project.glob("Pulumi.*.yaml"))
    named = up or [name.removeprefix("Pulumi.").removesuffix(".yaml") for name in files]
    if len(named) > 1:
        raise SetupError("it is not clear which stack is meant", f"there are {', '.join(named)}", "Name one: --stack")
    return named[0] if named else world.stack
