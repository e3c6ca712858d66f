"""The command `local`: a project of yours on this machine, deployed to an emulated account, sandboxes included.

The programs that do it come with this package and are run as one process, which takes the place of this one.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from ..bundle import packaged
from .formats import add_format

_ACTIONS: Final = {
    "up": "start the emulator, deploy the project to it and say where it answers; again after every change",
    "down": "destroy what was deployed, stop the emulator and forget the account",
    "status": "say what runs; the answer is no when the stack is not up",
    "logs": "follow what a deployed Worker logs and throws, until Ctrl-C",
    "env": "print shell settings for running pulumi by hand on the local stack",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions, each with its arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    own = {name: actions.add_parser(name, help=text, description=text) for name, text in _ACTIONS.items()}
    for each in own.values():
        each.add_argument(
            "--project", type=Path, default=Path(), metavar="FOLDER", help="of the project; the current one"
        )
        each.add_argument("--stack", metavar="NAME", help="the stack; `local`, or the only one that has settings")
        each.add_argument(
            "--folder", type=Path, metavar="FOLDER", help="of state and keys; .sandbox-local of the project"
        )
        add_format(each)
    own["up"].add_argument("--port", type=_port, help="where the emulator serves; 8787, or where it did last")
    own["up"].add_argument("--zone", action="append", metavar="NAME", help="a zone that the account has; repeatable")
    own["down"].add_argument("--force", action="store_true", help="destroy what is protected, too")
    own["logs"].add_argument("worker", nargs="?", help="name of the Worker, where the stack has several")


def _port(text: str) -> str:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number up to 65535, 0 for any that is free")
    return text


def run(arguments: argparse.Namespace) -> NoReturn:
    """Become the program that does it: it has the terminal, and what ends it ends what it has begun."""
    given = vars(arguments)
    options = ["--project", str(arguments.project.resolve()), "--format", arguments.format]
    if arguments.folder:
        options += ["--folder", str(arguments.folder.resolve())]
    for name in ("stack", "port", "worker"):
        options += [f"--{name}", given[name]] if given.get(name) else []
    options += [part for zone in given.get("zone") or () for part in ("--zone", zone)]
    options += ["--force"] if given.get("force") else []
    # Python finds the programs in the folder it is started in, unless it is told not to look there.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    os.chdir(packaged.programs())
    os.execve(sys.executable, [sys.executable, "-m", "tools", "local", arguments.action, *options], environment)  # noqa: S606
