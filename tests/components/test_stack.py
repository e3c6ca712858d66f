"""SandboxStack: exactly which resources there are, under which names, in which order, and what they are told."""

import json
from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings, SettingsError
from components.platform.sdk import SDK_VERSION
from tests.components.monitor import Recorded
from tests.components.stacks import ACCOUNT, DIGEST, FULL, MANAGED, SECRETS, Run

GOLDEN = Path(__file__).parent / "golden"


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
            "sdk_version": SDK_VERSION,
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


@pytest.mark.parametrize(
    "document",
    [
        {"image": {"reference": DIGEST}},
        FULL,
        {
            **FULL,
            "storage": {
                **{role: {"enabled": False} for role in ("files", "artifacts", "conversations")},
                "backups": {"token": False},
                "jurisdiction": "eu",
                "existing": {
                    "buckets": {"OLD": {"name": "old-bucket"}},
                    "namespaces": {"KEPT": {"id": "f" * 32, "title": "kept"}},
                },
            },
            "access": {"zero_trust": {**FULL["access"]["zero_trust"], "protect": ["api"], "scopes": ["exec"]}},
            "worker": {"rate_limit": {}, "variables": {"OWN": "x"}, "bindings": {"AI": {"type": "ai"}}},
        },
    ],
    ids=["smallest", "full", "other"],
)
def test_the_names_of_all_bindings_are_known_from_the_settings(run: Run, document: dict[str, Any]):
    secrets = SECRETS if "secrets" in document else {}
    settings = SandboxSettings.parse({"account_id": ACCOUNT, **document})
    names = [name for _, names in settings.binding_names for name in names]
    assert sorted(names) == sorted(run(document, secrets=secrets).one("WorkerScript").inputs["bindings"])


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


def test_a_zone_is_asked_for_once_however_many_routes_and_hosts_it_has(run: Run):
    routes = [{"pattern": f"{zone}/{path}", "zone": zone} for zone in ("one.example", "example.com") for path in "ab"]
    domain = {name: value for name, value in FULL["domain"].items() if name != "zone_id"}
    recorded = run({"image": {"reference": DIGEST}, "domain": domain, "worker": {"routes": routes}})
    asked = [given["filter"]["name"] for token, given in recorded.calls if token.endswith(":getZone")]
    assert sorted(asked) == ["example.com", "one.example"]
    zones = {each.inputs["pattern"]: each.inputs["zoneId"] for each in recorded.of("WorkersRoute")}
    assert (zones["one.example/a"], zones["example.com/b"]) == ("the id of one.example", "the id of example.com")


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
    assert {each.inputs["name"] for each in recorded.of("R2Bucket")} == {"my-files", "my-backups", "my-artifacts"}
    assert recorded.one("WorkersKvNamespace").inputs["title"] == "my conversations"
    assert recorded.one("Queue").inputs["queueName"] == "my-events"


def test_in_generation_1_the_worker_carries_the_images(run: Run):
    recorded = run({"sdk": {"generation": "1.x", "version": "1.0.3"}, "image": {"reference": MANAGED}})
    assert recorded.one("WorkerScript").inputs["classes"] == {"Sandbox": {"container": {"images": {"main": MANAGED}}}}
    assert recorded.one("ContainerApplication").inputs["schedulingPolicy"] == "durable_object"


def test_a_preview_knows_the_graph_and_asks_for_nothing(run: Run):
    recorded = run(FULL, secrets=SECRETS, preview=True)
    assert urns(recorded) == (GOLDEN / "full.txt").read_text()
