"""The command `pr`: a stack of its own for each pull request, told in one comment, and taken away when it is over.

Forks get none: what a stranger wrote would run with the account's token. That is told and is no failure.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from ..account.address import account_client
from ..check.project import check_path
from ..check.pulumi_project import read_settings
from ..cost.comment import cost_comment
from ..errors import UserError
from ..facts.stack import Fact
from ..pull_requests import comment
from ..pull_requests.forges import forge, github, gitlab
from ..pull_requests.forges.forge import Forge
from ..pull_requests.lease import lasting, stack_of
from ..pull_requests.stacks import RequestStack, project_name
from ..pull_requests.sweep import Fate, Report, Row, down, sweep
from ..pull_requests.takeaway import Tools
from ..pull_requests.up import Done, Judge, Wanted, up
from ..pulumi_cli.project import PulumiProject
from ..rules import Finding
from ..settings import SandboxSettings
from .exits import Exit, interruptible
from .formats import JSON, add_format, as_json

_ACTIONS: Final = {
    "up": "make or update the stack of a request, like another stack but throw-away and with names of its own",
    "down": "take the stack of a request away completely",
    "sweep": "take away the stacks of all requests that are closed, or whose time is over; run it by schedule",
}
_TAKEN_BY: Final = {
    "number": ("up", "down"),
    "template": ("up",),
    "expires_in": ("up",),
    "budget": ("up",),
    "dry_run": ("sweep",),
    "parallel": ("sweep",),
}
"""Options that only some actions take."""
_SPELT: Final = {"template": "from"}
_LARGEST: Final = 10**9
_LASTS: Final = "7d"
_AT_ONCE: Final = 4
_STALE: Final = "1h"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. No token is one: arguments can be seen by others on the machine."""
    parser.add_argument("action", choices=_ACTIONS, metavar="ACTION", help="what to do: see below")
    parser.add_argument("--number", type=_number, metavar="N", help="up, down: number of the request")
    parser.add_argument("--from", dest="template", metavar="STACK", help="up: the stack to make it like")
    parser.add_argument("--expires-in", metavar="TIME", help=f"up: how long it lives at most, such as 12h; {_LASTS}")
    parser.add_argument("--budget", type=_dollars, metavar="DOLLARS", help="up: the most that a month may cost")
    parser.add_argument("--comment", action="store_true", help="tell it in the one comment on the request")
    parser.add_argument("--dry-run", action="store_true", help="sweep: say what would go, and change nothing")
    parser.add_argument("--parallel", type=_few, metavar="N", help=f"sweep: stacks at a time; {_AT_ONCE}")
    parser.add_argument(
        "--stale-after", default=_STALE, metavar="TIME", help=f"age of another machine's lock that is void; {_STALE}"
    )
    parser.add_argument(
        "--project", type=Path, default=Path(), metavar="FOLDER", help="of the project; the current one"
    )
    add_format(parser)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["actions:", *(f"  {name:<8}{text}" for name, text in _ACTIONS.items())])


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) < _LARGEST and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a request")
    return int(text)


def _dollars(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < _LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of dollars above 0")
    return value


def _few(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:3]) <= 32 and len(text) < 3):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 32")
    return int(text)


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    given, action = vars(arguments), arguments.action
    for name, actions in _TAKEN_BY.items():
        spelt = _SPELT.get(name, name).replace("_", "-")
        if given[name] and action not in actions:
            raise UserError(f"--{spelt} is for {' and '.join(actions)}, not {action}")
    for name in ("number", "template"):
        if action in _TAKEN_BY[name] and not given[name]:
            raise UserError(f"{action} needs --{_SPELT.get(name, name)}")
    with interruptible():
        return {"up": _up, "down": _down, "sweep": _sweep}[action](arguments, os.environ)


def _up(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Exit:
    lasts = lasting(arguments.expires_in or _LASTS)
    if github.is_from_fork(environment) or gitlab.is_from_fork(environment):
        return _nothing_for_forks(arguments)
    found = _forge(environment, needed="--comment" if arguments.comment else "")
    account_client(environment)  # a run without an account would fail later, and not as plainly
    stack = _stack(arguments)
    request = found.address(arguments.number) if found else ""
    wanted = Wanted(arguments.template, lasts, request, _run(environment))
    done = up(stack, wanted, _judge(arguments.budget), _words(arguments))
    project = project_name(arguments.project)
    body = comment.body(project, done.told)
    place = found.tell(arguments.number, body) if found and arguments.comment else None
    _say_up(arguments, done, body, place)
    return Exit.NO if done.refused or done.failed else Exit.DONE


def _nothing_for_forks(arguments: argparse.Namespace) -> Exit:
    why = "it comes from a fork, whose code must not run with the account's token, so it gets no stack"
    if arguments.format == JSON:
        sys.stdout.write(as_json({"stack": None, "verdict": "none", "why": why}))
    else:
        sys.stdout.write(f"request {arguments.number}: {why}\n")
    return Exit.DONE


def _say_up(arguments: argparse.Namespace, done: Done, body: str, place: str | None) -> None:
    if arguments.format != JSON:
        sys.stdout.write(body.partition("\n")[2])
        if place:
            sys.stdout.write(f"\nTold at {place}\n")
        return
    told = done.told
    plan = told.plan
    shown = {
        "stack": told.stack,
        "verdict": told.verdict,
        "outputs": told.outputs,
        "changes": plan.counts if plan else {},
        "findings": [vars(each) for each in told.findings],
        "notes": list(told.notes),
        "expires": told.expires and told.expires.isoformat(),
        "comment": place,
    }
    sys.stdout.write(as_json(shown))


def _down(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Exit:
    found = _forge(environment, needed="--comment" if arguments.comment else "")
    stack = _stack(arguments)
    request = found.address(arguments.number) if found else ""
    report = down(stack, request, _tools(arguments, environment))
    if arguments.comment and found and not report.failed:
        goodbye = _goodbye(arguments)
        found.tell(arguments.number, goodbye(stack.name, report.rows[0].why), anew=False)
    return _reported(arguments, report, locked_is_no=True)


def _sweep(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Exit:
    found = forge.needed(_forge(environment), "a sweep")
    report = sweep(
        PulumiProject(arguments.project),
        found,
        _tools(arguments, environment),
        dry_run=arguments.dry_run,
        goodbye=_goodbye(arguments) if arguments.comment else None,
        patience=lasting(arguments.stale_after),
    )
    return _reported(arguments, report)


def _reported(arguments: argparse.Namespace, report: Report, *, locked_is_no: bool = False) -> Exit:
    if arguments.format == JSON:
        rows = [{**vars(row), "leftovers": list(row.leftovers)} for row in report.rows]
        sys.stdout.write(as_json({"stacks": rows, "not_looked_for": list(report.unread)}))
    else:
        sys.stdout.write(_table(report))
    stayed = locked_is_no and any(row.fate is Fate.STAYS for row in report.rows)
    return Exit.NO if report.failed or stayed else Exit.DONE


def _table(report: Report) -> str:
    if not report.rows:
        return "No request has a stack.\n"
    width = max(len(row.stack) for row in report.rows)
    lines = [line for row in report.rows for line in _lines(row, width)]
    counts = {each: sum(row.fate is each for row in report.rows) for each in Fate}
    lines += [f"not looked for: {each}" for each in report.unread]
    lines.append(", ".join(f"{count} {each}" for each, count in counts.items() if count))
    return "\n".join(lines) + "\n"


def _lines(row: Row, width: int) -> Sequence[str]:
    first, *more = row.why.splitlines() or [""]
    indent = " " * (width + 10)
    left = f"not in its state: {', '.join(row.leftovers)}"
    return [
        f"{row.stack:<{width}}  {row.fate:<6}  {first}",
        *(f"{indent}{line}" for line in more),
        *([f"{indent}{left}"] if row.leftovers else []),
    ]


def _forge(environment: Mapping[str, str], *, needed: str = "") -> Forge | None:
    found = forge.forge(environment)
    return forge.needed(found, needed) if needed else found


def _tools(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Tools:
    return Tools.of(environment, arguments.parallel or _AT_ONCE, _say)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _stack(arguments: argparse.Namespace) -> RequestStack:
    project = PulumiProject(arguments.project, stack_of(arguments.number))
    return RequestStack(arguments.number, project, lasting(arguments.stale_after))


def _judge(budget: float | None) -> Judge:
    def findings(path: Path) -> Sequence[Finding]:
        limit = Fact(budget, "--budget") if budget else None
        return check_path(path, today=datetime.now(UTC).date(), budget=limit).findings

    # The template's stack is there too, and uses up what the account's plan includes.
    return Judge(_settings, findings, lambda settings: cost_comment(settings, alone=False))


def _settings(folder: Path, stack: str) -> SandboxSettings:
    known: Mapping[str, Any] = read_settings(folder, stack)
    if stack not in known:
        raise UserError(
            f"{folder / f'Pulumi.{stack}.yaml'}: has no settings to make a stack like; name another stack with --from. "
            "A program that has the settings in its code has to read them from the configuration instead"
        )
    return SandboxSettings.parse(known[stack])


def _goodbye(arguments: argparse.Namespace) -> Callable[[str, str], str]:
    project = project_name(arguments.project)
    return lambda stack, why: comment.gone(project, stack, why, datetime.now(UTC))


def _run(environment: Mapping[str, str]) -> str:
    """Return the address of the job."""
    server, repository, run_id = (environment.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    if server and repository and run_id:
        return f"{server}/{repository}/actions/runs/{run_id}"
    return environment.get("CI_JOB_URL", "")


def _words(arguments: argparse.Namespace) -> TextIO:
    """Return where Pulumi's own words go: beside the document for programs."""
    return sys.stderr if arguments.format == JSON else sys.stdout
