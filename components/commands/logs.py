"""The command `logs`: follow what a deployed Worker logs and throws, until Ctrl-C.

An interruption is how it is meant to end, and so is a reader that leaves. The tail that it begins is taken away again.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Final

from ..account.address import api_address
from ..logs.event import FORMATS
from ..logs.tail import Api, TailError
from ..platform import api
from .exits import Exit, interruptible
from .formats import add_format

_NEEDED: Final = {
    api.ACCOUNT_ID: "the id of the account",
    api.TOKEN: "an API token of the account",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: arguments can be seen by others on the machine."""
    parser.add_argument("worker", help="name of the Worker; the output worker_name of a stack")
    add_format(parser, help="json gives one event on each line")
    parser.epilog = "Account and token are taken from CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN."


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    shown = FORMATS[arguments.format]
    try:
        with interruptible(), _api(os.environ).follow(arguments.worker) as events:
            sys.stderr.write(f"Listening to {arguments.worker}; Ctrl-C ends it.\n")
            for event in events:
                sys.stdout.write(shown(event))
                sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
    return Exit.DONE


def _api(environment: Mapping[str, str]) -> Api:
    for name, what in _NEEDED.items():
        if not environment.get(name):
            raise TailError(f"{name}: is not set; set it to {what}")
    return Api(api_address(environment), environment[api.ACCOUNT_ID], environment[api.TOKEN])
