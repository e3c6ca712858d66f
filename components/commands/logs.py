"""The command `logs`: follow what a deployed Worker logs and throws, until Ctrl-C.

An interruption is how it is meant to end, and so is a reader that leaves. The tail that it begins is taken away again.
"""

import argparse
import io
import os
import signal
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Final, NoReturn
from urllib.parse import urlsplit

from ..logs.event import FORMATS
from ..logs.tail import Api, TailError
from ..smoke.address import is_local
from .exits import Exit
from .formats import add_format

_DEFAULT_URL: Final = "https://api.cloudflare.com/client/v4"
_NEEDED: Final = {
    "CLOUDFLARE_ACCOUNT_ID": "the id of the account",
    "CLOUDFLARE_API_TOKEN": "an API token of the account",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: arguments can be seen by others on the machine."""
    parser.add_argument("worker", help="name of the Worker; the output worker_name of a stack")
    add_format(parser, help="json gives one event on each line")
    parser.epilog = "Account and token are taken from CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN."


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and give its exit code."""
    shown = FORMATS[arguments.format]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Pipelines end a job with SIGTERM: the tail must not outlive it either.
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _api(os.environ).follow(arguments.worker) as events:
            sys.stderr.write(f"Listening to {arguments.worker}; Ctrl-C ends it.\n")
            for event in events:
                sys.stdout.write(shown(event))
                sys.stdout.flush()
    except KeyboardInterrupt:
        return Exit.DONE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return Exit.DONE
    except TailError as error:
        sys.stderr.write(f"{error}\n")
        return Exit.REFUSED
    finally:
        signal.signal(signal.SIGTERM, before)
    return Exit.DONE


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _api(environment: Mapping[str, str]) -> Api:
    for name, what in _NEEDED.items():
        if not environment.get(name):
            raise TailError(f"{name}: is not set; set it to {what}")
    address = environment.get("CLOUDFLARE_BASE_URL") or _DEFAULT_URL
    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.hostname:
        raise TailError(f"CLOUDFLARE_BASE_URL: {address!r} is not a URL such as {_DEFAULT_URL}")
    if place.scheme == "http" and not is_local(place.hostname):
        raise TailError(f"{address}: the token would travel in clear; use https")
    return Api(address, environment["CLOUDFLARE_ACCOUNT_ID"], environment["CLOUDFLARE_API_TOKEN"])
