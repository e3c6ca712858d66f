"""A stack on this machine, without an account: `up` deploys it to an emulator, `down` leaves nothing behind."""

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from tools.errors import DeployError, SetupError
from tools.local import bases, builder, emulator, engine, inputs, settings
from tools.local.bases import Bases
from tools.local.builder import Builder
from tools.local.emulator import Emulated
from tools.local.engine import Engine
from tools.local.inputs import Machine
from tools.local.stack import CHECKOUT, LocalStack
from tools.setup import install

_BUCKET: Final = "cloudflare:index/r2Bucket:R2Bucket"
_WORKER: Final = "cloudflare-sandbox:index:WorkerScript"


@dataclass(frozen=True)
class Deployed:
    """A stack that is up."""

    cloudflare: Emulated
    outputs: dict[str, Any]
    workers: tuple[str, ...]
    """Names of the Workers that the stack deployed."""
    has_key: bool
    """Whether the settings let the API key of this machine in."""
    has_own_worker: bool
    why_no_sandboxes: str


def up(stack: LocalStack, out: TextIO, *, zones: Sequence[str] = ()) -> Deployed:
    """Deploy the stack and say what exists now; `zones` are further ones that the account is to have."""
    tools = install.ensure()
    with stack.locked():
        wanted = settings.original(stack)
        key = settings.takes_settings(stack, wanted)
        sandbox = wanted.get(key, {}) if key else {}
        sandbox = {} if sandbox is None else sandbox
        emulator.fetch_runtime(tools, out)
        cloudflare = emulator.start(tools, stack)
        pulumi = engine.isolated(tools, stack.folder, extra=cloudflare.env)
        _prepare(stack, pulumi)
        wanted = settings.openable(stack, wanted)
        completes = bool(key) and isinstance(sandbox, dict)
        if named := list(dict.fromkeys([*zones, *(inputs.zones(sandbox) if completes else ())])):
            cloudflare.control("/accounts", {"id": cloudflare.account_id, "zones": named})
        base = bases.chosen(tools, cloudflare)
        registry = urlsplit(cloudflare.base_url).netloc
        with builder.serving(tools, registry, stack.docker, mirror=base.mirror) as built_by:
            _tell(built_by, base, out)
            if completes:
                machine = _machine(stack, built_by, base, cloudflare, out)
                wanted = {**wanted, key: inputs.completed(sandbox, machine)}
            settings.update_copy(stack, wanted)
            _deploy(stack, pulumi, out)
        outputs = json.loads(_checked(stack, pulumi, "stack", "output", "--json", "--stack", stack.name))
        workers = workers_of(resources(stack, pulumi))
    why_not = cloudflare.control("/runtime")["containers"]["reason"] or ""
    own = completes and inputs.has_own_worker(sandbox)
    return Deployed(cloudflare, outputs, workers, completes, own, why_not)


def _machine(stack: LocalStack, built_by: Builder, base: Bases, cloudflare: Emulated, out: TextIO) -> Machine:
    key, mounts = inputs.api_key(stack), _mounts(cloudflare, out)
    return Machine(built_by, base, cloudflare.account_id, cloudflare.port, key, mounts=mounts)


def _mounts(cloudflare: Emulated, out: TextIO) -> bool:
    """Tell whether sandboxes mount archives and buckets as on an account; where not, say why."""
    told = cloudflare.control("/runtime")["containers"]
    if reason := told.get("no_mounts"):
        print(f"{reason} Files and backups are copied instead.", file=out, flush=True)
    return "no_mounts" in told and not reason


def _tell(built_by: Builder, base: Bases, out: TextIO) -> None:
    if base.note:
        print(base.note, file=out, flush=True)
    if built_by.reason:
        print(f"No image is built here ({built_by.reason}): the base image itself is deployed.", file=out, flush=True)
    if built_by.limit:
        print(f"The image is built, but {built_by.limit}.", file=out, flush=True)


def _deploy(stack: LocalStack, pulumi: Engine, out: TextIO) -> None:
    options = ("--yes", "--skip-preview", "--suppress-outputs", *settings.selection(stack))
    if pulumi.show("up", *options, cwd=stack.project, out=out):
        remedy = f"Fix what it names and run `{stack.command} up` again; what was deployed is kept"
        raise DeployError("the local stack was not deployed", "the engine's reason is above", remedy)


def down(stack: LocalStack, out: TextIO, *, force: bool = False, keep_emulator: bool = False) -> bool:
    """Destroy the stack and remove its state; whether there was one. With `force`, what is protected goes, too.

    The emulator ends with the last stack on it, unless it is to be kept.
    """
    if not (stack.record.exists() or stack.emulator.exists() or stack.is_up()):
        return False
    with stack.locked():
        if gone := stack.is_up():
            _destroy(stack, out, force=force)
        if left := stack.others():
            where = stack.shown(stack.backend.parent)
            print(f"The emulator goes on for {', '.join(left)}, with its state in {where}.", file=out)
        elif not keep_emulator:
            emulator.stop(stack, out)
    return gone


def _destroy(stack: LocalStack, out: TextIO, *, force: bool) -> None:
    tools = install.ensure()
    cloudflare = emulator.start(tools, stack)
    pulumi = engine.isolated(tools, stack.folder, extra=cloudflare.env)
    _prepare(stack, pulumi)
    if force:
        _checked(stack, pulumi, "state", "unprotect", "--all", "--yes", "--stack", stack.name)
    _empty_buckets(stack, pulumi, cloudflare, out)
    selection = settings.selection(stack)
    if pulumi.show("destroy", "--yes", "--skip-preview", *selection, cwd=stack.project, out=out):
        remedy = f"Fix what it names and run `{stack.command} down` again"
        raise DeployError("the local stack was not destroyed", "the engine's reason is above", remedy)
    _checked(stack, pulumi, "stack", "rm", "--yes", "--preserve-config", "--stack", stack.name)
    shutil.rmtree(stack.project_copy)
    # Bundles, contexts and the packages they were made with: all of it comes back when it is needed.
    shutil.rmtree(stack.builds, ignore_errors=True)


def _empty_buckets(stack: LocalStack, pulumi: Engine, cloudflare: Emulated, out: TextIO) -> None:
    """Delete the objects in the stack's buckets, which would keep R2 from deleting these; only ever done here."""
    found = resources(stack, pulumi)
    if protected := sum(1 for each in found if each.get("protect")):
        # The engine would refuse these, after it has destroyed the others.
        why = f"it is a lasting one: {protected} of its resources are protected"
        by_settings = f"Set environment to throw-away in {stack.settings.name}, run `make up`, then `make down`"
        remedy = by_settings if stack is CHECKOUT else f"If it may go with all its data: `{stack.command} down --force`"
        raise SetupError("the local stack was not destroyed", why, remedy)
    for each in found:
        if each["type"] == _BUCKET and (outputs := each.get("outputs")):
            count = cloudflare.empty(outputs["name"], outputs.get("jurisdiction") or "default")
            if count:
                said = f"Deleted {count} object{'s' if count > 1 else ''} in the bucket {outputs['name']}."
                print(said, file=out, flush=True)


def resources(stack: LocalStack, pulumi: Engine) -> list[dict[str, Any]]:
    """Return what the state says was deployed."""
    state = json.loads(_checked(stack, pulumi, "stack", "export", "--stack", stack.name))
    return (state.get("deployment") or {}).get("resources") or []


def workers_of(found: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Name the Workers among what was deployed."""
    return tuple(
        str(each["outputs"]["scriptName"]) for each in found if each["type"] == _WORKER and each.get("outputs")
    )


def _prepare(stack: LocalStack, pulumi: Engine) -> None:
    """Make the stack exist, and clear the lock of a run that was killed."""
    settings.copy_project(stack)
    if not stack.is_up() or not stack.settings_copy.exists():
        _checked(stack, pulumi, "stack", "select", "--create", stack.name)
    if _is_left_locked(stack):
        _checked(stack, pulumi, "cancel", "--yes", stack.name)


def _is_left_locked(stack: LocalStack) -> bool:
    """Tell whether a run that has died left its lock; a run that lives is not to be disturbed."""
    locks = list(stack.backend.glob(f"locks/**/{stack.name}/*.json"))
    for lock in locks:
        try:
            owner = json.loads(lock.read_text())["pid"]
        except (OSError, ValueError, KeyError):
            continue  # it has just gone, or was cut short by the death of its owner
        if _is_alive(owner):
            why = f"process {owner} is working on it"
            raise SetupError("the local stack is in use", why, "Wait until it is done, then run the same command again")
    return bool(locks)


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True


def _checked(stack: LocalStack, pulumi: Engine, *arguments: str) -> str:
    done = pulumi.run(*arguments, cwd=stack.project_copy)
    if done.returncode:
        why = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        remedy = "The state is untouched: fix that and run the same command again"
        raise SetupError(f"`pulumi {' '.join(arguments[:2])}` failed", why, remedy)
    return done.stdout
