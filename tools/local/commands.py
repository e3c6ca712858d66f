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

from tools.errors import DeployError, SetupError, sentence
from tools.local import archive, checkout, deploy, emulator, inputs, projects
from tools.local.deploy import Deployed
from tools.local.emulator import Emulated
from tools.local.stack import LocalStack
from tools.paths import COMMAND, ROOT, venv_python, write_whole
from tools.setup import install

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
            stack = LocalStack(options.project, "none", "none", options.folder, "sandbox-stack local", options.port)
        else:
            project = options.project.resolve()
            stack = projects.stack_of(project, name=options.stack, folder=options.folder, port=options.port)
        projects.require_own(stack)
        return actions[options.action](stack, options)
    except (SetupError, OSError) as error:
        print(sentence(error), file=sys.stderr)
        return _NO if isinstance(error, DeployError) else _REFUSED


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


def _tell(options: argparse.Namespace, told: dict[str, Any], text: str) -> int:
    print(json.dumps(told, indent=2) if options.format == "json" else text)
    return _DONE


def _up(stack: LocalStack, options: argparse.Namespace) -> int:
    projects.require_settings(stack)
    projects.require_environment(stack)
    projects.make_folder(stack)
    found = deploy.up(stack, _progress(options), zones=options.zone)
    told = _described(stack, found)
    write_whole(stack.report, json.dumps(told))
    return _tell(options, told, f"\n{_text(told)}")


def _down(stack: LocalStack, options: argparse.Namespace) -> int:
    out = _progress(options)
    gone = deploy.down(stack, out, force=options.force, keep_emulator=options.keep_emulator)
    kept = options.keep_emulator or bool(stack.known()) or stack.emulator.exists()
    if not kept:
        projects.remove_folder(stack)
    said = f"{stack.qualified} is gone." if gone else f"Nothing to take down: {stack.qualified} is not up."
    return _tell(options, {"stack": stack.qualified, "destroyed": gone, "kept": kept}, said)


def _status(stack: LocalStack, options: argparse.Namespace) -> int:
    told = status(stack)
    _tell(options, told, _text(told))
    return _DONE if told["state"] == "up" else _NO


def status(stack: LocalStack) -> dict[str, Any]:
    """Say what runs, from the emulator's own words and what the last `up` has found."""
    cloudflare = emulator.running(stack)
    told: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        told = json.loads(stack.report.read_text())
    if not stack.is_up():
        return {"stack": stack.qualified, "state": "down", "next": [f"{stack.command} up"]}
    if cloudflare is None:
        return {"stack": stack.qualified, "state": "stopped", "next": [f"{stack.command} up"]}
    if not told:  # the first `up` has not ended, or has failed
        told = {"stack": stack.qualified, "next": [f"{stack.command} up"]}
    places = {"dashboard": cloudflare.dashboard, "emulator": cloudflare.base_url}
    running = [_sandbox(each) for each in cloudflare.control(f"/sandboxes/{cloudflare.account_id}")]
    log = stack.shown(stack.logs / "emulator.log")
    return {**told, "state": "up" if "api_url" in told else "unfinished", **places, "sandboxes": running, "log": log}


def _sandbox(seen: dict[str, Any]) -> dict[str, Any]:
    return {name: seen[name] for name in ("object", "application", "image", "state", "started")}


def _logs(stack: LocalStack, options: argparse.Namespace) -> int:
    """Become the command that follows a Worker's log."""
    cloudflare = emulator.running(stack)
    if cloudflare is None or not stack.is_up():
        raise SetupError(f"{stack.qualified} is not up", "nothing is logged", f"Run `{stack.command} up`")
    names = sorted(status(stack).get("workers", {}))
    if not options.worker and len(names) != 1:
        why = f"there are {', '.join(names)}" if names else "the stack has deployed none"
        raise SetupError(
            "it is not clear whose log is meant", why, f"Name a Worker: {stack.command} logs --worker NAME"
        )
    arguments = ["logs", options.worker or names[0], "--format", options.format]
    os.chdir(ROOT)
    os.execve(venv_python(), [str(venv_python()), *COMMAND, *arguments], {**os.environ, **cloudflare.env})  # noqa: S606


def _env(stack: LocalStack, options: argparse.Namespace) -> int:
    projects.make_folder(stack)
    wanted = {**checkout.environment(stack), **_client_settings(stack)}
    here = {"PULUMI_STACK": stack.name, "PULUMI_OPTION_CONFIG_FILE": str(stack.settings_copy)}
    return _tell(options, dict(sorted({**wanted, **here}.items())), checkout.shell_settings(stack, wanted))


def _client_settings(stack: LocalStack) -> dict[str, str]:
    """Return what a client of the Worker's API reads: where it answers, and the key of this machine if it has one."""
    told = status(stack)
    found = {"SANDBOX_API_URL": told["api_url"]} if told.get("api_url") else {}
    return {**found, "SANDBOX_API_KEY": inputs.api_key(stack)} if told.get("key_file") else found


def _save(stack: LocalStack, options: argparse.Namespace) -> int:
    found = archive.save(stack, options.file, _progress(options))
    told = {"file": str(found.file), "keys": str(found.keys), "bytes": found.size, "files": found.files}
    megabytes = f"{found.size / 1e6:.1f} MB"
    said = f"Saved {stack.qualified} to {found.file.name} ({megabytes}), and its keys to {found.keys.name}."
    return _tell(options, told, said)


def _load(stack: LocalStack, options: argparse.Namespace) -> int:
    projects.make_folder(stack)
    found = archive.load(stack, options.file, any_stack=not options.stack)
    following = f"{stack.command} up"
    said = f"Loaded {found.qualified} from {options.file.name}.\n\nNext:\n  {following}"
    return _tell(options, {"stack": found.qualified, "file": str(options.file), "next": [following]}, said)


def _serve(stack: LocalStack, _options: argparse.Namespace) -> int:
    """Start the emulator alone and say where it is: for tests, which deploy when they need to."""
    projects.make_folder(stack)
    tools = install.ensure()
    emulator.fetch_runtime(tools, sys.stderr)
    found = emulator.start(tools, stack)
    told = {"base_url": found.base_url, "account_id": found.account_id, "token_file": str(stack.emulator / "token")}
    print(json.dumps(told))
    return _DONE


def _stop(stack: LocalStack, _options: argparse.Namespace) -> int:
    """Stop the emulator and forget everything, without destroying what was deployed piece by piece."""
    emulator.halt(stack)
    projects.remove_folder(stack)
    return _DONE


def _described(stack: LocalStack, found: Deployed) -> dict[str, Any]:
    cloudflare = found.cloudflare
    workers = {name: f"http://{name}.localhost:{cloudflare.port}" for name in found.workers}
    url = served_at(found.outputs["api_url"], cloudflare) if found.outputs.get("api_url") else ""
    url = url or next(iter(workers.values()), "")
    key = stack.shown(stack.key_file) if found.has_key else None
    return {
        "stack": stack.qualified,
        "state": "up",
        "api_url": url,
        "dashboard": cloudflare.dashboard,
        "emulator": cloudflare.base_url,
        "workers": workers,
        "key_file": key,
        "outputs": found.outputs,
        "no_sandboxes": found.why_no_sandboxes or None,
        "next": _next(stack, url, key, found),
    }


def _next(stack: LocalStack, url: str, key: str | None, found: Deployed) -> list[str]:
    following = [f"{stack.command} logs", f"{stack.command} down"]
    if not url:
        return following
    file = shlex.quote(key or "")
    if key and not found.has_own_worker:
        return [f"{stack.command.removesuffix(' local')} smoke {url} --key-file {file}", *following]
    # The key is no argument, which others on the machine could see.
    proof = f"printf 'Authorization: Bearer %s' \"$(cat {file})\" | curl -sS -i -H @- {url}"
    return [proof if key else f"curl -sS -i {url}", *following]


def served_at(url: str, cloudflare: Emulated) -> str:
    """Return where the emulator serves a URL of an account, by a name that is this machine for browsers and curl."""
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
