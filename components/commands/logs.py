"""The command `logs`: follow what a deployed Worker logs and throws, until Ctrl-C.

An interruption is how it is meant to end, and so is a reader that leaves. The tail that it begins is taken away again.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ..account.address import api_address, needed
from ..deployed.stack import chosen, workers
from ..errors import UserError
from ..logs.event import FORMATS
from ..logs.tail import Api
from ..platform import api
from ..pulumi_cli.project import PulumiProject
from .exits import Exit, interruptible
from .formats import add_format
from .of_a_stack import add_stack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: arguments can be seen by others on the machine."""
    parser.add_argument(
        "worker", nargs="?", metavar="WORKER", help="name of the Worker; that of the stack in this folder if left out"
    )
    parser.add_argument("--project", type=Path, metavar="FOLDER", help="of the project whose Worker is meant; this one")
    add_stack(parser)
    add_format(parser, help="json gives one event on each line")
    parser.epilog = (
        "The token is taken from CLOUDFLARE_API_TOKEN; the account from CLOUDFLARE_ACCOUNT_ID, or from the state of a "
        "stack. What containers print is not among it: docs/operate.md says where that is."
    )


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    shown = FORMATS[arguments.format]
    worker, environment = _meant(arguments)
    try:
        with interruptible(), _api(environment).follow(worker) as events:
            sys.stderr.write(f"Listening to {worker}; Ctrl-C ends it.\n")
            for event in events:
                sys.stdout.write(shown(event))
                sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
    return Exit.DONE


def _meant(arguments: argparse.Namespace) -> tuple[str, Mapping[str, str]]:
    """Return the Worker, and the environment with its account."""
    of_a_stack = arguments.project or arguments.stack
    if arguments.worker and not of_a_stack:
        return arguments.worker, os.environ
    folder = arguments.project or Path()
    if not of_a_stack and not (folder / "Pulumi.yaml").is_file():
        raise UserError("WORKER: is not named, and this folder has no Pulumi project; name a Worker or --project")
    found = workers(PulumiProject(folder, arguments.stack).state(), str(folder))
    worker = chosen(found, arguments.worker, "WORKER")
    return worker.name, {**os.environ, api.ACCOUNT_ID: worker.account_id}


def _api(environment: Mapping[str, str]) -> Api:
    account_id, token = (needed(environment, name) for name in (api.ACCOUNT_ID, api.TOKEN))
    return Api(api_address(environment), account_id, token)
