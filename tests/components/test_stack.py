"""SandboxStack: exactly which resources there are, under which names, in which order, and what they are told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components import SandboxSettings, SandboxStack, SettingsError
from tests.components.monitor import Recorded, deploy
from tests.worker_build import share_packages

GOLDEN = Path(__file__).parent / "golden"
ACCOUNT = "a" * 32
DIGEST = f"registry.example/{ACCOUNT}/ready@sha256:{'1' * 64}"
MANAGED = f"registry.cloudflare.com/{ACCOUNT}/ready@sha256:{'1' * 64}"
FULL: dict[str, Any] = {
    "name": "box",
    "account_id": ACCOUNT,
    "image": {"build_secrets": ["PIP_TOKEN"]},
    "further_sandboxes": {"python": {"class_name": "SandboxPython", "image": {"reference": DIGEST}}},
    "storage": {"events": {"enabled": True}, "files": {"cors_origins": ["https://app.example.com"]}},
    "domain": {
        "hostname": "previews.example.com",
        "zone": "example.com",
        "zone_id": "b" * 32,
        "api_hostname": "api.example.com",
        "bypass": ["docs.previews.example.com"],
        "shared_zone": "accept",
    },
    "access": {
        "api_keys": {"ci": {"sha256": "c" * 64, "tenant": "team", "scopes": ["exec"]}},
        "zero_trust": {
            "team_domain": "team.cloudflareaccess.com",
            "email_domains": ["example.com"],
            "service_tokens": ["ci"],
            "token_duration": "4380h",
            "protect": ["api"],
        },
    },
    "secrets": ["MODEL_API_KEY"],
}
SECRETS = {"MODEL_API_KEY": "model-secret", "PIP_TOKEN": "pip-secret"}
ANSWERS: dict[str, Any] = {
    "cloudflare-sandbox:index:getRegistryCredentials": lambda _: {
        "host": "r.example",
        "username": "v1",
        "password": "p",
    },
    "cloudflare-sandbox:index:WorkerScript": lambda _: {
        "versionId": "v1",
        "namespaceIds": {"Sandbox": "n1"},
        "url": None,
    },
    "cloudflare-sandbox:index:ContainerApplication": lambda given: {
        "applicationId": f"app-{given['className']}",
        "namespaceId": "n1",
    },
    "cloudflare-sandbox:index:RegistryImage": lambda given: {
        "reference": f"r.example/{ACCOUNT}/{given['repository']}@{given['digest']}",
        "size": 1,
    },
    "docker-build:index:Image": lambda _: {"digest": f"sha256:{'2' * 64}"},
    "cloudflare:index/accountToken:AccountToken": lambda _: {"value": "token-value"},
    "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": lambda _: {"aud": "audience"},
    "cloudflare:index/zeroTrustAccessServiceToken:ZeroTrustAccessServiceToken": lambda _: {
        "clientId": "id",
        "clientSecret": "client-secret",
    },
    "cloudflare:index/getAccountApiTokenPermissionGroupsList:getAccountApiTokenPermissionGroupsList": lambda _: {
        "results": [
            {"id": "d" * 32, "name": "Workers R2 Storage Bucket Item Read", "scopes": []},
            {"id": "e" * 32, "name": "Workers R2 Storage Bucket Item Write", "scopes": []},
        ]
    },
}


Run = Callable[..., Recorded]


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """A Worker that needs no bundling, in the project's folder."""
    (tmp_path / "worker.js").write_text(
        "class a {}\nexport { a as Sandbox, a as SandboxPython };\nexport default {};\n"
    )
    return "worker.js"


@pytest.fixture
def run(bundle: str, tmp_path: Path) -> Run:
    """Deploy stacks of these settings, each with the ready Worker."""

    def run(*documents: dict[str, Any], secrets: dict[str, str] | None = None, **options: Any) -> Recorded:
        def program() -> None:
            for document in documents:
                worker = {"bundle": bundle, **document.get("worker", {})}
                given = {"account_id": ACCOUNT, "sdk": {"version": "0.12.10"}, **document, "worker": worker}
                settings = SandboxSettings.parse(given)
                stack = SandboxStack(settings.name, settings, secrets=secrets, folder=tmp_path)
                pulumi.export(settings.name, stack.outputs())

        return deploy(program, answers=ANSWERS, **options)

    return run


def urns(recorded: Recorded) -> str:
    return "".join(
        f"{each.urn.removeprefix('urn:pulumi:test::project::')}\n"
        for each in sorted(recorded.resources, key=lambda each: each.urn)
    )


@pytest.mark.parametrize(
    ("name", "document", "secrets"), [("smallest", {"image": {"reference": DIGEST}}, {}), ("full", FULL, SECRETS)]
)
def test_types_and_names_are_part_of_the_contract(
    run: Run, name: str, document: dict[str, Any], secrets: dict[str, str]
):
    """A rename makes every deployed stack replace the resource: give the old name as an alias, then write this anew."""
    assert urns(run(document, secrets=secrets)) == (GOLDEN / f"{name}.txt").read_text()


def test_parts_that_would_hold_nothing_are_left_out(run: Run):
    """The engine writes its whole state for every component that it registers."""
    nothing = {role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")}
    keys = {"api_keys": {"ci": {"sha256": "c" * 64, "tenant": "team", "scopes": ["exec"]}}}
    worker = {"schedules": [], "rate_limit": None}
    recorded = run({"image": {"reference": DIGEST}, "storage": nothing, "access": keys, "worker": worker})
    assert [each.type.rpartition(":")[2] for each in recorded.resources] == [
        "Stack",
        "SandboxStack",
        "SandboxWorker",
        "SandboxApplication",
        "WorkerScript",
        "ContainerApplication",
    ]
    stack = recorded.one("SandboxStack")
    (outputs,) = stack.outputs
    assert (outputs["bucket_names"], outputs["images"]) == ({}, {"main": DIGEST})
    assert recorded.one("WorkerScript").inputs["bindings"]["API_KEYS"]["type"] == "secret_text"


def test_the_outputs_are_complete(run: Run):
    recorded = run(FULL, secrets=SECRETS)
    stack = recorded.one("SandboxStack")
    built = f"r.example/{ACCOUNT}/box-test-main@sha256:{'2' * 64}"
    assert stack.outputs == [
        {
            "worker_name": "box-test",
            "worker_version_id": "v1",
            "api_url": "https://api.example.com",
            "preview_hostname": "previews.example.com",
            "images": {"main": built, "python": DIGEST},
            "application_ids": {"main": "app-Sandbox", "python": "app-SandboxPython"},
            "namespace_ids": {"Sandbox": "n1"},
            "bucket_names": {
                "artifacts": "box-test-artifacts",
                "backups": "box-test-backups",
                "files": "box-test-files",
            },
            "service_tokens": {"ci": {"client_id": "id", "client_secret": "client-secret"}},
            "environment": "lasting",
            "sdk_version": "0.12.10",
        }
    ]
    assert stack.secret_outputs == {"service_tokens"}


def test_the_worker_gets_everything_under_the_names_it_looks_for(run: Run):
    recorded = run(FULL, secrets=SECRETS)
    bindings = recorded.one("WorkerScript").inputs["bindings"]
    assert {name: binding["type"] for name, binding in bindings.items()} == {
        "ACCESS_AUDIENCES": "plain_text",
        "ACCESS_TEAM_DOMAIN": "plain_text",
        "API_HOSTNAME": "plain_text",
        "API_KEYS": "secret_text",
        "ARTIFACTS_BUCKET": "r2_bucket",
        "BACKUP_BUCKET": "r2_bucket",
        "BACKUP_BUCKET_NAME": "plain_text",
        "CLOUDFLARE_ACCOUNT_ID": "plain_text",
        "CONVERSATIONS": "kv_namespace",
        "ENVIRONMENT": "plain_text",
        "EVENTS": "queue",
        "FILES_BUCKET": "r2_bucket",
        "MODEL_API_KEY": "secret_text",
        "PREVIEW_HOSTNAME": "plain_text",
        "R2_ACCESS_KEY_ID": "secret_text",
        "R2_SECRET_ACCESS_KEY": "secret_text",
        "RATE_LIMITER": "ratelimit",
        "SANDBOX_KINDS": "plain_text",
        "SANDBOX_LOG_LEVEL": "plain_text",
        "Sandbox": "durable_object_namespace",
        "SandboxPython": "durable_object_namespace",
    }
    assert json.loads(bindings["SANDBOX_KINDS"]["text"]) == {"python": "SandboxPython"}
    assert bindings["MODEL_API_KEY"]["text"] == "model-secret"
    assert "bindings" in recorded.one("WorkerScript").secret_inputs


def test_the_worker_is_told_what_sandboxes_may_reach(run: Run):
    credential = {"host": "model.example.com", "secret": "MODEL_API_KEY"}
    egress = {"allow": ["model.example.com"], "credentials": {"model": credential}}
    bindings = run({**FULL, "egress": egress}, secrets=SECRETS).one("WorkerScript").inputs["bindings"]
    assert bindings["EGRESS"] == {"type": "plain_text", "text": '["model.example.com"]'}
    told = {**credential, "header": "authorization", "scheme": "bearer"}
    assert json.loads(bindings["EGRESS_CREDENTIALS"]["text"]) == {"model": told}


def test_a_service_token_ends_when_the_settings_say(run: Run):
    assert run(FULL, secrets=SECRETS).one("ZeroTrustAccessServiceToken").inputs["duration"] == "4380h"


def test_order_follows_from_values(run: Run):
    recorded = run(FULL, secrets=SECRETS)
    script = recorded.one("WorkerScript")
    application = recorded.one("ContainerApplication", "box-containers")
    assert {"box-storage-files", "box-storage-backups", "box-storage-artifacts"} <= script.dependencies
    assert {"box-worker", "box-image"} <= application.dependencies
    to_the_worker = [each for each in recorded.of("WorkersRoute") if "script" in each.inputs]
    assert [each.name for each in to_the_worker] == ["box-domain-previews-route", "box-domain-api-route"]
    for route in to_the_worker:
        assert {"box-containers", "box-containers-python"} <= route.dependencies


def test_new_code_waits_for_every_image_that_is_built_unless_told_otherwise(run: Run):
    built = {"further_sandboxes": {"python": {"class_name": "SandboxPython"}}}
    script = run(built).one("WorkerScript")
    assert {"sandbox-image", "sandbox-image-python"} <= script.dependencies
    parallel = run({**built, "worker": {"waits_for_images": False}}).one("WorkerScript")
    assert not {"sandbox-image", "sandbox-image-python"} & parallel.dependencies


def test_what_holds_data_is_protected_in_a_lasting_stack_only(run: Run):
    protected = {each.name for each in run(FULL, secrets=SECRETS).resources if each.protect}
    assert protected == {
        "box-worker",
        "box-storage-files",
        "box-storage-backups",
        "box-storage-artifacts",
        "box-storage-conversations",
        "box-storage-events",
    }
    throw_away = run({**FULL, "environment": "throw-away"}, secrets=SECRETS)
    assert [each.name for each in throw_away.resources if each.protect] == []


def test_several_stacks_live_in_one_program(run: Run):
    ready = {"image": {"reference": DIGEST}}
    recorded = run({"name": "one", **ready}, {"name": "two", **ready})
    assert sorted(recorded.exports) == ["one", "two"]
    names = [each.inputs.get("scriptName") for each in recorded.of("WorkerScript")]
    assert sorted(names) == ["one-test", "two-test"]


def test_two_stacks_cannot_have_one_host(run: Run):
    domain = {"hostname": "previews.example", "zone_id": "b" * 32}
    ready = {"image": {"reference": DIGEST}, "domain": domain}
    with pytest.raises(SettingsError) as caught:
        run({"name": "one", **ready}, {"name": "two", **ready})
    assert caught.value.problems == ["domain: *.previews.example belongs to the stack one too; choose another hostname"]


def test_stacks_with_hosts_of_their_own_share_a_zone(run: Run):
    ready = {"image": {"reference": DIGEST}}
    hosts = ({"hostname": f"{name}.example.com", "zone": "example.com", "zone_id": "b" * 32} for name in ("one", "two"))
    recorded = run(*({"name": host["hostname"][:3], **ready, "domain": host} for host in hosts))
    assert sorted(each.inputs["pattern"] for each in recorded.of("WorkersRoute")) == [
        "*.one.example.com/*",
        "*.two.example.com/*",
    ]


def test_physical_names_can_be_given(run: Run):
    document = {
        "worker": {"name": "my-worker"},
        "container": {"name": "my-application"},
        "image": {"repository": "my/images"},
        "storage": {
            "files": {"name": "my-files"},
            "backups": {"name": "my-backups", "token_name": "my token"},
            "artifacts": {"name": "my-artifacts"},
            "conversations": {"name": "my conversations"},
            "events": {"enabled": True, "name": "my-events"},
        },
        "domain": {"hostname": "previews.example", "zone_id": "b" * 32, "api_hostname": "api.previews.example"},
        "access": {
            "zero_trust": {
                "team_domain": "team.cloudflareaccess.com",
                "emails": ["ada@example.org"],
                "service_tokens": ["ci"],
                "names": {each: f"my {each}" for each in ("api", "previews", "people", "machines", "ci")},
            }
        },
    }
    recorded = run(document)
    named = ("name", "title", "queueName", "scriptName", "repository")
    given = [str(each.inputs[key]) for each in recorded.resources for key in named if key in each.inputs]
    assert len(given) > 15
    assert [name for name in given if "box-test" in name] == []
    assert recorded.one("AccountToken").inputs["name"] == "my token"
    assert {each.inputs["name"] for each in recorded.of("ZeroTrustAccessApplication")} == {"my api", "my previews"}
    assert {each.inputs["name"] for each in recorded.of("ZeroTrustAccessPolicy")} == {"my people", "my machines"}
    assert recorded.one("ZeroTrustAccessServiceToken").inputs["name"] == "my ci"
    assert recorded.one("WorkerScript").inputs["scriptName"] == "my-worker"
    assert recorded.one("ContainerApplication").inputs["name"] == "my-application"
    assert recorded.one("RegistryImage").inputs["repository"] == "my/images"
    assert [each.inputs["name"] for each in recorded.of("R2Bucket")] == ["my-files", "my-backups", "my-artifacts"]
    assert recorded.one("WorkersKvNamespace").inputs["title"] == "my conversations"
    assert recorded.one("Queue").inputs["queueName"] == "my-events"


def test_in_generation_1_the_worker_carries_the_images(run: Run):
    recorded = run({"sdk": {"generation": "1.x", "version": "1.0.3"}, "image": {"reference": MANAGED}})
    assert recorded.one("WorkerScript").inputs["classes"] == {"Sandbox": {"container": {"images": {"main": MANAGED}}}}
    assert recorded.one("ContainerApplication").inputs["schedulingPolicy"] == "durable_object"


def test_a_preview_knows_the_graph_and_asks_for_nothing(run: Run):
    recorded = run(FULL, secrets=SECRETS, preview=True)
    assert urns(recorded) == (GOLDEN / "full.txt").read_text()


@pytest.mark.parametrize(
    ("document", "secrets", "problems"),
    [
        (
            {"account_id": None},
            {},
            ["account_id: is required; add it, or set CLOUDFLARE_ACCOUNT_ID where the program runs"],
        ),
        ({"secrets": ["A"]}, {}, ["secrets: A has no value; give it one"]),
        ({}, {"A": "x"}, ["secrets: A is given and not named; name it there"]),
    ],
)
def test_what_is_missing_is_said_before_anything_is_made(
    run: Run, document: dict[str, Any], secrets: dict[str, str], problems: list[str]
):
    with pytest.raises(SettingsError) as caught:
        run({"image": {"reference": DIGEST}, **document}, secrets=secrets)
    assert caught.value.problems == problems


def test_an_image_that_cannot_be_built_is_told_as_one_message(run: Run):
    with pytest.raises(pulumi.RunError, match=r"^the image cannot be built:\n  image\.files: gone does not exist"):
        run({"image": {"files": {"/app": "gone"}}})


def test_the_sdk_version_must_be_what_the_lock_file_resolves(tmp_path: Path):
    settings = SandboxSettings.parse({"account_id": ACCOUNT, "sdk": {"version": "0.12.9"}})
    with pytest.raises(SettingsError) as caught:
        deploy(lambda: SandboxStack("box", settings, folder=tmp_path))
    assert caught.value.problems == [
        "sdk.version: 0.12.9 is not what the Worker's lock file resolves (0.12.10); remove it, or update the SDK"
    ]


def test_a_worker_without_a_lock_file_needs_the_version(tmp_path: Path):
    (tmp_path / "entry.ts").write_text("export default {};\n")
    settings = SandboxSettings.parse({"account_id": ACCOUNT, "worker": {"entry": "entry.ts"}})
    with pytest.raises(SettingsError) as caught:
        deploy(lambda: SandboxStack("box", settings, folder=tmp_path))
    assert caught.value.problems == [
        "sdk.version: the Worker has no package-lock.json that names the SDK; add the version"
    ]


@pytest.mark.usefixtures("with_node")
def test_the_sdk_version_must_be_what_the_worker_is_bundled_with(tmp_path: Path):
    share_packages(tmp_path)
    (tmp_path / "entry.ts").write_text("export { Sandbox } from '@cloudflare/sandbox';\nexport default {};\n")
    document = {"account_id": ACCOUNT, "worker": {"entry": "entry.ts"}, "sdk": {"version": "0.12.9"}}
    with pytest.raises(SettingsError) as caught:
        deploy(lambda: SandboxStack("box", SandboxSettings.parse(document), folder=tmp_path))
    (problem,) = caught.value.problems
    assert problem == (
        "sdk.version: 0.12.9 is not what the Worker is bundled with (0.12.10); correct it, or install that version "
        "beside the Worker's entry"
    )


@pytest.mark.usefixtures("with_node")
@pytest.mark.parametrize("key", ["entry", "bundle"])
def test_a_worker_that_does_not_export_its_class_is_refused(key: str, tmp_path: Path):
    share_packages(tmp_path)
    (tmp_path / "main.js").write_text("export default { fetch() { return new Response('hi'); } };\n")
    document = {"account_id": ACCOUNT, "worker": {key: "main.js"}, "sdk": {"version": "0.12.10"}}
    with pytest.raises(pulumi.RunError) as caught:
        deploy(lambda: SandboxStack("box", SandboxSettings.parse(document), folder=tmp_path))
    assert str(caught.value).startswith(f"worker.{key}: the entry module does not export the class Sandbox")
    assert "export { Sandbox } from '@cloudflare/sandbox'" in str(caught.value)


def test_a_mandatory_rule_refuses_the_stack_before_anything_is_made(run: Run):
    with pytest.raises(pulumi.RunError) as caught:
        run({"image": {"reference": DIGEST}, "worker": {"variables": {"API_TOKEN": "abc"}}})
    assert str(caught.value).startswith("worker.variables.API_TOKEN: ")
    assert "\n  remedy: " in str(caught.value)


def test_a_rule_can_be_made_advisory_and_then_warns(run: Run):
    document = {"image": {"reference": DIGEST}, "worker": {"variables": {"API_TOKEN": "abc"}}}
    with pytest.raises(pulumi.RunError) as caught:
        run(document)
    rule = str(caught.value).partition("[")[2].partition("]")[0]
    assert any(f"[{rule}]" in warning for warning in run({**document, "rules": {rule: "advisory"}}).warnings)
    assert not any(f"[{rule}]" in warning for warning in run({**document, "rules": {rule: "off"}}).warnings)


def test_a_rule_that_does_not_exist_is_a_mistake():
    with pytest.raises(SettingsError, match=r"rules: there is no rule flags/none; docs/rules\.md lists them"):
        SandboxSettings.parse({"rules": {"flags/none": "off"}})
