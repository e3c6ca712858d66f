"""From the folder of somebody's Pulumi project to its local stack."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from tools.errors import SetupError
from tools.local import settings
from tools.local.stack import LocalStack, is_name

FOLDER: Final = ".sandbox-local"
"""Where everything of a stack lies unless another place is named: in the project, out of version control."""
_PROGRAM: Final = "sandbox-stack"
_STACK: Final = "local"
_MARK: Final = ".gitignore"
_MARK_TEXT: Final = "# Made by `sandbox-stack local`, which takes it away again.\n*\n"


def stack_of(project: Path, *, name: str = "", folder: Path | None = None, port: str = "") -> LocalStack:
    """Return a stack of a project; which one follows from the files where it is not said."""
    file = project / "Pulumi.yaml"
    if not file.is_file():
        remedy = f"Go to the folder of a project, or make one with `{_PROGRAM} init`"
        raise SetupError(f"no Pulumi project in {project}", "there is no Pulumi.yaml", remedy)
    project_name = settings.read(file).get("name")
    if not isinstance(project_name, str) or not project_name:
        raise SetupError(f"cannot use {file}", "it does not name the project", "Begin it with `name:`")
    letters = "letters, digits, hyphens, underscores and dots, 100 at most"
    if not is_name(project_name):
        raise SetupError(f"cannot use {file}", f"{project_name!r} is no name of a project", f"Use {letters}")
    if name and not is_name(name):
        raise SetupError("cannot use --stack", f"{name!r} is no name of a stack", f"Use {letters}")
    command = f"{program(project)} local"
    found = LocalStack(project, project_name, name or _STACK, folder or project / FOLDER, command, port)
    return found if name else replace(found, name=_chosen(found))


def require_environment(stack: LocalStack) -> None:
    """Refuse a project whose own environment is not there: the engine would say so after minutes, and less clearly."""
    runtime = settings.read(stack.project / "Pulumi.yaml").get("runtime")
    options = runtime.get("options") if isinstance(runtime, dict) else None
    named = options.get("virtualenv") if isinstance(options, dict) else None
    if isinstance(named, str) and not (stack.project / named / "bin" / "python").exists():
        install = f"python3 -m venv {named} && {named}/bin/pip install --requirement requirements.txt"
        raise SetupError(
            f"{stack.project_name} cannot run", f"there is no Python environment in {named}", f"Make it: {install}"
        )


def require_settings(stack: LocalStack) -> None:
    """Refuse a stack without settings in a project that has files of them: defaults would be deployed."""
    files = sorted(path.name for path in stack.project.glob("Pulumi.*.yaml"))
    if files and not stack.settings.exists():
        why = f"there is no {stack.settings.name}, but {', '.join(files)}"
        raise SetupError(f"{stack.qualified} has no settings", why, "Name a stack that has them (--stack), or write it")


def require_own(stack: LocalStack) -> None:
    """Refuse a folder that is for something else: `down` takes it away with all that it holds."""
    if stack.folder.exists() and not _is_own(stack) and any(stack.folder.iterdir()):
        remedy = "Name one that is empty, or does not exist: `down` takes it away with all that it holds"
        raise SetupError(f"cannot use {stack.folder}", "it holds something else", remedy)


def make_folder(stack: LocalStack) -> None:
    """Make the stack's folder, for its owner alone and out of version control."""
    stack.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (stack.folder / _MARK).write_text(_MARK_TEXT)


def remove_folder(stack: LocalStack) -> None:
    """Take the folder away, if it is one that was made here."""
    if _is_own(stack):
        shutil.rmtree(stack.folder, ignore_errors=True)


def _is_own(stack: LocalStack) -> bool:
    mark = stack.folder / _MARK
    return mark.is_file() and mark.read_text(errors="replace") == _MARK_TEXT


def program(project: Path) -> str:
    """Name the command as people in the project's folder can type it."""
    own = Path(sys.executable).parent / _PROGRAM
    found = shutil.which(_PROGRAM)
    if not own.is_file() or (found and Path(found).resolve() == own.resolve()):
        return _PROGRAM
    return os.path.relpath(own, project) if own.is_relative_to(project) else str(own)


def _chosen(stack: LocalStack) -> str:
    """Choose the stack: the one that is up, `local`, or the only one that has settings."""
    up = [each.partition("/")[2] for each in stack.known() if each.startswith(f"{stack.project_name}/")]
    if len(up) == 1:
        return up[0]
    if stack.settings.exists():
        return stack.name
    files = sorted(path.name for path in stack.project.glob("Pulumi.*.yaml"))
    named = up or [name.removeprefix("Pulumi.").removesuffix(".yaml") for name in files]
    if len(named) > 1:
        raise SetupError("it is not clear which stack is meant", f"there are {', '.join(named)}", "Name one: --stack")
    return named[0] if named else stack.name
