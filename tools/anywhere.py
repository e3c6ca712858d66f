"""`sandbox-stack local …`: somebody's own project on this machine, from a checkout or an installed package.

What a command has to tell goes to standard output, as text or as one JSON document; everything on the way to it, what
the engine says included, goes to standard error where a program reads the outcome.
"""

import argparse
import contextlib
import importlib
import importlib.util
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from tools import emulated, install, local, make_stack, projects, saved, stacks
from tools.emulated import Emulated
from tools.errors import DeployError, SetupError
from tools.local import Deployed
from tools.paths import COMMAND, ROOT, venv_python, write_whole
from tools.world import World

# As `components/commands/exits.py` has them.
_DONE, _NO, _REFUSED = 0, 1, 2
# What the emulator serves with, and the extra `local` of the package brings.
_NEEDED: Final = ("cryptography", "httptools", "python_multipart", "uvicorn", "uvloop")


def main(arguments: list[str]) -> int:
    """Run one action; a failure is one sentence on standard error."""
    options = _parser().parse_args(arguments)
    actions = {"up": _up, "down": _down, "status": _status, "logs": _logs, "env": _env, "serve": _serve}
    actions |= {"save": _save, "load": _load, "stop": _stop}
    try:
        _require_packages()
        if options.action in ("serve", "stop"):
            world = World(options.project, "none", "none", options.folder, "sandbox-stack local", options.port)
        else:
            world = projects.world_of(
                options.project.resolve(), stack=options.stack, folder=options.folder, port=options.port
            )
        projects.require_own(world)
        return actions[options.action](world, options)
    except SetupError as error:
        print(f"{error}", file=sys.stderr)
        return _NO if isinstance(error, DeployError) else _REFUSED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{where}{error.strerror or error}", file=sys.stderr)
        return _REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools local", description="What `sandbox-stack local` calls.")
    parser.add_argument("action")
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--stack", default="")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--format", default="text")
    parser.add_argument("--port", default="")
    parser.add_argument("--zone", action="append", default=[])
    parser.add_argument("--worker", default="")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--keep-emulator", action="store_true")
    parser.add_argument("--file", type=Path)
    return parser


def _require_packages() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        # From where the package is: its name alone might be somebody else's in an index.
        origin = importlib.import_module(f"{COMMAND[1]}.init.origin")
        install_it = shlex.join([sys.executable, "-m", "pip", "install", origin.requirement("local")])
        remedy = f"Install them with the package: {install_it}"
        raise SetupError("the emulator cannot run", f"these packages are missing: {', '.join(missing)}", remedy)


def _progress(options: argparse.Namespace) -> TextIO:
    return sys.stderr if options.format == "json" else sys.stdout


def _up(world: World, options: argparse.Namespace) -> int:
    projects.require_environment(world)
    projects.make_folder(world)
    found = local.up(world, _progress(options), zones=options.zone)
    told = _described(world, found)
    write_whole(world.report, json.dumps(told))
    print(json.dumps(told, indent=2) if options.format == "json" else f"\n{_text(told)}")
    return _DONE


def _down(world: World, options: argparse.Namespace) -> int:
    out = _progress(options)
    gone = local.down(world, out, force=options.force, keep_emulator=options.keep_emulator)
    kept = options.keep_emulator or bool(stacks.known(world.backend)) or world.emulator.exists()
    if not kept:
        projects.remove_folder(world)
    if options.format == "json":
        print(json.dumps({"stack": world.qualified, "destroyed": gone, "kept": kept}, indent=2))
    else:
        print(f"{world.qualified} is gone." if gone else f"Nothing to take down: {world.qualified} is not up.")
    return _DONE


def _status(world: World, options: argparse.Namespace) -> int:
    told = status(world)
    print(json.dumps(told, indent=2) if options.format == "json" else _text(told))
    return _DONE if told["state"] == "up" else _NO


def status(world: World) -> dict[str, Any]:
    """Say what runs, from the emulator's own words and what the last `up` has found."""
    cloudflare = emulated.running(world)
    told: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        told = json.loads(world.report.read_text())
    if not stacks.is_up(world):
        return {"stack": world.qualified, "state": "down", "next": [f"{world.command} up"]}
    if cloudflare is None:
        return {"stack": world.qualified, "state": "stopped", "next": [f"{world.command} up"]}
    if not told:  # the first `up` has not ended, or has failed
        told = {"stack": world.qualified, "next": [f"{world.command} up"]}
    places = {"dashboard": cloudflare.dashboard, "emulator": cloudflare.base_url}
    running = [_sandbox(each) for each in cloudflare.control(f"/sandboxes/{cloudflare.account_id}")]
    log = world.shown(world.logs / "emulator.log")
    return {**told, "state": "up" if "api_url" in told else "unfinished", **places, "sandboxes": running, "log": log}


def _sandbox(seen: dict[str, Any]) -> dict[str, Any]:
    return {name: seen[name] for name in ("object", "application", "image", "state", "started")}


def _logs(world: World, options: argparse.Namespace) -> int:
    """Become the command that follows a Worker's log."""
    cloudflare = emulated.running(world)
    if cloudflare is None or not stacks.is_up(world):
        raise SetupError(f"{world.qualified} is not up", "nothing is logged", f"Run `{world.command} up`")
    names = sorted(status(world).get("workers", {}))
    if not options.worker and len(names) != 1:
        why = f"there are {', '.join(names)}" if names else "the stack has deployed none"
        raise SetupError(
            "it is not clear whose log is meant", why, f"Name a Worker: {world.command} logs --worker NAME"
        )
    arguments = ["logs", options.worker or names[0], "--format", options.format]
    os.chdir(ROOT)
    os.execve(venv_python(), [str(venv_python()), *COMMAND, *arguments], {**os.environ, **cloudflare.env})  # noqa: S606


def _env(world: World, options: argparse.Namespace) -> int:
    projects.make_folder(world)
    wanted = make_stack.environment(world)
    here = {"PULUMI_STACK": world.stack, "PULUMI_OPTION_CONFIG_FILE": str(world.settings_copy)}
    as_json = json.dumps(dict(sorted({**wanted, **here}.items())), indent=2)
    print(as_json if options.format == "json" else make_stack.shell_settings(world, wanted))
    return _DONE


def _save(world: World, options: argparse.Namespace) -> int:
    found = saved.save(world, options.file, _progress(options))
    told = {"file": str(found.file), "keys": str(found.keys), "bytes": found.size, "files": found.files}
    said = (
        f"Saved {world.qualified} to {found.file.name} ({found.size / 1e6:.1f} MB), and its keys to {found.keys.name}."
    )
    print(json.dumps(told, indent=2) if options.format == "json" else said)
    return _DONE


def _load(world: World, options: argparse.Namespace) -> int:
    projects.make_folder(world)
    found = saved.load(world, options.file, any_stack=not options.stack)
    following = f"{world.command} up"
    said = f"Loaded {found.qualified} from {options.file.name}.\n\nNext:\n  {following}"
    told = {"stack": found.qualified, "file": str(options.file), "next": [following]}
    print(json.dumps(told, indent=2) if options.format == "json" else said)
    return _DONE


def _serve(world: World, _options: argparse.Namespace) -> int:
    """Start the emulator alone and say where it is: for tests, which deploy when they need to."""
    projects.make_folder(world)
    tools = install.ensure()
    emulated.fetch_runtime(tools, sys.stderr)
    found = emulated.start(tools, world)
    print(
        json.dumps(
            {"base_url": found.base_url, "account_id": found.account_id, "token_file": str(world.emulator / "token")}
        )
    )
    return _DONE


def _stop(world: World, _options: argparse.Namespace) -> int:
    """Stop the emulator and forget everything, without destroying what was deployed piece by piece."""
    emulated.halt(world)
    projects.remove_folder(world)
    return _DONE


def _described(world: World, found: Deployed) -> dict[str, Any]:
    cloudflare = found.cloudflare
    workers = {name: f"http://{name}.localhost:{cloudflare.port}" for name in found.workers}
    url = served_at(found.outputs["api_url"], cloudflare) if found.outputs.get("api_url") else ""
    url = url or next(iter(workers.values()), "")
    key = world.shown(world.key_file) if found.has_key else None
    return {
        "stack": world.qualified,
        "state": "up",
        "api_url": url,
        "dashboard": cloudflare.dashboard,
        "emulator": cloudflare.base_url,
        "workers": workers,
        "key_file": key,
        "outputs": found.outputs,
        "no_sandboxes": found.why_no_sandboxes or None,
        "next": _next(world, url, key, found),
    }


def _next(world: World, url: str, key: str | None, found: Deployed) -> list[str]:
    following = [f"{world.command} logs", f"{world.command} down"]
    if not url:
        return following
    file = shlex.quote(key or "")
    if key and not found.has_own_worker:
        return [f"{world.command.removesuffix(' local')} smoke {url} --key-file {file}", *following]
    # The key is no argument, which others on the machine could see.
    proof = f"printf 'Authorization: Bearer %s' \"$(cat {file})\" | curl -sS -i -H @- {url}"
    return [proof if key else f"curl -sS -i {url}", *following]


def served_at(url: str, cloudflare: Emulated) -> str:
    """Give where the emulator serves a URL of an account, by a name that is this machine for browsers and curl."""
    parts = urlsplit(url)
    if parts.port or not parts.hostname:
        return url
    name = parts.hostname if parts.hostname.endswith(".localhost") else f"{parts.hostname}.localhost"
    return f"http://{name}:{cloudflare.port}"


def _text(told: dict[str, Any]) -> str:
    rows = {name.replace("_", " "): told[name] for name in ("api_url", "dashboard", "emulator") if told.get(name)}
    if told.get("key_file"):
        rows["key"] = f"in {told['key_file']}"
    rows |= {f"Worker {name}": url for name, url in told.get("workers", {}).items()}
    rows |= {f"sandbox {each['object'][:12]}": each["state"] for each in told.get("sandboxes", [])}
    rows |= {"log": told["log"]} if told.get("log") else {}
    width = max(map(len, rows), default=0)
    lines = [f"{told['stack']} is {told['state']}{':' if rows else '.'}"]
    lines += [f"  {name:<{width}}  {value}" for name, value in rows.items()]
    lines += ["", told["no_sandboxes"]] if told.get("no_sandboxes") else []
    return "\n".join([*lines, "", "Next:", *(f"  {command}" for command in told["next"])])
