"""The command `policy`: where the policy pack of this package lies, for `pulumi preview --policy-pack`."""

import argparse
import sys

from ..bundle import packaged
from .exits import Exit
from .formats import JSON, add_format, as_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_format(parser)


def run(arguments: argparse.Namespace) -> Exit:
    """Print the folder."""
    folder = str(packaged.folder("policy"))
    sys.stdout.write(as_json({"folder": folder}) if arguments.format == JSON else f"{folder}\n")
    return Exit.DONE
