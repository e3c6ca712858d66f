"""One tenant's stack on the engine, through Pulumi's Automation API: brought up, or taken down, with what came of it.

The programs run in this process. Pulumi keeps what belongs to one run in context variables, so several run at once;
what they share is the build folder, which `SandboxStack` fills for one after the other, and the engine's note of the
selected stack, which is written under a lock.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pulumi
from pulumi import automation

from ..platform import api
from ..settings import SandboxSettings, SettingsError
from ..stack import TYPE, SandboxStack
from .outcome import Outcome, Status
from .plan import one_line
from .reasons import Complaint, hidden, is_cancelled, reason

_WORDS: Final = {"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted"}
_ENGINES_OWN: Final = ("pulumi:pulumi:Stack", "pulumi:providers:")
_HELD: Final = "another run holds the stack; wait for it, or if it has died run `pulumi cancel --stack {}`"
_STOPPED: Final = "stopped under way, its state is saved; run it again to go on"


class _NotOursError(Exception):
    """The stack holds something that was not deployed for a tenant."""


@dataclass(frozen=True)
class Place:
    """Where the stacks of all tenants are."""

    folder: Path
    command: automation.PulumiCommand
    selecting: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class _Heard:
    """What the engine told of one run."""

    complaints: list[Complaint] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)

    def __call__(self, event: automation.EngineEvent) -> None:
        told = event.diagnostic_event
        if told and told.severity == "error":
            self.complaints.append(Complaint(told.urn or "", told.message))
        if event.summary_event:
            counts = {str(op): count for op, count in event.summary_event.resource_changes.items()}
            self.changes = {word: counts[op] for op, word in _WORDS.items() if counts.get(op)}


def up(place: Place, name: str, settings: SandboxSettings, secrets: Mapping[str, str]) -> Outcome:
    """Bring a tenant's stack to its settings."""

    def program() -> None:
        values = {key: pulumi.Output.secret(value) for key, value in secrets.items()}
        try:
            stack = SandboxStack(name, settings, secrets=values, folder=place.folder)
        except SettingsError as error:
            raise pulumi.RunError(one_line(error)) from None
        except Exception as error:  # noqa: BLE001 - of others the engine shows a traceback
            raise pulumi.RunError(str(error)) from None
        for output, value in stack.outputs().items():
            pulumi.export(output, value)

    def deploy(heard: _Heard) -> tuple[Status, Mapping[str, Any]]:
        stack = _stack(place, name, program, automation.create_or_select_stack)
        _require_own(stack, name)
        outputs = stack.up(on_event=heard, color="never", suppress_outputs=True).outputs
        shown = {key: output.value for key, output in outputs.items() if not output.secret}
        return (Status.CHANGED if heard.changes else Status.UNCHANGED), shown

    return _tried(name, secrets, deploy)


def down(place: Place, name: str) -> Outcome:
    """Destroy a tenant's stack and forget it."""

    def destroy(heard: _Heard) -> tuple[Status, Mapping[str, Any]]:
        try:
            stack = _stack(place, name, lambda: None, automation.select_stack)
        except automation.StackNotFoundError:
            return Status.GONE, {}
        _require_own(stack, name)
        stack.destroy(on_event=heard, color="never")
        stack.workspace.remove_stack(name)
        return Status.GONE, {}

    return _tried(name, {}, destroy)


def _tried(
    name: str,
    secrets: Mapping[str, str],
    action: Callable[[_Heard], tuple[Status, Mapping[str, Any]]],
) -> Outcome:
    """Act, and turn whatever happens into an outcome: no tenant's trouble is another's."""
    heard, begun = _Heard(), time.monotonic()
    outputs: Mapping[str, Any] = {}
    unspeakable = [*secrets.values(), os.environ.get(api.TOKEN, "")]
    try:
        status, outputs = action(heard)
        why = ""
    except automation.ConcurrentUpdateError:
        status, why = Status.FAILED, _HELD.format(name)
    except automation.CommandError as error:
        if is_cancelled(heard.complaints, str(error)):
            status, why = Status.INTERRUPTED, _STOPPED
        else:
            status, why = Status.FAILED, reason(heard.complaints, str(error), unspeakable)
    except _NotOursError as error:
        status, why = Status.FAILED, str(error)
    except Exception as error:  # noqa: BLE001 - it is told in the table, and the others go on
        status, why = Status.FAILED, hidden(f"{type(error).__name__}: {error}", unspeakable)
    return Outcome(name, status, round(time.monotonic() - begun, 1), heard.changes, outputs, why)


def _stack(
    place: Place, name: str, program: Callable[[], None], find: Callable[..., automation.Stack]
) -> automation.Stack:
    options = automation.LocalWorkspaceOptions(work_dir=str(place.folder), pulumi_command=place.command)
    with place.selecting:
        # The project's name counts only where there is no Pulumi.yaml.
        return find(name, project_name=place.folder.name, program=program, opts=options)


def _require_own(stack: automation.Stack, name: str) -> None:
    """Refuse a stack that is not a tenant's: what it holds would be deleted."""
    deployment: Any = stack.export_stack().deployment
    held = [each for each in (deployment or {}).get("resources") or () if not each["type"].startswith(_ENGINES_OWN)]
    if held and not any(each["type"] == TYPE and each["urn"].endswith(f"::{name}") for each in held):
        raise _NotOursError(
            f"stack {name} holds something else than a tenant's sandboxes, which would be deleted; give the tenants a "
            "project of their own, or this one another name"
        )
