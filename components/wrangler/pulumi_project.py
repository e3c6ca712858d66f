"""The files of a Pulumi project that deploys settings; pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_PLAIN: Final = re.compile(r"(?!yes$|off$|true$|false$|null$)[a-z_][a-z0-9_:-]{2,}")
"""Keys that every reader of YAML takes for text without quotes."""
_PROGRAM: Final = '''"""Deploys the sandbox stack that this project's configuration describes."""

import os

import pulumi
import pulumi_cloudflare_sandbox as sandboxes

sandboxes.fast_start()
sandboxes.end_plainly()

config = pulumi.Config()
try:
    sandboxes.require_token(os.environ)
    account = {"account_id": os.environ.get("CLOUDFLARE_ACCOUNT_ID")}
    settings = sandboxes.SandboxSettings.parse(account | (config.get_object("settings") or {}))
    secrets = {name: config.require_secret(name) for name in settings.all_secrets}
    stack = sandboxes.SandboxStack(settings.name, settings, secrets=secrets)
except (sandboxes.SettingsError, pulumi.RunError) as error:
    sandboxes.end(str(error))

for output, value in stack.outputs().items():
    pulumi.export(output, value)
'''
_PROJECT: Final = """name: {name}
description: A Cloudflare Sandbox stack
runtime:
  name: python
  options:
    virtualenv: .venv
plugins:
  providers:
    # requirements.txt brings it.
    - name: cloudflare-sandbox
      path: .venv/bin
"""


def files(document: Mapping[str, Any], stack: str, source: str, requirements: str) -> dict[str, str]:
    """Give the files by name; `source` says where the settings come from, `requirements` what the program needs."""
    name = document["name"]
    source = "".join(letter if letter.isprintable() else "?" for letter in source)
    # JSON is YAML too, but nobody likes to edit it.
    config = _yaml({"config": {f"{name}:settings": document}})
    return {
        "Pulumi.yaml": _PROJECT.format(name=name),
        f"Pulumi.{stack}.yaml": f"# Made by `sandbox-stack import` from {source}.\n{config}",
        "__main__.py": _PROGRAM,
        "requirements.txt": requirements,
    }


def _yaml(value: Any, indent: int = 0) -> str:
    """Write mappings and lists as blocks; everything else as JSON, which YAML reads as it is meant."""
    lines = []
    pad = "  " * indent
    for key, item in value.items():
        shown = key if _PLAIN.fullmatch(key) else json.dumps(key)
        if isinstance(item, dict) and item:
            lines.append(f"{pad}{shown}:\n{_yaml(item, indent + 1)}")
        else:
            lines.append(f"{pad}{shown}: {json.dumps(item)}\n")
    return "".join(lines)
