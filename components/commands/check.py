"""The command `check`: judge projects, print the findings, fix what needs no decision.

The answer is no when something mandatory is left. A file that cannot be understood, or a folder that holds nothing to
check, is refused.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

from ..check.exceptions import accepted, read_exceptions
from ..check.files import Files
from ..check.fixes import fix
from ..check.project import UNREADABLE, check_path
from ..check.report import FORMATS
from ..errors import UserError, visible
from ..facts.stack import Fact
from ..platform import api
from ..rules import MANDATORY, Finding
from .exits import Exit
from .formats import JSON, TEXT, add_format
from .terminal import coloured

_SEVERITIES: Final = re.compile(r"^\w+(?=: )", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", nargs="?", default=".", help="folder or file; the current folder if left out")
    add_format(parser, *sorted(FORMATS.keys() - {TEXT, JSON}), help="how findings are printed")
    parser.add_argument(
        "--severity", action="append", default=[], metavar="RULE=LEVEL", help="mandatory, advisory or off; repeatable"
    )
    parser.add_argument("--exceptions", metavar="FILE", help="accepted findings: rule, where, reason, expires")
    parser.add_argument("--fix", action="store_true", help="show mechanical remedies as a diff, then make them")
    parser.add_argument("--diff", action="store_true", help="show mechanical remedies as a diff only")
    parser.add_argument("--local", action="store_true", help="also look for a container engine on this machine")
    parser.add_argument(
        "--account",
        action="store_true",
        help="also ask the account that CLOUDFLARE_API_TOKEN opens; nothing is changed",
    )
    parser.add_argument("--today", type=_day, metavar="DATE", help="judge as of this day instead of today")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-16") from None


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    today = arguments.today or datetime.now(UTC).date()
    overrides = dict(_override(each) for each in arguments.severity)
    exemptions = read_exceptions(Path(arguments.exceptions)) if arguments.exceptions else []
    docker = _docker() if arguments.local else None
    result = check_path(Path(arguments.path), today=today, overrides=overrides, docker=docker)
    told = _by_account(Path(arguments.path), today, overrides) if arguments.account else []
    findings = accepted([*result.findings, *told], exemptions, today)
    if arguments.fix or arguments.diff:
        # Behind the findings of a format for programs a diff would be noise.
        shown = sys.stdout if arguments.format == TEXT else sys.stderr
        for each in fix(findings, Path.cwd()):
            shown.write(each.diff())
            shown.flush()
            if arguments.fix:
                try:
                    each.write()
                except OSError as error:
                    raise UserError(f"{each.name} is left as it was: {error.strerror or error}") from None
        if arguments.fix:
            result = check_path(Path(arguments.path), today=today, overrides=overrides, docker=docker)
            findings = accepted([*result.findings, *told], exemptions, today)
    report = FORMATS[arguments.format](findings, result.projects)
    sys.stdout.write(coloured(visible(report), _SEVERITIES, sys.stdout) if arguments.format == TEXT else report)
    if any(finding.rule == UNREADABLE for finding in findings):
        return Exit.REFUSED
    return Exit.NO if any(finding.severity == MANDATORY for finding in findings) else Exit.DONE


def _by_account(path: Path, today: date, overrides: Mapping[str, str]) -> list[Finding]:
    """Return what the account says against the stacks of a Pulumi project; what cannot be asked is refused."""
    from ..account.reader import account, asked  # noqa: PLC0415 - a check that asks nobody needs none of it
    from ..check.pulumi_project import read_settings  # noqa: PLC0415
    from ..doctor import account_findings  # noqa: PLC0415
    from ..rules import check as judged  # noqa: PLC0415
    from ..settings import SandboxSettings  # noqa: PLC0415
    from ..settings.facts import severities  # noqa: PLC0415

    stacks = read_settings(path) if path.is_dir() else {}
    if not stacks:
        raise UserError(f"--account: {path} has no settings of a stack; name the folder of a Pulumi project")
    found = []
    for stack, document in stacks.items():
        settings = SandboxSettings.parse(document)
        there = account(os.environ, settings.account_id)
        if there is None:
            raise UserError(f"--account: set {api.ACCOUNT_ID} and {api.TOKEN}, or leave it out")
        judge = partial(judged, today=today, overrides={**severities(settings.rules), **overrides})
        said = asked(partial(account_findings, settings, stack, there, path, judge))
        place = f"{Files(path).name(path / f'Pulumi.{stack}.yaml')}:1"
        found += [replace(each, where=place, what=f"{each.where}: {each.what}") for each in said]
    return found


def _override(text: str) -> tuple[str, str]:
    rule, equals, level = text.partition("=")
    if not equals:
        raise UserError(f"--severity {text}: write RULE=LEVEL, for example supply/pinned=off")
    return rule, level


def _docker() -> Fact[bool]:
    name = os.environ.get(api.DOCKER, "docker")
    return Fact(shutil.which(name) is not None, "PATH")
