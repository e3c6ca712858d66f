"""`sandbox-stack …`, in a checkout also `python -m components …`: commands, each in a module of its own.

The table here is all that `--help` needs; a module is loaded when its command is asked for. It has
`add_arguments(parser)` and `run(arguments)`, which gives the exit code: `commands/exits.py`.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from .commands.exits import Exit
from .errors import UserError, visible
from .version import VERSION

PROGRAM: Final = "sandbox-stack"
_BEGINNING: Final = f"""\
Cloudflare Sandbox stacks with Pulumi. To begin with:

  {PROGRAM} init my-stack    writes a project and says how to deploy it
  {PROGRAM} local up         deploys the project of this folder to this machine, without an account
  {PROGRAM} check            judges a project that there is, of Pulumi or wrangler"""


@dataclass(frozen=True)
class Command:
    """A command: where it is, and what the list of all says about it."""

    module: str
    summary: str


GROUPS: Final = {
    "start": {
        "init": Command(".commands.init", "write a small working project, from answers to questions or from options"),
        "import": Command(
            ".commands.import_project", "make a Pulumi project of a wrangler project, which takes over what it deployed"
        ),
    },
    "check": {
        "check": Command(
            ".commands.check", "find the known mistakes in a wrangler or Pulumi project and say how to fix each"
        ),
        "doctor": Command(
            ".commands.doctor", "say what token, account and machine lack before a stack is deployed; make its token"
        ),
        "policy": Command(
            ".commands.policy", "print the folder of the policy pack, for `pulumi preview --policy-pack`"
        ),
    },
    "on this machine": {
        "local": Command(
            ".commands.local", "deploy a project to an emulated account on this machine, without an account"
        ),
    },
    "operate": {
        "export": Command(".commands.export", "make the wrangler configuration of a stack's settings"),
        "status": Command(".commands.status", "say what is live of a stack and what is wrong with it"),
        "drift": Command(".commands.drift", "list what differs between the state of a stack and the account"),
        "rollback": Command(
            ".commands.rollback", "go back to an earlier release of a stack, Worker and images together"
        ),
        "key": Command(
            ".commands.key",
            "make an API key for the Worker, or replace one: prints it once, with the settings that allow it",
        ),
        "cost": Command(
            ".commands.cost", "estimate what a stack costs a month, from settings, a preview, a workload or the account"
        ),
        "smoke": Command(".commands.smoke", "ask a deployed Worker whether it works, step by step"),
        "pr": Command(
            ".commands.pull_requests", "give each pull request a stack of its own, and take away those that are over"
        ),
        "logs": Command(".commands.logs", "follow what a deployed Worker logs and throws"),
        "orphans": Command(
            ".commands.orphans", "find what an account still has of stacks that do not know it, and delete it when told"
        ),
    },
    "the shell": {
        "completion": Command(
            ".commands.completion", "print the script by which bash, zsh or fish complete this command"
        ),
    },
}
COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        parser().print_help(sys.stderr)
        return Exit.REFUSED
    for stream in (sys.stdout, sys.stderr):  # names of files and broken documents may hold what an output cannot show
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        parsed = parser(given[0]).parse_args(given)
        code = int(parsed.run(parsed))
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return Exit.UNREAD
    except UserError as error:
        sys.stderr.write(f"{visible(str(error))}\n")
        return Exit.REFUSED
    return code


def parser(*wanted: str) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of the commands that are wanted: each loads its module."""
    whole = argparse.ArgumentParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [--help] [--version] COMMAND …",
        description=_BEGINNING,
        epilog=_overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    commands = whole.add_subparsers(
        prog=PROGRAM, dest="command", required=True, metavar="COMMAND", help=argparse.SUPPRESS
    )
    for name, command in COMMANDS.items():
        # Without a help text of its own: the overview has them, in groups.
        own = commands.add_parser(name, description=command.summary)
        if name in wanted:
            module: Any = import_module(command.module, __package__)
            module.add_arguments(own)
            own.set_defaults(run=module.run)
    return whole


def _overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    parts = []
    for title, group in GROUPS.items():
        lines = [f"  {name:<{width}}{command.summary}" for name, command in group.items()]
        parts.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join([*parts, f"`{PROGRAM} COMMAND --help` says more of each; docs/commands.md has all of it."])
