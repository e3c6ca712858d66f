"""Stacks of one project with something of every kind, on the real engine, to be interrupted and left behind.

The image is put into the registry before each run, as a builder pushes it; the bundle is ready. So a run takes seconds,
and every resource that this package makes is in it.
"""

import asyncio
import json
import shutil
import textwrap
from collections.abc import Iterator
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

    def checkpoint(self, stack: str) -> dict[str, Any]:
        """What the backend has of a stack, as its file says: no command of Pulumi's is between."""
        found: dict[str, Any] = json.loads(self._file(stack).read_text())["checkpoint"].get("latest") or {}
        return found

    def _file(self, stack: str) -> Path:
        return self.folder.parent / "engine" / "state" / ".pulumi" / "stacks" / self.name / f"{stack}.json"

    def mend(self, stack: str) -> bool:
        """Repair what Pulumi was about to write when it was killed; whether something was cut off.

        A checkpoint has the one before beside it; what a backend in a folder notes of its files can be left out.
        """
        path = self._file(stack)
        broken = [each for each in (path, *path.parent.glob("*.attrs")) if not _is_whole(each)]
        for each in broken:
            each.unlink(missing_ok=True)
        if path in broken:
            shutil.copy(path.with_name(f"{path.name}.bak"), path)
        return bool(broken)


def _is_whole(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except (OSError, ValueError):
        return False
    return True


STORED = {
    "worker": "script",
    "container_application": "application",
    "r2_bucket": "bucket",
    "kv_namespace": "kv",
    "queue": "queue",
    "dns_record": "record",
    "worker_route": "route",
    "worker_domain": "custom-domain",
    "certificate_pack": "certificate",
    "token": "token",
    "access_app": "access-application",
    "access_policy": "access-policy",
    "access_service_token": "service-token",
    "image_manifest": "image",
}
"""Kinds of the emulator's documents, and of items. Namespaces come and go with their scripts."""
_IN_ZONES = ("dns_record", "worker_route", "certificate_pack")


def stored(cloud: EmulatedAccount) -> dict[str, dict[str, Any]]:
    """What the account has, from the emulator's own store, by the ids that items have."""

    async def read() -> list[tuple[str, str, str, dict[str, Any]]]:
        store = cloud.emulator.state.store
        return [(kind, scope, key, body) for kind in STORED for scope, key, body in store.everywhere(kind)]

    running = asyncio.run_coroutine_threadsafe(read(), cloud.emulator.loop).result(60)
    return {f"{STORED[kind]}:{_id(kind, scope, key)}": body for kind, scope, key, body in running}


def _id(kind: str, scope: str, key: str) -> str:
    if kind in _IN_ZONES:
        return f"{scope}/{key}"
    return f"{scope.partition('/')[2]}@{key}" if kind == "image_manifest" else key


def orphaned(cloud: EmulatedAccount, states: list[dict[str, Any]]) -> set[str]:
    """What of the account no living stack's state speaks of, worked out without the code under test.

    A state speaks of a thing if its id is a text anywhere in a resource. Operations that were cut off count for
    nothing. An image is also spoken of by the applications that a state speaks of.
    """
    found = stored(cloud)
    texts = {text for state in states for each in state.get("resources") or () for text in _texts(each)}
    known = {name for name in found if not name.startswith("image:") and name.partition(":")[2].split("/")[-1] in texts}
    run = {str(found[name]["configuration"].get("image")) for name in known if name.startswith("application:")}
    digests = {text.rpartition("@")[2] for text in texts | run if "@sha256:" in text}
    known |= {name for name in found if name.startswith("image:") and name.rpartition("@")[2] in digests}
    return found.keys() - known


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in _texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))
