"""What is missing before a stack is deployed: in its token, its account and its zones, and on this machine.

`examine` asks and changes nothing; `components/rules` judges what it is told. From Python::

    report = examine(settings, "dev", account(os.environ), folder=Path())
    assert not report.missing
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ..account import facts as account_facts
from ..account.question import question
from ..account.reader import Account
from ..bundle import packaged
from ..bundle.worker import project_of, sdk_version
from ..facts.stack import Fact, Package, Stack
from ..rules import Finding, check
from ..settings import SandboxSettings
from ..settings.facts import facts, severities
from . import machine
from .report import Examined, Report, of


def examine(
    settings: SandboxSettings,
    stack: str,
    account: Account,
    *,
    folder: Path,
    now: Callable[[], float] = time.time,
) -> Report:
    """Ask the account and this machine about a stack; return what is there and what is missing."""
    asked = question(settings, stack)
    told = account_facts.ask(account, asked, now)
    if told.deployed and settings.domain:
        port = settings.domain.local_port or account.local_port
        reached, unreached = machine.reach(_hosts(settings), port, local=account.local_port is not None)
        told = replace(told, account=replace(told.account, unreached=unreached))
    else:
        reached = ()
    builders = {kind.image.builder.engine for kind in settings.kinds if not kind.image.reference}
    tools = machine.tools(os.environ, builders)
    known = replace(told.onto(facts(settings, package(settings, folder))), tools=tools)
    today = datetime.fromtimestamp(now(), UTC).date()
    findings = check(known, today=today, overrides=severities(settings.rules))
    return of(Examined(asked, told, known, reached, tuple(findings)))


def account_findings(
    settings: SandboxSettings, stack: str, account: Account, folder: Path, judge: Callable[[Stack], list[Finding]]
) -> list[Finding]:
    """Return what is found in a stack with the account's word that is not found without it."""
    known = facts(settings, package(settings, folder))
    told = account_facts.ask(account, question(settings, stack))
    before = {(each.rule, each.where, each.what) for each in judge(known)}
    return [each for each in judge(told.onto(known)) if (each.rule, each.where, each.what) not in before]


def package(settings: SandboxSettings, folder: Path) -> Package:
    """Return which version of the SDK the Worker of a project is made with, as its lock file says."""
    own = settings.worker.entry
    project = project_of((folder / own).resolve()) if own else packaged.folder("worker_src")
    return Package("sdk", locked=Fact(None if settings.worker.bundle else sdk_version(project), "worker"))


def _hosts(settings: SandboxSettings) -> dict[str, str]:
    """Return hosts that a live stack answers at, by the setting: for previews any below the wildcard."""
    domain = settings.domain
    if domain is None:
        return {}
    api = {"domain.api_hostname": domain.api_hostname} if domain.api_hostname else {}
    return {"domain.hostname": f"doctor.{domain.hostname}", **api}


__all__ = ["Report", "account_findings", "examine"]
