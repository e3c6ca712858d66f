"""The policy pack without an engine: facts from recorded programs, levels, exceptions, and values nobody knows."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pulumi
import pulumi_cloudflare as cf
import pulumi_docker_build as docker_build
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components import ContainerApplication, SandboxSettings, SandboxStack, WorkerScript
from components.crossguard import facts, workers
from components.crossguard.pack import Pack, Report, Setting
from components.crossguard.resource import Resource
from components.platform.sdk import SDK_VERSION
from components.pulumi_protocol.values import UNKNOWN, Secret
from components.rules import CATALOGUE, check
from components.settings.facts import facts as facts_of_settings
from tests import stack_files
from tests.components.monitor import UNKNOWN as RECORDED_UNKNOWN
from tests.components.monitor import Recorded, Registered, deploy
from tests.components.stacks import ANSWERS, DIGEST
from tests.policy.examples import TODAY
from tools.paths import ROOT

ACCOUNT = "a" * 32
ANSWERED = {
    **ANSWERS,
    "cloudflare:index/getZone:getZone": lambda _: {"zoneId": "b" * 32, "id": "b" * 32},
}


def resource_of(said: Registered, recorded: Recorded) -> Resource:
    """What the engine would show of a registered resource once all are there."""
    urns = {each.name: each.urn for each in recorded.resources if each.custom}
    parents = {each.name: each.urn for each in recorded.resources if not each.custom}
    hidden = said.secret_inputs | said.secret_outputs
    shown = {**said.inputs, **(said.outputs[-1] if said.outputs else {})}
    return Resource(
        type=said.type,
        name=said.name,
        urn=said.urn,
        properties={
            key: _marked(value) if key == "bindings" and isinstance(value, dict) else _wire(value, secret=key in hidden)
            for key, value in shown.items()
        },
        protected=said.protect,
        parent=parents.get(said.parent, ""),
        dependencies={key: tuple(urns[name] for name in names) for key, names in said.input_dependencies.items()},
    )


def _marked(bindings: Any) -> Any:
    """Mark what is secret in bindings, as the engine does; recorded programs have the mark on all of them."""
    return {
        name: {key: _wire(value, secret=key == "text" and each["type"] == "secret_text") for key, value in each.items()}
        for name, each in bindings.items()
    }


def _wire(value: Any, *, secret: bool = False) -> Any:
    if secret:
        return Secret(_wire(value))
    if isinstance(value, dict):
        return {key: _wire(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_wire(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
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
        # The settings' own judgement is off, so that what is wrong reaches the pack.
        ready = {
            "account_id": ACCOUNT,
            "sdk": {"version": SDK_VERSION},
            "rules": dict.fromkeys(CATALOGUE, "off"),
            **document,
        }
        ready["worker"] = {"bundle": "worker.js", **document.get("worker", {})}
        parsed = SandboxSettings.parse(ready)
        secrets = dict.fromkeys(parsed.all_secrets, "s3cret")
        return deploy(
            lambda: SandboxStack("box", parsed, secrets=secrets, folder=tmp_path), answers=ANSWERED, preview=preview
        )

    return run


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
@pytest.mark.parametrize("path", stack_files.FILES, ids=stack_files.name)
def test_nothing_is_found_in_our_stacks(stack_of: Run, path: Path, preview: bool, tmp_path: Path):
    document = stack_files.settings(path)
    if path.parent != ROOT:
        shutil.copytree(path.parent, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
    if "entry" in document.get("worker", {}):
        del document["worker"]["entry"]  # the Worker is a ready one here
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
    parsed = SandboxSettings.parse({"account_id": ACCOUNT, "sdk": {"version": SDK_VERSION}, **WRONG})
    by_settings = {(each.rule.replace("/", "-"), each.what) for each in check(facts_of_settings(parsed), today=TODAY)}
    recorded = stack_of(WRONG)
    by_pack = {(policy, first.partition(": ")[2].rpartition(" [")[0]) for policy, _, first in said(judged(recorded))}
    assert by_settings == by_pack
    assert len(by_pack) == 7


def test_findings_point_at_their_resource(stack_of: Run):
    found = [(policy, name, first.partition(": ")[0]) for policy, name, first in said(judged(stack_of(WRONG)))]
    assert found == [
        ("flags-date-future", "box-worker", "box-worker.compatibilityDate"),
        ("container-observability", "box-worker", "box-worker.observability"),
        ("container-transport", "box-worker", "box-worker.bindings.SANDBOX_TRANSPORT"),
        ("auth-plain-text-secret", "box-worker", "box-worker.bindings.API_TOKEN"),
        ("versions-image-tag", "box-containers", "box-containers.image"),
        ("image-digest", "box-containers", "box-containers.image"),
        ("auth-preview-access", "box-domain-previews-route", "box-domain-previews-route.pattern"),
    ]


def script(name: str, **more: Any) -> WorkerScript:
    return WorkerScript(
        name,
        {
            "account_id": ACCOUNT,
            "script_name": name,
            "main_module": "a.js",
            "modules": {"a.js": {"file": "a.js"}},
            "compatibility_date": "2026-10-01",
            "observability": {"enabled": True},
            "bindings": {"Sandbox": {"type": "durable_object_namespace", "class_name": "Sandbox"}},
            "classes": {"Sandbox": {"container": {}}},
            **more,
        },
    )


def application(name: str, of: pulumi.Input[str], **more: Any) -> ContainerApplication:
    given: Any = {
        "account_id": ACCOUNT,
        "script_name": of,
        "class_name": "Sandbox",
        "image": DIGEST,
        "max_instances": 1,
    }
    return ContainerApplication(name, given | more)


def test_resources_without_a_component_are_judged():
    def program() -> None:
        kept = cf.WorkersKvNamespace("kept", account_id=ACCOUNT, title="kept")
        variables = {
            "KEPT": {"type": "kv_namespace", "namespace_id": kept.id},
            "BACKUP_BUCKET": {"type": "r2_bucket", "bucket_name": "backups"},
            "ENVIRONMENT": {"type": "plain_text", "text": "lasting"},
            "Sandbox": {"type": "durable_object_namespace", "class_name": "Other"},
        }
        made = script("one", bindings=variables)
        application("app", made.script_name, instance_type="large")
        bucket = cf.R2Bucket("backups", account_id=ACCOUNT, name="backups", jurisdiction="eu")
        cf.R2ManagedDomain("open", account_id=ACCOUNT, bucket_name=bucket.name, enabled=True)
        cf.WorkersRoute("route", zone_id="z", pattern="*.box.example.com/*", script="one")
        cf.DnsRecord("record", zone_id="z", name="*.box.example.com", type="AAAA", content="100::", ttl=1)
        cf.CertificatePack(
            "pack",
            zone_id="z",
            type="advanced",
            hosts=["box.example.com"],
            certificate_authority="google",
            validation_method="txt",
            validity_days=90,
        )

    found = said(judged(deploy(program, preview=True)))
    assert sorted(each[:2] for each in found) == sorted(
        [
            ("classes-container-attached", "one"),
            ("classes-created", "one"),
            ("storage-backup-settings", "one"),
            ("storage-protected", "one"),
            ("container-instance-type", "app"),
            ("storage-public-bucket", "open"),
            ("preview-record", "record"),
            ("auth-preview-access", "route"),
            ("storage-backup-jurisdiction", "backups"),
            ("storage-backup-lifecycle", "backups"),
            ("storage-protected", "backups"),
            ("storage-protected", "kept"),
        ]
    )


def test_every_worker_of_a_program_is_judged_by_itself():
    def program() -> None:
        one, two = script("one"), script("two")
        application("app-one", one.script_name)
        application("app-two", two.script_name, max_instances=0)
        application("again", two.script_name)

    found = said(judged(deploy(program, preview=True)))
    assert [each[:2] for each in found] == [("container-max-instances", "app-two"), ("classes-one-container", "again")]


def test_a_worker_without_sandboxes_is_none_of_our_business():
    def program() -> None:
        script("plain", compatibility_date="2020-01-01", bindings={}, classes={})
        cf.WorkersScript("old", account_id=ACCOUNT, script_name="old", compatibility_date="2020-01-01", content="x")
        cf.R2Bucket("elsewhere", account_id=ACCOUNT, name="elsewhere")
        script("boxes")

    assert said(judged(deploy(program, preview=True))) == []


def test_a_worker_of_pulumi_cloudflare_with_a_sandbox_is_judged():
    def program() -> None:
        binding: Any = {"name": "Sandbox", "type": "durable_object_namespace", "class_name": "Sandbox"}
        plain: Any = {"name": "API_TOKEN", "type": "plain_text", "text": "abc"}
        cf.WorkersScript(
            "old",
            account_id=ACCOUNT,
            script_name="old",
            compatibility_date="2026-03-31",
            compatibility_flags=["nodejs_compat"],
            content="x",
            bindings=[binding, plain],
            observability={"enabled": True},
        )

    assert [each[:2] for each in said(judged(deploy(program, preview=True)))] == [
        ("flags-date-floor", "old"),
        ("auth-plain-text-secret", "old"),
    ]


def test_an_image_is_followed_from_its_build_to_the_application():
    def program() -> None:
        image = docker_build.Image("arm", push=False, platforms=[docker_build.Platform.LINUX_ARM64])
        application("app", "elsewhere", image=pulumi.Output.concat("r.example/x@", image.digest))
        docker_build.Image("of-something-else", push=False, platforms=[docker_build.Platform.LINUX_ARM64])

    assert said(judged(deploy(program, preview=True))) == [
        ("image-platform", "arm", "arm.platforms: the image is for linux/arm64 [image/platform]")
    ]


HIDDEN = "ghp_" + "a" * 36
BINDINGS: dict[str, Any] = {
    "Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"},
    "SETTING": {"type": "plain_text", "text": HIDDEN},
}
LEAF = {**BINDINGS, "SETTING": {"type": "plain_text", "text": Secret(HIDDEN)}}
WITHIN = {**BINDINGS, "SETTING": Secret(BINDINGS["SETTING"])}
LATER = {**BINDINGS, "SETTING": {"type": "plain_text", "text": UNKNOWN}}


def uploaded(**properties: Any) -> Resource:
    return Resource(workers.SCRIPT, "one", f"urn:pulumi:dev::p::{workers.SCRIPT}::one", properties)


@pytest.mark.parametrize("bindings", [LEAF, WITHIN, LATER, Secret(BINDINGS), UNKNOWN, Secret(UNKNOWN)])
def test_secret_and_unknown_values_are_neither_told_nor_judged(bindings: Any):
    shown = {"compatibilityDate": Secret("2020-01-01"), "observability": {"enabled": True}, "classes": UNKNOWN}
    pack = Pack(TODAY)
    assert pack.on_resource(uploaded(bindings=bindings, **shown)) == []
    assert pack.on_stack([uploaded(bindings=bindings, **shown)]) == []


def test_the_same_value_in_clear_is_judged():
    found = Pack(TODAY).on_resource(uploaded(bindings=BINDINGS, compatibilityDate="2026-10-01", classes={}))
    assert [each.policy for each in found] == [
        "classes-container-attached",
        "classes-created",
        "container-observability",
        "auth-plain-text-secret",
    ]
    assert HIDDEN not in str(found)


def test_a_budget_is_kept(stack_of: Run):
    document = {"image": {"reference": DIGEST}, "container": {"instance_type": "standard-4", "max_instances": 10}}
    poor = Pack(TODAY, {"container-budget": Setting("mandatory", {"dollars": 1})})
    assert [(each[0], each[1]) for each in said(judged(stack_of(document), poor))] == [("container-budget", "")]
    assert (
        judged(stack_of(document), Pack(TODAY, {"container-budget": Setting("mandatory", {"dollars": 100_000})})) == []
    )


def test_the_budget_of_settings_is_kept_as_well_and_the_lower_one_counts(stack_of: Run):
    document = {"image": {"reference": DIGEST}, "container": {"instance_type": "standard-4", "max_instances": 10}}
    enough = stack_of({**document, "budget": {"monthly_usd": 20_000}})
    assert judged(enough) == []
    (found,) = judged(enough, Pack(TODAY, {"container-budget": Setting("mandatory", {"dollars": 1})}))
    assert "the budget is 1.00" in found.text
    low = stack_of({**document, "budget": {"monthly_usd": 5}})
    (found,) = judged(low, Pack(TODAY, {"container-budget": Setting("mandatory", {"dollars": 100_000})}))
    assert "the budget is 5.00" in found.text
    assert found.urn.endswith("SandboxStack::box")


KEYS = sorted(
    {"scriptName", "script", "compatibilityDate", "compatibilityFlags", "bindings", "classes", "observability"}
    | {"lifecycle", "workersDev", "keepBindings", "className", "schedulingPolicy", "image", "instanceType", "size"}
    | {"maxInstances", "platforms", "build", "name", "jurisdiction", "bucketName", "enabled", "rules", "pattern"}
    | {"proxied", "hosts", "zoneId", "environment", "sdk_version", "text", "type", "storage", "container", "images"}
    | {
        "budget",
        "conditions",
        "prefix",
        "deleteObjectsTransition",
        "Sandbox",
        "BACKUP_BUCKET",
        "ENVIRONMENT",
        "platform",
    }
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.just(UNKNOWN), st.text(max_size=8),
    st.sampled_from(["sqlite", "durable_object_namespace", "plain_text", "lasting", "*.a.example/*", "Sandbox"]),
    st.just("6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"),
)  # fmt: skip
VALUES: Any = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), inner.map(Secret)
    ),
    max_leaves=12,
)
TYPES = sorted(facts.TYPES | {"cloudflare-sandbox:index:RegistryImage"})
URNS = [f"urn:pulumi:dev::p::{type_}::{index}" for index, type_ in enumerate(TYPES)]
RESOURCES = st.builds(
    lambda index, properties, dependencies, parent, protected: Resource(
        TYPES[index], f"r{index}", URNS[index], properties, protected, parent, dependencies
    ),
    st.integers(0, len(TYPES) - 1),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8),
    st.dictionaries(st.sampled_from(KEYS), st.lists(st.sampled_from(URNS), max_size=3).map(tuple), max_size=3),
    st.just(""),
    st.booleans(),
)


@settings(max_examples=150)
@given(st.lists(RESOURCES, max_size=6, unique_by=lambda each: each.urn))
def test_no_value_of_any_property_stops_the_pack(resources: list[Resource]):
    pack = Pack(TODAY, {"container-budget": Setting("mandatory", {"dollars": 1})})
    for each in resources:
        pack.on_resource(each)
    for report in pack.on_stack(resources):
        assert report.urn in {"", *URNS}


def test_only_what_is_looked_at_is_decoded_by_name():
    assert workers.SCRIPT in facts.TYPES
    assert Pack(date(2026, 1, 1)).on_resource(Resource("aws:s3/bucket:Bucket", "b", "urn", {"enabled": True})) == []
