"""`python -m components …`: one command each in a module of its own, loaded when it is asked for.

A module has `HELP`, `add_arguments(parser)` and `run(arguments)`, which gives the exit code.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

COMMANDS: Final = {
    "check": ".commands.check",
    "export": ".commands.export",
    "import": ".commands.import_project",
    "key": ".commands.key",
    "logs": ".commands.logs",
    "policy": ".commands.policy",
    "smoke": ".commands.smoke",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = given[0] if given else ""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description="Cloudflare Sandbox stacks.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # Only the command that is asked for is loaded; the list of all of them needs every help text.
    wanted = [name] if name in COMMANDS else list(COMMANDS)
    modules: dict[str, Any] = {each: import_module(COMMANDS[each], __package__) for each in wanted}
    for each, module in modules.items():
        module.add_arguments(commands.add_parser(each, help=module.HELP, description=module.HELP))
    parsed = parser.parse_args(given)
    return int(modules[parsed.command].run(parsed))
