"""The policy pack without an engine: facts from recorded programs, levels, exceptions, and values nobody knows."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components import ContainerApplication, SandboxSettings, SandboxStack, WorkerScript
from components.crossguard import facts, surroundings, workers
from components.crossguard.pack import EXCEPTIONS, ConfigError, Pack, Report, Setting, policies, policy_name
from components.crossguard.resource import Resource
from components.provider.lifecycle.values import UNKNOWN
from components.provider.wire import Secret
from components.rules import check, rules
from components.settings.facts import facts as facts_of_settings
from tests.components.monitor import UNKNOWN as RECORDED_UNKNOWN
from tests.components.monitor import Recorded, Registered, deploy
from tests.components.test_stack import ANSWERS, DIGEST
from tests.policy.examples import TODAY

ROOT = Path(__file__).resolve().parents[2]
ACCOUNT = "a" * 32
VERSION = "0.12.10"
ANSWERED = {
    **ANSWERS,
    "cloudflare:index/getZone:getZone": lambda _: {"zoneId": "b" * 32, "id": "b" * 32},
}
DOCUMENTS = sorted([*ROOT.glob("Pulumi.*.yaml"), *(ROOT / "examples").glob("*.yaml")])


def resource_of(said: Registered, recorded: Recorded) -> Resource:
    """What the engine would show of a registered resource once all are there."""
    urns = {each.name: each.urn for each in recorded.resources if each.custom}
    parents = {each.name: each.urn for each in recorded.resources if not each.custom}
    shown = {**said.inputs, **(said.outputs[-1] if said.outputs else {})}
    return Resource(
        type=said.type,
        name=said.name,
        urn=said.urn,
        properties={key: _wire(value, secret=key in said.secret_inputs) for key, value in shown.items()},
        protected=said.protect,
        parent=parents.get(said.parent, ""),
        dependencies={key: tuple(urns[name] for name in names) for key, names in said.input_dependencies.items()},
    )


def _wire(value: Any, *, secret: bool = False) -> Any:
    if secret:
        return Secret(_wire(value))
    if isinstance(value, dict):
        return {key: _wire(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_wire(each) for each in value]
    return UNKNOWN if value == RECORDED_UNKNOWN else value


def judged(recorded: Recorded, pack: Pack | None = None) -> list[Report]:
    """Run a pack over a program as the engine does: each resource, then all."""
    pack = pack or Pack(TODAY)
    shown = [resource_of(each, recorded) for each in recorded.resources]
    return [report for each in shown for report in pack.on_resource(each)] + pack.on_stack(shown)


def said(reports: list[Report]) -> list[tuple[str, str, str]]:
    return [(each.policy, each.urn.rpartition("::")[2], each.text.splitlines()[0]) for each in reports]


Run = Callable[..., Recorded]


@pytest.fixture
def stack_of(tmp_path: Path) -> Run:
    """Record a SandboxStack of these settings, with a ready Worker and image."""
    (tmp_path / "worker.js").write_text("export default {};\n")

    def run(document: dict[str, Any], *, preview: bool = True) -> Recorded:
        ready = {"account_id": ACCOUNT, "sdk": {"version": VERSION}, **document}
        ready["worker"] = {"bundle": "worker.js", **document.get("worker", {})}
        parsed = SandboxSettings.parse(ready)
        secrets = dict.fromkeys(parsed.all_secrets, "s3cret")
        return deploy(
            lambda: SandboxStack("box", parsed, secrets=secrets, folder=tmp_path), answers=ANSWERED, preview=preview
        )

    return run


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_nothing_is_found_in_our_stacks(stack_of: Run, path: Path, preview: bool):
    document = yaml.safe_load(path.read_text())["config"]["sandbox-stack:settings"]
    recorded = stack_of(document, preview=preview)
    assert [each.text for each in judged(recorded)] == []
    assert recorded.of("WorkerScript")


WRONG: dict[str, Any] = {
    "environment": "lasting",
    "worker": {
        "compatibility_date": "2026-11-18",
        "variables": {"API_TOKEN": "abc", "SANDBOX_TRANSPORT": "grpc"},
        "observability": {"enabled": False},
    },
    "image": {"reference": "docker.io/cloudflare/sandbox:0.12.9"},
    "domain": {"hostname": "previews.example.com", "zone_id": "b" * 32, "zone": "previews.example.com"},
}


def test_the_pack_says_what_the_settings_say(stack_of: Run):
    """The same rules with the same words; only the place is another."""
    parsed = SandboxSettings.parse({"account_id": ACCOUNT, "sdk": {"version": VERSION}, **WRONG})
    by_settings = {(each.rule.replace("/", "-"), each.what) for each in check(facts_of_settings(parsed), today=TODAY)}
    recorded = stack_of(WRONG)
    by_pack = {
        (policy, first.partition(": ")[2].rpartition(" [")[0]) for policy, _, first in said(judged(recorded))
    }
    assert by_settings == by_pack
    assert len(by_pack) == 7


def test_findings_point_at_their_resource(stack_of: Run):
    assert said(judged(stack_of(WRONG))) == [
        ("flags-date-future", "box-worker", "box-worker.compatibilityDate: the compatibility date 2026-11-18 is in the future [flags/date-future]"),
        ("container-observability", "box-worker", "box-worker.observability: observability is off [container/observability]"),
        ("container-transport", "box-worker", "box-worker.bindings.SANDBOX_TRANSPORT: SANDBOX_TRANSPORT is 'grpc' [container/transport]"),
        ("auth-plain-text-secret", "box-worker", "box-worker.bindings.API_TOKEN: API_TOKEN holds what looks like a secret (3 characters) [auth/plain-text-secret]"),
        ("versions-image-tag", "box-containers", f"box-containers.image: the image has version 0.12.9, the package {VERSION} [versions/image-tag]"),
        ("image-digest", "box-containers", "box-containers.image: the image docker.io/cloudflare/sandbox:0.12.9 is not named by digest [image/digest]"),
        ("auth-preview-access", "box-domain-previews-route", "box-domain-previews-route.pattern: previews are open to everyone who has the address [auth/preview-access]"),
    ]  # fmt: skip
