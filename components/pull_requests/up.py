"""Makes a request's stack, or brings it up to date: recorded first, judged, deployed, told.

The order is what keeps it honest: the lease is there before anything is made, and what the rules refuse is not made.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TextIO

from ..rules import MANDATORY, Finding
from ..settings import SandboxSettings
from .comment import Told
from .derive import derived
from .lease import Lease, hosts_of
from .stacks import RequestStack, request_stacks

_SETTINGS: Final = "settings"


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    template: str
    """The stack whose settings it is made like."""
    lasts: timedelta
    request: str = ""
    """Address of the request; empty outside of jobs."""
    run: str = ""
    """Address of the job."""


@dataclass(frozen=True)
class Judge:
    """What the room of commands lends: the settings as the program has them, the rules, and the prices."""

    settings: Callable[[Path, str], SandboxSettings]
    """By folder and stack."""
    findings: Callable[[Path], Sequence[Finding]]
    """By the file of a stack's settings."""
    cost: Callable[[SandboxSettings], str]


@dataclass(frozen=True)
class Done:
    """What became of it."""

    told: Told
    refused: bool = False
    failed: bool = False


def up(stack: RequestStack, wanted: Wanted, judge: Judge, out: TextIO) -> Done:
    """Make or update the stack; what the rules refuse is not deployed."""
    template = judge.settings(stack.pulumi.folder, wanted.template)
    if stack.number in request_stacks(stack.pulumi):
        stack.require_ours(wanted.request)
    else:
        stack.make(wanted.template)
    notes = _configure(stack, wanted.template, template.name)
    settings = judge.settings(stack.pulumi.folder, stack.name)
    expires = (datetime.now(UTC) + wanted.lasts).replace(microsecond=0)
    stack.agree(Lease(expires, settings.name, wanted.request, hosts_of(settings.domain)))
    told: dict[str, Any] = {
        "stack": stack.name,
        "findings": judge.findings(stack.file),
        "cost": judge.cost(settings),
        "notes": notes,
        "expires": expires,
        "run": wanted.run,
    }
    if any(each.severity == MANDATORY for each in told["findings"]):
        return Done(Told(verdict="refused by the rules, nothing was changed", **told), refused=True)
    code, plan = stack.up(out)
    if code:
        return Done(Told(verdict="failed", plan=plan, **told), failed=True)
    return Done(Told(verdict="up", plan=plan, outputs=stack.outputs(), **told))


def _configure(stack: RequestStack, template: str, name: str) -> list[str]:
    """Write the stack's own settings; return what differs from the other stack's, which are known to be there."""
    document = stack.configure_like(template)
    config = document["config"]
    key = next(each for each in config if each.rpartition(":")[2] == _SETTINGS)
    found = derived(config[key], name, stack.name)
    stack.write({**document, "config": {**config, key: found.document}})
    return found.notes
