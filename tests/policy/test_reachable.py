"""Every rule can be triggered by a reader: some reader tells all the facts that an example which breaks it has.

A rule about facts that nobody reads is documentation of a wish. Those that wait for a reader are listed.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings
from components.check.files import Files
from components.check.project import stacks as check_stacks
from components.crossguard import facts as pack_facts
from components.facts.stack import Fact, Package, Stack
from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from components.rules import rules
from components.settings import SettingsError
from components.settings.facts import facts
from testbed.check.corpus import PROJECTS
from tests.policy.test_settings_deploy import CHOICES, REFUSED, document
from tests.policy.ways import resource

WAITING = {"auth/token-scope", "auth/token-lacks", "auth/token-expires", "versions/live", "image/fits-disk"}
"""Rules about the token, the live image and the size of an image: `doctor` will read these."""


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


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The facts that each reader tells."""
    return {
        "check": {name for stack in by_check(tmp_path_factory.mktemp("corpus")) for name in told(stack)},
        "settings": {name for stack in by_settings() for name in told(stack)},
        "pack": {name for stack in by_pack() for name in told(stack)},
    }


def test_every_rule_has_a_reader_but_those_that_wait_for_one(readers: dict[str, set[str]]):
    waiting = {
        rule.id
        for rule in rules()
        if not any(set(told(example)) <= facts for example in rule.bad for facts in readers.values())
    }
    assert waiting == WAITING
