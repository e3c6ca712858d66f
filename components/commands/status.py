"""The command `status`: what is live of a stack, and what is wrong with it."""

import argparse
import os
import sys
import time

from ..account.address import client
from ..deployed import status
from ..deployed.look import look, told
from .exits import Exit
from .formats import JSON, add_format, as_json
from .of_a_stack import add_project, project_of
from .terminal import progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: arguments can be seen by others on the machine."""
    add_project(parser)
    add_format(parser)
    parser.add_argument("--watch", action="store_true", help="wait until no rollout is under way")
    parser.epilog = (
        "Changes nothing. The token is taken from CLOUDFLARE_API_TOKEN, the account from the state. The answer is no "
        "when something is wrong; each such thing is named."
    )


def run(arguments: argparse.Namespace) -> Exit:
    """Ask, and print what was found."""
    project, asked = project_of(arguments), client(os.environ)
    with told():
        found = look(project, asked)
        while arguments.watch and status.is_moving(found):
            told_so = "; ".join(each for _, live in found.workers for each in status.rollouts_of(live))
            progress(told_so, sys.stderr)
            time.sleep(asked.waits.poll)
            found = look(project, asked)
    progress("", sys.stderr)
    sys.stdout.write(as_json(status.document(found)) if arguments.format == JSON else status.text(found))
    return Exit.NO if status.problems(found) else Exit.DONE
