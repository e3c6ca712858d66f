"""The command `cost`: what a stack costs a month by list prices, from settings, a preview, a workload or the account.

An estimate and no bill: what it takes for granted is printed with it. Only `--usage` asks anybody, and reads alone.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..cost import chart, plan, tables, usage
from ..cost.change import as_document as change_document
from ..cost.change import priced
from ..cost.change import rows as change_rows
from ..cost.change import small_print as change_small_print
from ..cost.comment import folded
from ..cost.estimate import Assumptions, assume, estimate
from ..cost.of_settings import of_settings
from ..cost.preview_file import read_change
from ..cost.workload import Workload, idle_hours
from ..errors import UserError, reading_or_writing
from ..platform.sdk import SLEEP_AFTER, SLEEP_VARIABLE
from ..settings import SandboxSettings
from .exits import Exit
from .formats import JSON, TEXT, add_format, as_json
from .projects import add_project, chosen

MARKDOWN: Final = "markdown"
_USUAL: Final = {"arrivals": 30, "minutes": 5, "sandboxes": 50, "seed": 1}
"""Of a workload, where nothing is said."""


@dataclass(frozen=True)
class Shown:
    """What is printed, in whatever format."""

    table: Sequence[tables.Row]
    notes: Sequence[str]
    document: dict[str, Any]
    heading: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_project(parser)
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument(
        "--preview", metavar="FILE", help="price what a change does: output of `pulumi preview --json --show-sames`"
    )
    sources.add_argument("--workload", action="store_true", help="simulate arrivals on the main kind of sandbox")
    sources.add_argument("--usage", action="store_true", help="ask the account which instances are awake now")
    parser.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="assume otherwise; docs/cost.md has the names",
    )
    parser.add_argument(
        "--beside-others", action="store_true", help="take nothing off: other stacks use up what the plan includes"
    )
    load = parser.add_argument_group("of a workload")
    load.add_argument("--arrivals", type=float, metavar="NUMBER", help="arrivals an hour (30)")
    load.add_argument("--minutes", type=float, metavar="NUMBER", help="minutes of use each, on average (5)")
    load.add_argument(
        "--sandboxes",
        type=int,
        metavar="NUMBER",
        help="different sandboxes they go to (50); 0: a new one each",
    )
    load.add_argument("--idle", metavar="TIME", help="how long an unused one stays awake, as 10m; else as settings say")
    load.add_argument("--seed", type=int, metavar="NUMBER", help="the same seed gives the same month (1)")
    load.add_argument("--svg", metavar="FILE", help="also draw a day of it")
    add_format(parser, MARKDOWN, help="markdown is a comment for pull requests")


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    said = assume(arguments.assume)
    _refuse_what_counts_for_nothing(arguments)
    if arguments.usage:
        shown = _usage()
    elif arguments.preview:
        shown = _preview(arguments, said)
    elif arguments.workload:
        shown = _workload(arguments, said)
    else:
        shown = _settings(arguments, said)
    sys.stdout.write(_FORMATS[arguments.format](shown))
    return Exit.DONE


def _refuse_what_counts_for_nothing(arguments: argparse.Namespace) -> None:
    """An option that changes no number would let somebody believe that it did."""
    if arguments.svg and not arguments.workload:
        raise UserError("--svg: draws a workload; add --workload")
    for name in ("idle", *_USUAL):
        if getattr(arguments, name) is not None and not arguments.workload:
            raise UserError(f"--{name}: is of a workload; add --workload")
    if arguments.usage and (arguments.assume or arguments.beside_others):
        name = "--assume" if arguments.assume else "--beside-others"
        raise UserError(f"{name}: the account is asked, and nothing assumed; leave {name} or --usage out")


def _text(shown: Shown) -> str:
    heading = f"{shown.heading}\n\n" if shown.heading else ""
    return heading + tables.as_text(shown.table) + "\n" + "".join(f"- {note}\n" for note in shown.notes)


def _markdown(shown: Shown) -> str:
    heading = f"{shown.heading}\n\n" if shown.heading else ""
    return heading + folded(tables.as_markdown(shown.table), shown.notes)


def _json(shown: Shown) -> str:
    return as_json(shown.document)


_FORMATS: Final = {TEXT: _text, MARKDOWN: _markdown, JSON: _json}


def _settings(arguments: argparse.Namespace, said: Assumptions) -> Shown:
    found = estimate(of_settings(_stack(arguments)), said, alone=not arguments.beside_others)
    return Shown(tables.rows(found), tables.small_print(found), tables.as_document(found))


def _preview(arguments: argparse.Namespace, said: Assumptions) -> Shown:
    with reading_or_writing(arguments.preview, "name a file that `pulumi preview --json` wrote"):
        text = Path(arguments.preview).read_text(encoding="utf-8", errors="replace")
    found = priced(read_change(text, arguments.preview), said, alone=not arguments.beside_others)
    return Shown(change_rows(found), change_small_print(found), change_document(found))


def _workload(arguments: argparse.Namespace, said: Assumptions) -> Shown:
    settings, alone = _stack(arguments), not arguments.beside_others
    billed = of_settings(settings)
    if not billed.instances:
        raise UserError("--workload: with SDK 1.x the Worker's code chooses size and number of instances")
    idle = arguments.idle or settings.worker.variables.get(SLEEP_VARIABLE) or SLEEP_AFTER
    hours = idle_hours(idle, "--idle" if arguments.idle else f"worker.variables.{SLEEP_VARIABLE}")
    given = {name: getattr(arguments, name) for name in _USUAL}
    asked = {name: _USUAL[name] if value is None else value for name, value in given.items()}
    load = Workload(asked["arrivals"], asked["minutes"], asked["sandboxes"], hours)
    found = plan.plan(load, asked["seed"], billed, said, alone=alone)
    if arguments.svg:
        with reading_or_writing(arguments.svg, "name another file"):
            Path(arguments.svg).write_text(chart.drawing(found, plan.heading(found)))
    notes = plan.small_print(found, said, alone=alone)
    return Shown(plan.rows(found), notes, plan.as_document(found), plan.heading(found))


def _usage() -> Shown:
    found = usage.usage(os.environ)
    return Shown(usage.rows(found), [usage.HONESTLY], usage.as_document(found))


def _stack(arguments: argparse.Namespace) -> SandboxSettings:
    return chosen(Path(arguments.project), arguments.stack)[1]
