"""The stack `local`: everything on this machine, no account. `up` deploys it, `down` leaves nothing behind."""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from typing import Any, Final

import yaml

from tools import cache, emulated, engine, install
from tools.engine import Engine
from tools.errors import SetupError
from tools.paths import LOCAL, ROOT
from tools.progress import Board

STACK: Final = "local"
# The engine writes the key that goes with the passphrase into a stack's settings file. Ours is under version control
# and the passphrase is not, so the engine works on a copy in a folder that is a project of the same name.
_PROJECT_COPY: Final = LOCAL / "project"
_SETTINGS: Final = _PROJECT_COPY / f"Pulumi.{STACK}.yaml"


def up() -> int:
    """Deploy the stack and show what exists now and what to try next."""
    tools = install.ensure()
    with cache.locked(LOCAL / "stack.lock", board=Board(), waiting_for="the local stack"):
        cloudflare = emulated.start()
        pulumi = engine.isolated(tools, LOCAL, extra=cloudflare.env)
        _prepare(pulumi)
        code = pulumi.show("up", "--yes", "--skip-preview", "--suppress-outputs", *_selection(), cwd=ROOT)
        if code:
            remedy = "Mend what it names and run `make up` again; what was deployed is kept"
            raise SetupError("the local stack was not deployed", "the engine's reason is above", remedy)
        outputs = json.loads(_checked(pulumi, "stack", "output", "--json", "--stack", STACK))
    print(_report({"emulator": cloudflare.base_url, **outputs}))
    return 0


def down() -> int:
    """Destroy the stack and remove its state; doing it twice is fine."""
    tools = install.ensure()
    with cache.locked(LOCAL / "stack.lock", board=Board(), waiting_for="the local stack"):
        if not _SETTINGS.exists():
            emulated.stop()
            print("Nothing to take down: the local stack is not up.")
            return 0
        pulumi = engine.isolated(tools, LOCAL, extra=emulated.start().env)
        _prepare(pulumi)
        if pulumi.show("destroy", "--yes", "--skip-preview", *_selection(), cwd=ROOT):
            remedy = "Mend what it names and run `make down` again"
            raise SetupError("the local stack was not destroyed", "the engine's reason is above", remedy)
        _checked(pulumi, "stack", "rm", "--yes", "--preserve-config", "--stack", STACK)
        shutil.rmtree(_PROJECT_COPY)
        emulated.stop()
    print("The local stack is gone.")
    return 0


def print_environment() -> int:
    """Print what `pulumi` needs to work on the local stack by hand, as shell commands."""
    cloudflare = emulated.running()
    pulumi = engine.isolated(install.ensure(), LOCAL, extra=cloudflare.env if cloudflare else None)
    extra = {"PULUMI_OPTION_CONFIG_FILE": str(_SETTINGS), "PULUMI_STACK": STACK}
    changed = {key: value for key, value in pulumi.env.items() if os.environ.get(key) != value}
    for key, value in sorted((changed | extra).items()):
        print(f"export {key}={shlex.quote(value)}")
    return 0


def _selection() -> tuple[str, ...]:
    return ("--stack", STACK, "--config-file", str(_SETTINGS))


def _prepare(pulumi: Engine) -> None:
    """Make stack and settings exist, and clear the lock of a run that was killed: the caller holds ours."""
    _PROJECT_COPY.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "Pulumi.yaml", _PROJECT_COPY / "Pulumi.yaml")
    stacks = json.loads(_checked(pulumi, "stack", "ls", "--json"))
    if not _SETTINGS.exists() or STACK not in [stack["name"] for stack in stacks]:
        _checked(pulumi, "stack", "select", "--create", STACK)
    elif list((LOCAL / "state").glob(f".pulumi/locks/**/{STACK}/*.json")):
        _checked(pulumi, "cancel", "--yes", STACK)
    settings: dict[str, Any] = yaml.safe_load(_SETTINGS.read_text()) if _SETTINGS.exists() else {}
    wanted = yaml.safe_load((ROOT / _SETTINGS.name).read_text()) or {}
    # What is under version control wins; what was added by hand, secrets for instance, stays.
    settings["config"] = {**(settings.get("config") or {}), **(wanted.get("config") or {})}
    _SETTINGS.write_text(yaml.safe_dump(settings))


def _checked(pulumi: Engine, *arguments: str) -> str:
    done = pulumi.run(*arguments, cwd=_PROJECT_COPY)
    if done.returncode:
        why = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise SetupError(f"`pulumi {' '.join(arguments[:2])}` failed", why, "Run `make clean` if it persists")
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
