"""What commands about a stack of a Pulumi project take: the folder, and which stack where there are several."""

import argparse
from pathlib import Path

from ..check.files import is_folder
from ..check.pulumi_project import read_settings
from ..settings import SandboxSettings
from ..wrangler.project import ProjectError


def add_project(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("project", nargs="?", default=".", help="folder of the Pulumi project")
    parser.add_argument("--stack", metavar="NAME", help="the stack; to be named where there are several")


def chosen(folder: Path, named: str | None) -> tuple[str, SandboxSettings]:
    """Return a stack of a project with its settings: the one that is named, or the only one."""
    if not is_folder(folder):
        raise ProjectError(f"{folder}: there is no such folder; name that of a Pulumi project")
    stacks = read_settings(folder)
    if not stacks:
        raise ProjectError(
            f"{folder}: there is no Pulumi.<stack>.yaml with settings; name the folder of a Pulumi project"
        )
    names = ", ".join(sorted(stacks))
    if named is None and len(stacks) != 1:
        raise ProjectError(f"{folder} has the stacks {names} with settings; name one with --stack")
    stack = named or next(iter(stacks))
    if stack not in stacks:
        raise ProjectError(f"{folder} has no stack {stack} with settings ({names})")
    return stack, SandboxSettings.parse(stacks[stack])
