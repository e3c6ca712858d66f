"""The command `orphans`: what an account still has that no stack knows any more, what it costs, and its deletion.

It changes nothing unless told to. With `--delete` it asks for each at a terminal; without one, only what is named by
its id is deleted, with `--yes`.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from ..account.address import account_client
from ..account.inventory import read_inventory
from ..account.items import WORDS, Key, Kind, read_key
from ..check.pulumi_project import read_settings
from ..errors import UserError, reading_or_writing
from ..orphans.backend import Backend, read_backend, read_project
from ..orphans.cleaning import GONE, Cleaning, Outcome
from ..orphans.findings import Finding, costs, find
from .exits import Exit, interruptible
from .formats import JSON, add_format, as_json
from .terminal import agrees, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. The token is none: arguments can be seen by others on the machine."""
    parser.add_argument("items", nargs="*", metavar="ID", help="these alone, by the ids that are printed")
    parser.add_argument(
        "--project",
        action="append",
        metavar="FOLDER",
        help="a Pulumi project whose stacks are asked about; repeatable; the current folder",
    )
    parser.add_argument(
        "--gone",
        action="append",
        default=[],
        metavar="STACK",
        help="a stack that is gone, and not in another backend; repeatable",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=[str(kind) for kind in Kind],
        metavar="KIND",
        help="do not look at these, nor judge by them; repeatable",
    )
    parser.add_argument("--delete", action="store_true", help="delete what is found, after asking for each")
    parser.add_argument("--delete-listed", metavar="FILE", help="delete those whose ids are in the file, one on a line")
    parser.add_argument("--yes", action="store_true", help="do not ask for what is named by its id")
    parser.add_argument(
        "--with-data", action="store_true", help="also buckets with objects, KV namespaces with keys, queues in use"
    )
    add_format(parser)
    parser.epilog = "Account and token are taken from CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN."


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    chosen = _chosen(arguments)
    deleting = arguments.delete or arguments.delete_listed is not None
    if deleting and not (arguments.yes or sys.stdin.isatty()):
        raise UserError("--delete: nobody is here to be asked; name what to delete by its ids, and add --yes")
    if arguments.yes and not (deleting and chosen):
        raise UserError("--yes: is for what is named by its id; name the items, or leave --yes out to be asked")
    client, account_id = account_client(os.environ)
    backend = _backend(arguments)
    progress("reading the account …", sys.stderr)
    inventory = read_inventory(client, account_id, frozenset(Kind) - {Kind(each) for each in arguments.without})
    progress("", sys.stderr)
    findings = find(inventory, backend.known(inventory))
    if chosen:
        findings = _those(findings, chosen)
    elif deleting:
        findings = [each for each in findings if each.deletable]
    if not deleting:
        _show(arguments.format, findings, [])
        if not (findings or arguments.gone):
            _say("A stack that is gone may have left things that only its name tells: give it with --gone.")
        return Exit.NO if findings else Exit.DONE
    cleaning = Cleaning(client, inventory, backend, with_data=arguments.with_data, say=_say)
    outcomes = _delete(cleaning, findings, ask=not arguments.yes)
    missing = [key for key in chosen if key not in {each.item.key for each in findings}]
    _show(arguments.format, findings, outcomes, missing)
    left = [each for each in outcomes if not each.deleted and each.why != GONE]
    return Exit.NO if left or len(outcomes) < len(findings) else Exit.DONE


def _chosen(arguments: argparse.Namespace) -> list[Key]:
    """Return what is named by its id, in arguments and in a file."""
    lines = list(arguments.items)
    if arguments.delete_listed is not None:
        path = Path(arguments.delete_listed)
        with reading_or_writing(path, "name a file with an id on each line"):
            text = path.read_text(encoding="utf-8", errors="replace")
        lines += [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        if not lines:
            raise UserError(f"{path}: has no id; write one on each line, as `{_COMMAND}` prints them")
    keys = {line: read_key(line) for line in lines}
    for line, key in keys.items():
        if key is None:
            raise UserError(f"{line}: is no id; write it as `{_COMMAND}` prints it, such as bucket:sandbox-dev-files")
    return [key for key in keys.values() if key]


_COMMAND: Final = "sandbox-stack orphans"


def _backend(arguments: argparse.Namespace) -> Backend:
    folders = [Path(each) for each in arguments.project or ["."]]
    projects = [read_project(each, read_settings(each) if each.is_dir() else {}, arguments.gone) for each in folders]
    return read_backend(projects)


def _those(findings: Sequence[Finding], chosen: Iterable[Key]) -> list[Finding]:
    wanted = set(chosen)
    return [each for each in findings if each.item.key in wanted]


def _delete(cleaning: Cleaning, findings: Sequence[Finding], *, ask: bool) -> list[Outcome]:
    agreed = [each for each in findings if not ask or agrees(f"{_entry(each)}\nDelete it?")]
    outcomes: list[Outcome] = []
    try:
        with interruptible():
            for outcome in cleaning.delete(agreed):
                outcomes.append(outcome)
                done = "deleted" if outcome.deleted else f"kept: {outcome.why}"
                _say(f"{outcome.finding.item.key} {done}")
    except KeyboardInterrupt:
        sys.stderr.write(f"{len(outcomes)} of {len(agreed)} were dealt with; run it again for the rest.\n")
        raise
    return outcomes


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _show(form: str, findings: Sequence[Finding], outcomes: Sequence[Outcome], missing: Sequence[Key] = ()) -> None:
    if form == JSON:
        sys.stdout.write(as_json(_document(findings, outcomes, missing)))
        return
    deleted = {each.finding.item.key for each in outcomes if each.deleted}
    left = [each for each in findings if each.item.key not in deleted]
    lines = [_entry(each) for each in left]
    lines += [f"{key} was not found, or is needed" for key in missing]
    lines.append(_summary(left, len(deleted)))
    sys.stdout.write("\n".join(lines) + "\n")


def _document(findings: Sequence[Finding], outcomes: Sequence[Outcome], missing: Sequence[Key]) -> dict[str, Any]:
    return {
        "found": [each.document() for each in findings],
        "month": round(costs(findings), 2),
        "deleted": [str(each.finding.item.key) for each in outcomes if each.deleted],
        "kept": [{"id": str(each.finding.item.key), "why": each.why} for each in outcomes if not each.deleted],
        "missing": [str(key) for key in missing],
    }


def _entry(finding: Finding) -> str:
    item = finding.item
    cost = f"\n    {finding.cost.text}, a month" if finding.cost else ""
    return f"{item.key}\n    {WORDS[item.kind]} {item.name}: {finding.reason}{_whose(finding)}{cost}"


def _whose(finding: Finding) -> str:
    if finding.foreign:
        return f" (of {finding.owner}, whose project was not named: never deleted)"
    return "" if finding.owner.project else " (unknown owner: not deleted unless named by its id)"


def _summary(left: Sequence[Finding], deleted: int) -> str:
    parts = [f"{deleted} deleted"] if deleted else []
    if not left:
        return ", ".join([*parts, "nothing is left behind"])
    unsure = sum(not each.deletable for each in left)
    parts.append(f"{len(left)} left behind" + (f", {unsure} of them perhaps not" if unsure else ""))
    return f"{', '.join(parts)}; at most ${costs(left):,.2f} a month, and what is stored"
