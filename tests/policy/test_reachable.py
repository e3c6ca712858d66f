"""Every rule can be triggered by a reader: some reader tells all the facts that an example which breaks it has.

A rule about facts that nobody reads is documentation of a wish.
"""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings
from components.account.facts import ask
from components.account.question import question
from components.account.reader import account
from components.check.files import Files
from components.check.project import stacks as check_stacks
from components.crossguard import facts as pack_facts
from components.doctor.machine import reach, tools
from components.facts.stack import Fact, Package, Stack
from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from components.rules import rules
from components.settings import SettingsError
from components.settings.facts import facts
from emulator.settings import Account
from emulator.testing import running
from testbed.account import EmulatedAccount
from testbed.check.corpus import PROJECTS
from tests.policy.test_settings_deploy import CHOICES, REFUSED, document
from tests.policy.ways import resource


def told(group: Any) -> Iterator[str]:
    """Return the names of the facts that are known."""
    for each in fields(group):
        value = getattr(group, each.name)
        # `today` is given to every judgement.
        if each.name in {"where", "today"} or value is None or value == each.default:
            continue
        if not is_dataclass(value) or isinstance(value, Fact):
            yield f"{type(group).__name__}.{each.name}"
        for inner in value if isinstance(value, tuple) else (value,):
            if is_dataclass(inner) and not isinstance(inner, Fact):
                yield from told(inner)


def by_check(folder: Path) -> Iterator[Stack]:
    for number, project in enumerate(PROJECTS.values()):
        for name, text in project.files.items():
            path = folder / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        yield from (stack for _, stack, _ in check_stacks(Files(folder / str(number)), folder / str(number)))
    # `check --local` looks for a container engine, and a configuration beside settings is compared with them.
    yield Stack(docker=Fact(value=False, where="PATH"), drift=(Fact("name", "wrangler.jsonc"),))


def by_settings() -> Iterator[Stack]:
    choices = [{path: value} for path, values in CHOICES.items() for value in values]
    for changes in (*choices, *REFUSED.values()):
        try:
            said = SandboxSettings.parse(document(changes))
        except SettingsError:
            continue  # a choice that needs another beside it
        yield facts(said, Package.of(locked=SDK_VERSION), frozenset({"Sandbox"}))


def by_pack() -> Iterator[Stack]:
    binding = {"type": "durable_object_namespace", "className": "Sandbox", "scriptName": "box"}
    text = {"type": "plain_text", "text": "lasting"}
    script = resource(
        "cloudflare-sandbox:index:WorkerScript",
        {
            "scriptName": "box",
            "compatibilityDate": "2026-08-04",
            "compatibilityFlags": ["a"],
            "observability": {"enabled": True},
            "bindings": {
                "Sandbox": binding,
                "ENVIRONMENT": text,
                "BACKUP_BUCKET": {"type": "r2_bucket", "bucketName": "backups"},
                "API_KEYS": {"type": "plain_text", "text": "{}"},
            },
            "classes": {"Sandbox": {"storage": "sqlite", "container": {"images": {"main": OFFICIAL_IMAGE}}}},
            "lifecycle": "exports",
        },
    )
    application = resource(
        "cloudflare-sandbox:index:ContainerApplication",
        {
            "scriptName": "box",
            "className": "Sandbox",
            "image": OFFICIAL_IMAGE,
            "instanceType": "lite",
            "maxInstances": 1,
            "schedulingPolicy": "default",
            "environmentVariables": {"A": "b"},
        },
    )
    resources = [
        script,
        application,
        resource("cloudflare:index/r2Bucket:R2Bucket", {"name": "backups", "jurisdiction": "eu"}),
        resource("cloudflare:index/r2ManagedDomain:R2ManagedDomain", {"bucketName": "backups", "enabled": True}),
        resource("cloudflare:index/workersRoute:WorkersRoute", {"pattern": "*.a.example/*", "script": "box"}),
        resource("cloudflare:index/dnsRecord:DnsRecord", {"name": "*.a.example", "type": "A", "proxied": False}),
        resource("cloudflare:index/certificatePack:CertificatePack", {"hosts": ["a.example"]}),
    ]
    yield from (stack for stack, _ in pack_facts.stacks(resources))
    yield from (pack_facts.alone(each)[0] for each in resources)
    yield Stack(
        budget=Fact(1.0, "container-budget"), environment=Fact("lasting", "box"), package=Package.of(locked="1")
    )


def by_account(folder: Path) -> Iterator[Stack]:
    """What an account tells of a stack that is live there, and this machine: what doctor and the others judge by."""
    compares = "async checkVersionCompatibility() { const sdkVersion = SDK_VERSION; }"
    code = (
        f'const SDK_VERSION = "{SDK_VERSION}"; export class Sandbox {{ {compares} }} export default {{ fetch() {{}} }}'
    )
    metadata = {
        "main_module": "index.js",
        "compatibility_date": "2026-11-01",
        "migrations": {"new_tag": "v1", "steps": [{"new_sqlite_classes": ["Sandbox"]}]},
        "containers": [{"class_name": "Sandbox"}],
    }
    files = {
        "metadata": (None, json.dumps(metadata), "application/json"),
        "index.js": ("index.js", code, "application/javascript+module"),
    }
    with running(folder, accounts=(Account(zones=("a.example",)),)) as served:
        there = EmulatedAccount(served)
        there.api("PUT", "/workers/scripts/box-dev", files=files)
        (namespace,) = there.api("GET", "/workers/durable_objects/namespaces")
        image = {"repository": f"{there.account}/ready", "tags": ["1"], "env": [f"SANDBOX_VERSION={SDK_VERSION}"]}
        digest = there.control("POST", "/registry/images", json=image)["digest"]
        reference = f"{served.origin.removeprefix('http://')}/{there.account}/ready@{digest}"
        body = {
            "name": "box-dev-main",
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": 1,
            "configuration": {"image": reference, "instance_type": "lite"},
            "durable_objects": {"namespace_id": namespace["id"]},
        }
        there.api("POST", "/containers/applications", json=body)
        settings = SandboxSettings.parse(
            {
                "name": "box",
                "image": {"reference": reference},
                "domain": {"hostname": "p.a.example", "zone": "a.example"},
            }
        )
        for environment in (there.env, there.env | {"CLOUDFLARE_API_TOKEN": _reading_itself(there)}):
            found = account(environment)
            assert found is not None
            answer = ask(found, question(settings, "dev"))
            here = replace(answer.account, unreached=reach({"domain.hostname": "p.localhost"}, 9, local=True)[1])
            known = facts(settings, Package.of(locked=SDK_VERSION))
            yield replace(
                replace(answer, account=here).onto(known), tools=tools({"PATH": str(_engine(folder))}, {"buildkit"})
            )
        there.http.close()


def _reading_itself(there: EmulatedAccount) -> str:
    groups = there.api("GET", "/tokens/permission_groups", params={"scope": "com.cloudflare.api.account"})
    policy = {
        "effect": "allow",
        "resources": {f"com.cloudflare.api.account.{there.account}": "*"},
        "permission_groups": [{"id": each["id"]} for each in groups],
    }
    return str(there.api("POST", "/tokens", json={"name": "t", "policies": [policy]})["value"])


def _engine(folder: Path) -> Path:
    """Return a folder with an engine that has no plugins."""
    program = folder / "pulumi"
    program.write_text('#!/bin/sh\n[ "$1" = version ] && echo v3.1.0 && exit\necho "[]"\n')
    program.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The facts that each reader tells."""
    return {
        "check": {name for stack in by_check(tmp_path_factory.mktemp("corpus")) for name in told(stack)},
        "settings": {name for stack in by_settings() for name in told(stack)},
        "pack": {name for stack in by_pack() for name in told(stack)},
        "account": {name for stack in by_account(tmp_path_factory.mktemp("account")) for name in told(stack)},
    }


def test_every_rule_has_a_reader(readers: dict[str, set[str]]):
    unread = {
        rule.id
        for rule in rules()
        if not any(set(told(example)) <= facts for example in rule.bad for facts in readers.values())
    }
    assert unread == set()
