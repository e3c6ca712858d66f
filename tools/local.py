"""A stack on this machine, without an account: `up` deploys it to an emulator, `down` leaves nothing behind."""

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from tools import bases, builder, emulated, engine, install, local_inputs, local_settings, stacks
from tools.bases import Bases
from tools.builder import Builder
from tools.emulated import Emulated
from tools.engine import Engine
from tools.errors import DeployError, SetupError
from tools.local_inputs import Machine
from tools.locks import locked
from tools.progress import Board
from tools.world import CHECKOUT, World

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


def up(world: World, out: TextIO, *, zones: Sequence[str] = ()) -> Deployed:
    """Deploy the stack and say what exists now; `zones` are further ones that the account is to have."""
    tools = install.ensure()
    with locked(world.folder / "stack.lock", board=Board(), waiting_for="the local stack"):
        wanted = local_settings.original(world)
        key = local_settings.takes_settings(world, wanted)
        sandbox = wanted.get(key, {}) if key else {}
        sandbox = {} if sandbox is None else sandbox
        emulated.fetch_runtime(tools, out)
        cloudflare = emulated.start(tools, world)
        pulumi = engine.isolated(tools, world.folder, extra=cloudflare.env)
        _prepare(world, pulumi)
        wanted = local_settings.openable(world, wanted)
        completes = bool(key) and isinstance(sandbox, dict)
        if named := list(dict.fromkeys([*zones, *(local_inputs.zones(sandbox) if completes else ())])):
            cloudflare.control("/accounts", {"id": cloudflare.account_id, "zones": named})
        base = bases.chosen(tools, cloudflare)
        registry = urlsplit(cloudflare.base_url).netloc
        with builder.serving(tools, registry, world.docker, mirror=base.mirror) as built_by:
            _tell(built_by, base, out)
            if completes:
                machine = _machine(world, built_by, base, cloudflare, out)
                wanted = {**wanted, key: local_inputs.completed(sandbox, machine)}
            local_settings.update_copy(world, wanted)
            _deploy(world, pulumi, out)
        outputs = json.loads(_checked(world, pulumi, "stack", "output", "--json", "--stack", world.stack))
        workers = workers_of(resources(world, pulumi))
    why_not = cloudflare.control("/runtime")["containers"]["reason"] or ""
    own = completes and local_inputs.has_own_worker(sandbox)
    return Deployed(cloudflare, outputs, workers, completes, own, why_not)


def _machine(world: World, built_by: Builder, base: Bases, cloudflare: Emulated, out: TextIO) -> Machine:
    key, mounts = local_inputs.api_key(world), _mounts(cloudflare, out)
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


def _deploy(world: World, pulumi: Engine, out: TextIO) -> None:
    options = ("--yes", "--skip-preview", "--suppress-outputs", *local_settings.selection(world))
    if pulumi.show("up", *options, cwd=world.project, out=out):
        remedy = f"Mend what it names and run `{world.command} up` again; what was deployed is kept"
        raise DeployError("the local stack was not deployed", "the engine's reason is above", remedy)


def down(world: World, out: TextIO, *, force: bool = False, keep_emulator: bool = False) -> bool:
    """Destroy the stack and remove its state; whether there was one. With `force`, what is protected goes, too.

    The emulator ends with the last stack on it, unless it is to be kept.
    """
    if not (world.record.exists() or world.emulator.exists() or stacks.is_up(world)):
        return False
    with locked(world.folder / "stack.lock", board=Board(), waiting_for="the local stack"):
        if gone := stacks.is_up(world):
            _destroy(world, out, force=force)
        if left := stacks.others(world):
            where = world.shown(world.backend.parent)
            print(f"The emulator goes on for {', '.join(left)}, with its state in {where}.", file=out)
        elif not keep_emulator:
            emulated.stop(world, out)
    return gone


def _destroy(world: World, out: TextIO, *, force: bool) -> None:
    tools = install.ensure()
    cloudflare = emulated.start(tools, world)
    pulumi = engine.isolated(tools, world.folder, extra=cloudflare.env)
    _prepare(world, pulumi)
    if force:
        _checked(world, pulumi, "state", "unprotect", "--all", "--yes", "--stack", world.stack)
    _empty_buckets(world, pulumi, cloudflare, out)
    selection = local_settings.selection(world)
    if pulumi.show("destroy", "--yes", "--skip-preview", *selection, cwd=world.project, out=out):
        remedy = f"Mend what it names and run `{world.command} down` again"
        raise DeployError("the local stack was not destroyed", "the engine's reason is above", remedy)
    _checked(world, pulumi, "stack", "rm", "--yes", "--preserve-config", "--stack", world.stack)
    shutil.rmtree(world.project_copy)
    # Bundles, contexts and the packages they were made with: all of it comes back when it is needed.
    shutil.rmtree(world.builds, ignore_errors=True)


def _empty_buckets(world: World, pulumi: Engine, cloudflare: Emulated, out: TextIO) -> None:
    """Delete the objects in the stack's buckets, which would keep R2 from deleting these; only ever done here."""
    found = resources(world, pulumi)
    if protected := sum(1 for each in found if each.get("protect")):
        # The engine would refuse these, after it has destroyed the others.
        why = f"it is a lasting one: {protected} of its resources are protected"
        by_settings = f"Set environment to throw-away in {world.settings.name}, run `make up`, then `make down`"
        remedy = by_settings if world is CHECKOUT else f"If it may go with all its data: `{world.command} down --force`"
        raise SetupError("the local stack was not destroyed", why, remedy)
    for each in found:
        if each["type"] == _BUCKET and (outputs := each.get("outputs")):
            count = cloudflare.empty(outputs["name"], outputs.get("jurisdiction") or "default")
            if count:
                said = f"Deleted {count} object{'s' if count > 1 else ''} in the bucket {outputs['name']}."
                print(said, file=out, flush=True)


def resources(world: World, pulumi: Engine) -> list[dict[str, Any]]:
    """Give what the state says was deployed."""
    state = json.loads(_checked(world, pulumi, "stack", "export", "--stack", world.stack))
    return (state.get("deployment") or {}).get("resources") or []


def workers_of(found: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Name the Workers among what was deployed."""
    return tuple(
        str(each["outputs"]["scriptName"]) for each in found if each["type"] == _WORKER and each.get("outputs")
    )


def _prepare(world: World, pulumi: Engine) -> None:
    """Make the stack exist, and clear the lock of a run that was killed."""
    local_settings.copy_project(world)
    if not stacks.is_up(world) or not world.settings_copy.exists():
        _checked(world, pulumi, "stack", "select", "--create", world.stack)
    if _is_left_locked(world):
        _checked(world, pulumi, "cancel", "--yes", world.stack)


def _is_left_locked(world: World) -> bool:
    """Tell whether a run that has died left its lock; a run that lives is not to be disturbed."""
    locks = list(world.backend.glob(f"locks/**/{world.stack}/*.json"))
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


def _checked(world: World, pulumi: Engine, *arguments: str) -> str:
    done = pulumi.run(*arguments, cwd=world.project_copy)
    if done.returncode:
        why = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise SetupError(
            f"`pulumi {' '.join(arguments[:2])}` failed", why, "The state is untouched; see docs/set-up.md"
        )
    return done.stdout
