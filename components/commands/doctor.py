"""The command `doctor`: say what is missing before a stack is deployed, or make the token that it needs.

It asks and changes nothing; with `--create-token` it makes one token and does nothing else. The value of that token is
all that is written to standard output, so that it can be put away without being seen.
"""

import argparse
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ..account.question import question
from ..account.reader import Account, account, asked
from ..doctor import examine
from ..doctor.new_token import create
from ..errors import UserError
from ..platform import api
from ..settings import SandboxSettings
from ..settings.permissions import needs
from .exits import Exit
from .formats import JSON, add_format, as_json
from .projects import add_project, chosen
from .terminal import coloured

_DAYS, _MOST_DAYS = 90, 365
_STATUSES: Final = re.compile(r"^(?:ok|missing|advice|unseen)(?=  | +  )", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: it is taken from the environment."""
    add_project(parser)
    add_format(parser)
    parser.add_argument(
        "--create-token", action="store_true", help="make a token with exactly what the stack needs, and print it once"
    )
    parser.add_argument(
        "--expires-in", type=_days, metavar="DAYS", help=f"when the new token ends; {_DAYS} days if left out"
    )


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_DAYS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days from 1 to {_MOST_DAYS}")
    return int(text)


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    if arguments.expires_in and not arguments.create_token:
        raise UserError("--expires-in: is about a new token; add --create-token, or leave it out")
    folder = Path(arguments.project)
    stack, settings = chosen(folder, arguments.stack)
    there = _account(settings)
    if arguments.create_token:
        return _create(arguments, there, settings, stack)
    report = asked(lambda: examine(settings, stack, there, folder=folder))
    if arguments.format == JSON:
        sys.stdout.write(as_json({"stack": stack, "account": there.account_id, **report.document()}))
    else:
        sys.stdout.write(coloured(report.text(), _STATUSES, sys.stdout))
    return Exit.NO if report.missing else Exit.DONE


def _account(settings: SandboxSettings) -> Account:
    found = account(os.environ, settings.account_id)
    if found is None:
        listed = ", ".join(each.label for each in needs(settings))
        raise UserError(f"set {api.ACCOUNT_ID}, and {api.TOKEN} to an API token of the account with: {listed}")
    return found


def _create(arguments: argparse.Namespace, there: Account, settings: SandboxSettings, stack: str) -> Exit:
    name = f"sandbox-stack {settings.name} {stack}"
    days = arguments.expires_in or _DAYS
    made = asked(lambda: create(there, question(settings, stack), name, days=days))
    if arguments.format == JSON:
        sys.stdout.write(as_json(asdict(made)))
        return Exit.DONE
    listed = "".join(f"  {each}\n" for each in made.permissions)
    sys.stderr.write(
        f"Made the token {made.name!r} ({made.id}), which ends on {made.expires_on}:\n{listed}"
        f"Its value is printed once, for {api.TOKEN}:\n"
    )
    sys.stdout.write(f"{made.value}\n")
    return Exit.DONE
