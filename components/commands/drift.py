"""The command `drift`: what somebody changed in the account beside Pulumi. Changes nothing, for a schedule."""

import argparse
import sys

from ..deployed import drift
from ..errors import UserError
from .exits import Exit
from .formats import JSON, add_format, as_json
from .of_a_stack import add_project, project_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_project(parser)
    add_format(parser)
    parser.epilog = (
        "Ends with 0 where the account is what the state says, with 1 where it is not, and with 2 where that cannot be "
        "told. Asks by `pulumi refresh --preview-only`, which writes nothing; secrets are shown as [secret]."
    )


def run(arguments: argparse.Namespace) -> Exit:
    """Ask, and print what was found."""
    project = project_of(arguments)
    done = project.run(*drift.ARGUMENTS)
    if done.returncode:
        said = done.stderr.strip().removeprefix("error: ") or drift.complaint(done.stdout)
        raise UserError(f"pulumi refresh: {said or f'ended with {done.returncode}'}")
    found = drift.read_refresh(done.stdout)
    document = {"drift": bool(found), "differences": [each.document for each in found]}
    sys.stdout.write(as_json(document) if arguments.format == JSON else drift.table(found))
    return Exit.NO if found else Exit.DONE
