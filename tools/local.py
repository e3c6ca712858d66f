"""The stack `local`: everything on this machine, no account. `up` deploys it, `down` leaves nothing behind."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from tools import bases, builder, emulated, engine, install, local_inputs, local_settings, stacks
from tools.emulated import Emulated
from tools.engine import Engine
from tools.errors import SetupError
from tools.local_settings import PROJECT_COPY, STACK
from tools.locks import locked
from tools.paths import BUILDS, LOCAL, ROOT, venv_python
from tools.progress import Board

_BUCKET: Final = "cloudflare:index/r2Bucket:R2Bucket"

# Exported, stack and settings would be taken for those of every other project, too.
_IN_THIS_FOLDER: Final = """\
pulumi() {{
  if [ "$(pwd -P)" = {root} ]; then
    PULUMI_STACK={stack} PULUMI_OPTION_CONFIG_FILE={copy} command pulumi "$@"
  else
    command pulumi "$@"
  fi
}}"""


def up() -> int:
    """Deploy the stack and show what exists now and what to try next."""
    tools = install.ensure()
    with locked(LOCAL / "stack.lock", board=Board(), waiting_for="the local stack"):
        wanted = local_settings.original()
        emulated.fetch_runtime(tools)
        cloudflare = emulated.start(tools)
        pulumi = engine.isolated(tools, LOCAL, extra=cloudflare.env)
        _prepare(pulumi)
        base = bases.chosen(tools, cloudflare)
        if base.note:
            print(base.note, flush=True)
        registry = urlsplit(cloudflare.base_url).netloc
        with builder.serving(tools, registry, LOCAL / "docker", mirror=base.mirror) as built_by:
            if built_by.reason:
                print(f"No image is built here ({built_by.reason}): the base image itself is deployed.", flush=True)
            if built_by.limit:
                print(f"The image is built, but {built_by.limit}.", flush=True)
            port = urlsplit(cloudflare.base_url).port or 0
            mounts = _mounts(cloudflare)
            local_settings.update_copy(local_inputs.completed(wanted, built_by, base, port, mounts=mounts))
            _deploy(pulumi)
        outputs = json.loads(_checked(pulumi, "stack", "output", "--json", "--stack", STACK))
    dashboard = cloudflare.base_url.removesuffix("/client/v4") + "/dashboard"
    print(_report({"dashboard": dashboard, "emulator": cloudflare.base_url, **outputs}))
    reason = cloudflare.control("/runtime")["containers"]["reason"]
    if reason:
        print(f"\n{reason}")
    if local_inputs.has_own_worker(wanted):
        print("\nThe Worker is one of your own, so there is no smoke test for it.")
        return 0
    return _smoke(outputs, cloudflare, strict=not reason)


def _mounts(cloudflare: Emulated) -> bool:
    """Tell whether sandboxes mount archives and buckets as on an account; where not, say why."""
    told = cloudflare.control("/runtime")["containers"]
    if reason := told.get("no_mounts"):
        print(f"{reason} Files and backups are copied instead.", flush=True)
    return "no_mounts" in told and not reason


def _reached_at(url: str, cloudflare: Emulated) -> list[str]:
    """Give what tells the smoke test where the emulator serves a URL: a host of an account is not this machine's."""
    parts = urlsplit(url)
    if parts.port:
        return [url]
    port = urlsplit(cloudflare.base_url).port
    return [f"http://{parts.hostname}:{port}", "--connect", f"127.0.0.1:{port}"]


def _smoke(outputs: dict[str, Any], cloudflare: Emulated, *, strict: bool) -> int:
    """Ask the deployed Worker whether it works; a program of another kind has no API to ask.

    Where sandboxes can run, `strict` has every step that was not taken count as a failure.
    """
    if not outputs.get("api_url"):
        return 0
    reached, key = _reached_at(outputs["api_url"], cloudflare), local_inputs.KEY_FILE.relative_to(ROOT)
    argv = [str(venv_python().relative_to(ROOT)), "-m", "components", "smoke", *reached, "--key-file", str(key)]
    if strict:
        argv += ["--strict"]
    if outputs.get("preview_hostname"):
        argv += ["--preview-host", outputs["preview_hostname"]]
    print(f"\nDoes it answer? ({shlex.join(argv)})\n", flush=True)
    return subprocess.run(argv, cwd=ROOT, check=False).returncode


def _deploy(pulumi: Engine) -> None:
    if pulumi.show("up", "--yes", "--skip-preview", "--suppress-outputs", *local_settings.selection(), cwd=ROOT):
        remedy = "Mend what it names and run `make up` again; what was deployed is kept"
        raise SetupError("the local stack was not deployed", "the engine's reason is above", remedy)


def down() -> int:
    """Destroy the stack and remove its state; doing it twice is fine."""
    if not is_up():
        emulated.stop()
        print("Nothing to take down: the local stack is not up.")
        return 0
    tools = install.ensure()
    with locked(LOCAL / "stack.lock", board=Board(), waiting_for="the local stack"):
        cloudflare = emulated.start(tools)
        pulumi = engine.isolated(tools, LOCAL, extra=cloudflare.env)
        _prepare(pulumi)
        _empty_buckets(pulumi, cloudflare)
        if pulumi.show("destroy", "--yes", "--skip-preview", *local_settings.selection(), cwd=ROOT):
            remedy = "Mend what it names and run `make down` again"
            raise SetupError("the local stack was not destroyed", "the engine's reason is above", remedy)
        _checked(pulumi, "stack", "rm", "--yes", "--preserve-config", "--stack", STACK)
        shutil.rmtree(PROJECT_COPY)
        _remove_builds()
        if left := stacks.others():
            print(f"The state of {', '.join(left)} stays in .local/state; `make up` starts the emulator again for it.")
        emulated.stop()
    print("The local stack is gone.")
    return 0


def _remove_builds() -> None:
    """Remove bundles, contexts and the packages they were made with: all of it comes back when it is needed."""
    shutil.rmtree(BUILDS, ignore_errors=True)


def _empty_buckets(pulumi: Engine, cloudflare: Emulated) -> None:
    """Delete the objects in the stack's buckets, which would keep R2 from deleting these; only ever done here."""
    state = json.loads(_checked(pulumi, "stack", "export", "--stack", STACK))
    resources = (state.get("deployment") or {}).get("resources") or []
    if protected := sum(1 for each in resources if each.get("protect")):
        # The engine would refuse these, after it has destroyed the others.
        why = f"it is a lasting one: {protected} of its resources are protected"
        remedy = "Set environment to throw-away in Pulumi.local.yaml, run `make up`, then `make down`"
        raise SetupError("the local stack was not destroyed", why, remedy)
    for each in resources:
        if each["type"] == _BUCKET and (outputs := each.get("outputs")):
            count = cloudflare.empty(outputs["name"], outputs.get("jurisdiction") or "default")
            if count:
                print(f"Deleted {count} object{'s' if count > 1 else ''} in the bucket {outputs['name']}.", flush=True)


def is_up() -> bool:
    """Tell whether the backend knows the stack, from files alone."""
    return stacks.LOCAL_STACK in stacks.known()


def print_environment() -> int:
    """Print what `pulumi` needs to work on the local stack by hand, as shell commands."""
    if local_settings.is_outdated():
        print("Pulumi.local.yaml has changed since the last `make up`, which brings it in.", file=sys.stderr)
    cloudflare = emulated.running()
    pulumi = engine.isolated(install.ensure(), LOCAL, extra=cloudflare.env if cloudflare else None)
    wanted = dict(pulumi.env)
    for key in sorted(os.environ.keys() - wanted.keys()):
        print(f"unset {key}")
    for key, value in sorted(wanted.items()):
        if os.environ.get(key) != value:
            print(f"export {key}={shlex.quote(value)}")
    print(_IN_THIS_FOLDER.format(root=shlex.quote(str(ROOT)), copy=shlex.quote(str(local_settings.COPY)), stack=STACK))
    return 0


def _prepare(pulumi: Engine) -> None:
    """Make the stack exist, and clear the lock of a run that was killed."""
    local_settings.copy_project()
    if not is_up() or not local_settings.COPY.exists():
        _checked(pulumi, "stack", "select", "--create", STACK)
    if _is_left_locked():
        _checked(pulumi, "cancel", "--yes", STACK)


def _is_left_locked() -> bool:
    """Tell whether a run that has died left its lock; a run that lives is not to be disturbed."""
    locks = list(stacks.BACKEND.glob(f"locks/**/{STACK}/*.json"))
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
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _checked(pulumi: Engine, *arguments: str) -> str:
    done = pulumi.run(*arguments, cwd=PROJECT_COPY)
    if done.returncode:
        why = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise SetupError(
            f"`pulumi {' '.join(arguments[:2])}` failed", why, "The state is untouched; see docs/set-up.md"
        )
    return done.stdout


def _report(outputs: dict[str, Any]) -> str:
    rows = sorted(_flat(outputs))
    width = max((len(key) for key, _ in rows), default=0)
    lines = ["", f"The stack `{STACK}` is up:", *(f"  {key:<{width}}  {value}" for key, value in rows)]
    tries = (
        (
            'eval "$(make -s env)"',
            "work on it by hand, for example with `pulumi preview` or `pulumi stack output --json`",
        ),
        ("make test", "run all tests"),
        ("make down", "take it down again"),
    )
    lines += ["", "Try next:", *(f"  {command:<22} {purpose}" for command, purpose in tries)]
    return "\n".join(lines)


def _flat(outputs: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in outputs.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value)
