"""The command `local`: a project of yours on this machine, deployed to an emulated account, sandboxes included.

The programs that do it come with this package and are run as one process, which takes the place of this one.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from ..bundle import packaged
from ..errors import UserError, reading_or_writing
from .exits import Exit
from .formats import add_format

_ACTIONS: Final = {
    "up": "start the emulator, deploy the project to it and say where it answers; again after a change",
    "down": "destroy what was deployed, stop the emulator and forget the account",
    "status": "say what runs; the answer is no when the stack is not up",
    "logs": "follow what a deployed Worker logs and throws, until Ctrl-C",
    "env": "print shell settings for running pulumi, and clients of the API, by hand on the stack",
    "save": "write account and state to FILE, and the keys of the secrets in them to FILE.keys",
    "load": "read what `save` has written, in place of a stack that is not up",
}
# Options that only some actions take.
_TAKEN_BY: Final = {
    "file": ("save", "load"),
    "port": ("up",),
    "zone": ("up",),
    "force": ("down",),
    "worker": ("logs",),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=_ACTIONS, metavar="ACTION", help="what to do: see below")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="for save and load")
    parser.add_argument(
        "--project", type=Path, default=Path(), metavar="FOLDER", help="of the project; the current one"
    )
    parser.add_argument("--stack", metavar="NAME", help="the stack; the one that is up, `local`, or the only one")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="of account, state and keys; .sandbox-local")
    add_format(parser)
    parser.add_argument("--port", type=_port, help="up: where the emulator serves; 8787, or where it did last")
    parser.add_argument("--zone", action="append", metavar="NAME", help="up: a zone that the account has")
    parser.add_argument("--force", action="store_true", help="down: destroy what is protected, too")
    parser.add_argument("--worker", metavar="NAME", help="logs: whose, where the stack has several Workers")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["actions:", *(f"  {name:<8}{text}" for name, text in _ACTIONS.items())])


def _port(text: str) -> str:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number up to 65535, 0 for any that is free")
    return text


def run(arguments: argparse.Namespace) -> Exit:
    """Become the program that does it: it has the terminal, and what ends it ends what it has begun."""
    given, action = vars(arguments), arguments.action
    for name, actions in _TAKEN_BY.items():
        if given[name] and action not in actions:
            raise UserError(f"{'FILE' if name == 'file' else f'--{name}'} is for {' and '.join(actions)}, not {action}")
    if action in _TAKEN_BY["file"] and not arguments.file:
        raise UserError(f"{action} needs a FILE")
    options = ["--project", _absolute(arguments.project), "--format", arguments.format]
    options += [part for zone in arguments.zone or () for part in ("--zone", zone)]
    options += ["--force"] if arguments.force else []
    for name in ("stack", "port", "worker"):
        options += [f"--{name}={given[name]}"] if given[name] else []
    for name in ("folder", "file"):
        options += [f"--{name}={_absolute(given[name])}"] if given[name] else []
    return _become([sys.executable, "-m", "tools", "local", action, *options])


def _absolute(path: Path) -> str:
    with reading_or_writing(path, "name another one"):
        return str(path.resolve())


def _become(program: list[str]) -> NoReturn:
    # Python finds the programs in the folder it is started in, unless it is told not to look there.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    os.chdir(packaged.programs())
    os.execve(program[0], program, environment)  # noqa: S606
