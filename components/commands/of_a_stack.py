"""What commands about a deployed stack share: which project and stack they are about."""

import argparse
from pathlib import Path

from ..pulumi_cli.project import PulumiProject


def add_project(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("project", nargs="?", type=Path, default=Path(), metavar="PROJECT", help="its folder; this one")
    add_stack(parser)


def add_stack(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the stack alone."""
    parser.add_argument("--stack", metavar="NAME", help="the stack; the one that is selected if left out")


def project_of(arguments: argparse.Namespace) -> PulumiProject:
    """Return the project that is asked about."""
    return PulumiProject(arguments.project, arguments.stack)
