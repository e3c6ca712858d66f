"""The command `export`: the wrangler configuration of a stack's settings, for `wrangler dev`, `types` and `tail`."""

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from ..bundle import packaged
from ..bundle.worker import sdk_version
from ..errors import reading_or_writing
from ..wrangler.export import Exported, Place, exported
from ..wrangler.project import ProjectError, write
from .exits import Exit
from .formats import JSON, add_format, as_json
from .projects import add_project, chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_project(parser)
    parser.add_argument("--out", metavar="FILE", help="where to write it, such as wrangler.jsonc; printed if left out")
    parser.add_argument("--replace", action="store_true", help="write over a file that this command wrote before")
    add_format(parser, help="json is without comments, and has what the configuration does not say")


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    place, made = _made(arguments)
    if arguments.out:
        _write(Path(arguments.out), made.text(place), again=arguments.replace)
    if arguments.format == JSON:
        sys.stdout.write(as_json({"configuration": made.configuration, "unsaid": made.unsaid}))
    elif not arguments.out:
        sys.stdout.write(made.text(place))
    return Exit.DONE


def _made(arguments: argparse.Namespace) -> tuple[Place, Exported]:
    folder = Path(arguments.project)
    stack, settings = chosen(folder, arguments.stack)
    with reading_or_writing(arguments.out or folder, _ELSEWHERE):
        home = Path(arguments.out).resolve().parent if arguments.out else Path.cwd()
        way = Path(os.path.relpath(folder.resolve(), home)).as_posix()
    source = packaged.folder("worker_src")
    place = Place(
        stack=stack,
        owner=f"the Pulumi stack {stack} in {'this folder' if way == '.' else way}",
        prefix="" if way == "." else f"{way}/",
        packaged=Path(os.path.relpath(source / "src" / "index.ts", home)).as_posix(),
        sdk_version=sdk_version(source),
    )
    return place, exported(settings, place)


_ELSEWHERE: Final = "name another place, or leave --out out to have it printed"
_OURS: Final = "// Made by `sandbox-stack export`."


def _write(path: Path, text: str, *, again: bool) -> None:
    if not os.path.lexists(path):
        write(path.parent, {path.name: text})
        return
    with reading_or_writing(path, _ELSEWHERE):
        ours = path.is_file() and path.read_text(encoding="utf-8", errors="replace").startswith(_OURS)
    if not ours:
        raise ProjectError(
            f"{path} is there already, and is not of this command: --replace spares it too; move it away"
        )
    if not again:
        raise ProjectError(f"{path} is there already; write over it with --replace")
    beside = path.with_name(f"{path.name}.new")
    write(path.parent, {beside.name: text})
    with reading_or_writing(path, _ELSEWHERE):
        beside.replace(path)
