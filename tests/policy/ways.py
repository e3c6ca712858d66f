"""The public ways to the rules, each from what a user writes to the ids of what is found: settings, check, pack."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components import SandboxSettings
from components.check.project import check_path
from components.crossguard.pack import Pack
from components.crossguard.resource import Resource
from components.facts.stack import Package
from components.platform.sdk import SDK_VERSION
from components.rules import check
from components.settings.facts import facts
from testbed.check.projects import project
from tests.policy.examples import TODAY

APPLICATION = "cloudflare-sandbox:index:ContainerApplication"
SCRIPT = "cloudflare-sandbox:index:WorkerScript"
STACK = "cloudflare-sandbox:index:SandboxStack"
URN = "urn:pulumi:dev::app::{}::{}"


def by_settings(document: dict[str, Any], locked: str = SDK_VERSION) -> set[str]:
    """Judge settings as SandboxStack does, whose Worker has this version of the SDK."""
    return {each.rule for each in check(facts(SandboxSettings.parse(document), Package.of(locked=locked)), today=TODAY)}


def by_check(folder: Path, files: Mapping[str, str] | None = None, **changes: Any) -> set[str]:
    """Judge a wrangler project: the sound one with some files and keys of the configuration changed."""
    return _checked(folder, project(files=files, **changes).files)


def by_check_of_settings(folder: Path, document: dict[str, Any], files: Mapping[str, str] | None = None) -> set[str]:
    """Judge a Pulumi project with a stack of these settings."""
    stack = yaml.safe_dump({"config": {"app:settings": document}})
    named = "name: app\nruntime: python\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n"
    return _checked(folder, {"Pulumi.yaml": named, "Pulumi.dev.yaml": stack, **(files or {})})


def _checked(folder: Path, files: Mapping[str, str]) -> set[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {each.rule for each in check_path(folder, today=TODAY).findings}


def by_pack(script: dict[str, Any], *, image: str | None = None, sdk_version: str | None = None) -> set[str]:
    """Judge resources as the engine shows them to the pack."""
    parent = URN.format(STACK, "box")
    sound = {
        "scriptName": "box",
        "compatibilityDate": "2026-08-04",
        "observability": {"enabled": True},
        "bindings": {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}},
        "classes": {"Sandbox": {"container": {}}},
    }
    resources = [
        Resource(STACK, "box", parent, {"sdk_version": sdk_version} if sdk_version else {}),
        Resource(SCRIPT, "worker", URN.format(SCRIPT, "worker"), sound | script, parent=parent),
    ]
    if image:
        said = {"scriptName": "box", "className": "Sandbox", "image": image, "maxInstances": 1}
        resources.append(Resource(APPLICATION, "app", URN.format(APPLICATION, "app"), said, parent=parent))
    pack = Pack(TODAY)
    found = [report for each in resources for report in pack.on_resource(each)] + pack.on_stack(resources)
    return {each.policy.replace("-", "/", 1) for each in found}


def resource(type_: str, properties: dict[str, Any]) -> Resource:
    """Make a resource as the engine shows it."""
    name = type_.rpartition(":")[2]
    return Resource(type_, name, URN.format(type_, name), properties)
