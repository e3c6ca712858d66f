"""The command `policy`: where the policy pack of this package lies, for `pulumi preview --policy-pack`."""

import argparse
import sys
from typing import Final

from ..bundle import packaged

HELP: Final = "print the folder of the policy pack, for `pulumi preview --policy-pack`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: there are none."""
    del parser


def run(arguments: argparse.Namespace) -> int:
    """Print the folder."""
    del arguments
    sys.stdout.write(f"{packaged.folder('policy')}\n")
    return 0
