"""The command `rollback`: an earlier release, Worker and images together, shown as a plan before anything changes."""

import argparse
import os
import sys

from ..account.address import client
from ..deployed.live import Reader
from ..deployed.look import told
from ..deployed.rollback import Plan, Rollback, listed, listing, plan
from ..deployed.stack import chosen, workers
from ..errors import UserError
from .exits import Exit, interruptible
from .formats import JSON, add_format, as_json
from .of_a_stack import add_project, project_of
from .terminal import agrees


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: arguments can be seen by others on the machine."""
    add_project(parser)
    parser.add_argument(
        "--to", metavar="RELEASE", help="a release or a version of the Worker; the one before if left out"
    )
    parser.add_argument("--worker", metavar="NAME", help="whose, where the stack has several Workers")
    parser.add_argument("--list", action="store_true", help="show the releases that the account tells of, and end")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_format(parser)
    parser.epilog = (
        "Afterwards the state says what is live: `pulumi up` of the program of then changes nothing, and of the "
        "program of now it goes forward again. The token is taken from CLOUDFLARE_API_TOKEN."
    )


def run(arguments: argparse.Namespace) -> Exit:
    """Show the plan, ask, and go back."""
    project, asked = project_of(arguments), client(os.environ)
    worker = chosen(workers(project.state(), str(project.folder)), arguments.worker)
    with told():
        reader = Reader(asked, worker)
        found = reader.timeline()
        if arguments.list:
            releases = listed(found)
            sys.stdout.write(as_json({"releases": releases}) if arguments.format == JSON else listing(releases))
            return Exit.DONE
        made = plan(worker, found, arguments.to, reader)
        if made.is_empty:
            return _end(arguments, made, done=False)
        if arguments.format != JSON:
            sys.stdout.write(made.text())
            sys.stdout.flush()
        if not (arguments.yes or _agreed()):
            sys.stderr.write("Nothing was changed.\n")
            return Exit.NO
        try:
            with interruptible():
                Rollback(made, asked, project, _tell).run()
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted half-way; run the same command again to finish it.\n")
            return Exit.INTERRUPTED
    return _end(arguments, made, done=True)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _end(arguments: argparse.Namespace, made: Plan, *, done: bool) -> Exit:
    if arguments.format == JSON:
        sys.stdout.write(as_json({"changed": done, **made.document()}))
    elif done:
        sys.stdout.write(f"{made.worker.name} is back at release {made.release.name}, and the state says so.\n")
    else:
        sys.stdout.write(f"{made.worker.name} is at release {made.release.name} already; nothing to do.\n")
    return Exit.DONE


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UserError("--yes: is needed where nobody can be asked; nothing was changed")
    return agrees("Go back?")
