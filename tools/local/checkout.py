"""What `make up`, `make down` and `make env` say about the stack of a checkout."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from tools.local import deploy, emulator, engine, settings
from tools.local.deploy import Deployed
from tools.local.stack import CHECKOUT, LocalStack
from tools.paths import ROOT, venv_python
from tools.setup import install

# Exported, stack and settings would be taken for those of every other project, too. `sandbox-stack` runs a
# `pulumi` that is no function: what asks about the stack gets the same. An alias, as no function of sh has a hyphen.
_IN_THIS_FOLDER: Final = """\
pulumi() {{
  if [ "$(pwd -P)" = {root} ]; then
    PULUMI_STACK={stack} PULUMI_OPTION_CONFIG_FILE={copy} command pulumi "$@"
  else
    command pulumi "$@"
  fi
}}
_sandbox_stack() {{
  case "$(pwd -P) ${{1-}}" in
  {root}" "status | {root}" "drift | {root}" "rollback | {root}" "key | {root}" "logs)
    PULUMI_STACK={stack} PULUMI_OPTION_CONFIG_FILE={copy} command sandbox-stack "$@" ;;
  *) command sandbox-stack "$@" ;;
  esac
}}
alias sandbox-stack=_sandbox_stack"""


def up() -> int:
    """Deploy the stack, show what exists now and what to try next, and ask it whether it works."""
    found = deploy.up(CHECKOUT, sys.stdout)
    places = {"dashboard": found.cloudflare.dashboard, "emulator": found.cloudflare.base_url}
    print(_report({**places, **found.outputs}))
    if found.why_no_sandboxes:
        print(f"\n{found.why_no_sandboxes}")
    if found.has_own_worker:
        print("\nThe Worker is one of your own, so there is no smoke test for it.")
        return 0
    return _smoke(found)


def down() -> int:
    """Destroy the stack and remove its state; doing it twice is fine."""
    gone = deploy.down(CHECKOUT, sys.stdout)
    print("The local stack is gone." if gone else "Nothing to take down: the local stack is not up.")
    return 0


def print_environment() -> int:
    """Print what `pulumi` needs to work on the local stack by hand, as shell commands."""
    print(shell_settings(CHECKOUT, environment(CHECKOUT)))
    return 0


def environment(stack: LocalStack) -> Mapping[str, str]:
    """Return the variables with which `pulumi` works on a local stack."""
    if settings.is_outdated(stack):
        said = f"{stack.settings.name} has changed since the last `{stack.command} up`, which brings it in."
        print(said, file=sys.stderr)
    cloudflare = emulator.running(stack)
    return engine.isolated(install.ensure(), stack.folder, extra=cloudflare.env if cloudflare else None).env


def shell_settings(stack: LocalStack, wanted: Mapping[str, str]) -> str:
    """Return the shell commands that lead from the present variables to those that are wanted."""
    lines = [f"unset {key}" for key in sorted(os.environ.keys() - wanted.keys())]
    changed = {key: value for key, value in wanted.items() if os.environ.get(key) != value}
    lines += [f"export {key}={shlex.quote(value)}" for key, value in sorted(changed.items())]
    root, copy, name = map(shlex.quote, (str(stack.project.resolve()), str(stack.settings_copy), stack.name))
    return "\n".join([*lines, _IN_THIS_FOLDER.format(root=root, copy=copy, stack=name)])


def _reached_at(url: str, port: int) -> list[str]:
    """Return what tells the smoke test where the emulator serves a URL: a host of an account is not this machine's."""
    parts = urlsplit(url)
    if parts.port:
        return [url]
    return [f"http://{parts.hostname}:{port}", "--connect", f"127.0.0.1:{port}"]


def _smoke(found: Deployed) -> int:
    """Ask the deployed Worker whether it works; a program of another kind has no API to ask.

    Where sandboxes can run, every step that was not taken counts as a failure.
    """
    if not found.outputs.get("api_url"):
        return 0
    reached, key = _reached_at(found.outputs["api_url"], found.cloudflare.port), CHECKOUT.shown(CHECKOUT.key_file)
    argv = [str(venv_python().relative_to(ROOT)), "-m", "components", "smoke", *reached, "--key-file", key]
    if not found.why_no_sandboxes:
        argv += ["--strict"]
    if found.outputs.get("preview_hostname"):
        argv += ["--preview-host", found.outputs["preview_hostname"]]
    print(f"\nDoes it answer? ({shlex.join(argv)})\n", flush=True)
    return subprocess.run(argv, cwd=ROOT, check=False).returncode


def _report(outputs: dict[str, Any]) -> str:
    rows = sorted(_flat(outputs))
    width = max((len(key) for key, _ in rows), default=0)
    lines = ["", f"The stack `{CHECKOUT.name}` is up:", *(f"  {key:<{width}}  {value}" for key, value in rows)]
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
