"""The command `completion`: the script by which a shell completes this command."""

import argparse
import sys
from typing import Final

from .exits import Exit
from .formats import JSON, add_format, as_json

SHELLS: Final = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=SHELLS, help="whose script to print")
    add_format(parser)
    parser.epilog = "To use it at once: source <(sandbox-stack completion bash)"


def run(arguments: argparse.Namespace) -> Exit:
    """Print the script."""
    # Loaded here: jinja2 is for this alone, and the parser of the command is made by whoever calls this.
    from ..cli import COMMANDS, parser  # noqa: PLC0415
    from ..completion.script import script  # noqa: PLC0415

    made = script(arguments.shell, parser(*COMMANDS))
    told = {"shell": arguments.shell, "script": made}
    sys.stdout.write(as_json(told) if arguments.format == JSON else made)
    return Exit.DONE
