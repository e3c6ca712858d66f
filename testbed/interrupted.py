"""Stacks of one project with something of every kind, on the real engine, to be interrupted and left behind.

The image is put into the registry before each run, as a builder pushes it; the bundle is ready. So a run takes seconds,
and every resource that this package makes is in it.
"""

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from testbed.account import EmulatedAccount
from testbed.plugin.deployment import PLUGIN
from testbed.project import Project
from tools.local.engine import Engine
from tools.paths import ROOT, VENV

ZONE = "orphans.example"
PROGRAM = textwrap.dedent(
    f"""
    import os, sys
    sys.path.insert(0, {str(ROOT)!r})
    import pulumi
    import components
    from components.cloudflare.sandbox import RegistryImage

    config = pulumi.Config()
    account = os.environ["CLOUDFLARE_ACCOUNT_ID"]
    settings = components.SandboxSettings.parse(config.require_object("settings"), account_id=account)
    image = RegistryImage("image", {{
        "account_id": account, "repository": config.require("repository"), "digest": config.require("digest"),
    }})
    stack = components.SandboxStack(settings.name, settings, opts=pulumi.ResourceOptions(depends_on=[image]))
    """
)
CODE = "export class Sandbox {{ fetch() {{ return new Response('{text}'); }} }}\nexport default {{ fetch() {{}} }};\n"


@dataclass
class Stacks:
    """The stacks of a project, in an account of the emulator."""

    folder: Path
    pulumi: Engine
    cloud: EmulatedAccount
    name: str = "crates"

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "__main__.py").write_text(PROGRAM)
        runtime = f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}"
        (self.folder / "Pulumi.yaml").write_text(f"name: {self.name}\n{runtime}\n{PLUGIN}")
        (self.folder / "bundle").mkdir()
        self.cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})

    @property
    def project(self) -> Project:
        return Project(self.folder, self.pulumi)

    def write(self, stack: str, text: str, **more: Any) -> None:
        """Push an image and write code and settings; other text is another image and other code."""
        (self.folder / "bundle" / "index.js").write_text(CODE.format(text=text))
        repository = f"{self.name}-{stack}-main"
        body = {"repository": f"{self.cloud.account}/{repository}", "tags": [text], "labels": {"is": f"{stack}{text}"}}
        digest = self.cloud.control("POST", "/registry/images", json=body)["digest"]
        host = self.cloud.emulator.origin.removeprefix("http://")
        settings = {
            "name": self.name,
            "environment": "throw-away",
            "image": {"reference": f"{host}/{self.cloud.account}/{repository}@{digest}"},
            "sdk": {"version": "0.12.10"},
            "worker": {"bundle": "bundle/index.js"},
            "storage": {
                "files": {"enabled": True},
                "backups": {"enabled": True},
                "conversations": {"enabled": True},
                "events": {"enabled": True},
            },
            "access": {
                "zero_trust": {
                    "team_domain": "team.cloudflareaccess.com",
                    "service_tokens": ["ci"],
                    "emails": ["a@example.com"],
                    "protect": ["api"],
                }
            },
            "domain": {
                "hostname": f"{stack}.{ZONE}",
                "zone": ZONE,
                "api_hostname": f"api-{stack}.{ZONE}",
                "bypass": [f"shop.{stack}.{ZONE}"],
                "shared_zone": "accept",
            },
            **more,
        }
        config = {f"{self.name}:settings": settings, f"{self.name}:repository": repository}
        config[f"{self.name}:digest"] = digest
        path = self.folder / f"Pulumi.{stack}.yaml"
        kept = yaml.safe_load(path.read_text()) if path.exists() else {}
        path.write_text(yaml.safe_dump({**(kept or {}), "config": config}))

    def resources(self, stack: str) -> list[dict[str, Any]]:
        """What the state has."""
        exported = json.loads(self.project.succeed("stack", "export", "--stack", stack))
        found: list[dict[str, Any]] = (exported["deployment"] or {}).get("resources") or []
        return found
