from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pulumi_cloudflare
import pytest

from components import worker
from components.bundle.worker import Module, WorkerBundle
from components.settings import SettingsError
from components.settings.worker import WorkerSettings
from components.worker import SandboxWorker, WorkerArgs
from tests.components.monitor import Recorded, deploy, unknown_inputs

ACCOUNT = "a" * 32
SCRIPT = "cloudflare-sandbox:index:WorkerScript"
BUNDLE = WorkerBundle("index.js", {"index.js": Module(Path("build/index.js"), "2" * 64)})
SANDBOX = {"type": "durable_object_namespace", "className": "Sandbox"}
LIMITER = {"type": "ratelimit", "namespaceId": "295942121", "simple": {"limit": 600, "period": 60}}
DEFAULTS = {
    "accountId": ACCOUNT,
    "scriptName": "sandbox-test",
    "mainModule": "index.js",
    "modules": {"index.js": {"file": "build/index.js", "sha256": "2" * 64}},
    "compatibilityDate": "2026-07-01",
    "compatibilityFlags": ["nodejs_compat"],
    "bindings": {"Sandbox": SANDBOX, "RATE_LIMITER": LIMITER},
    "classes": {"Sandbox": {"container": {}}},
    "deletedClasses": [],
    "lifecycle": "migrations",
    "observability": {"enabled": True, "headSamplingRate": 1.0},
    "workersDev": False,
    "adopt": False,
}


def run(
    settings: dict[str, Any],
    *,
    classes: Mapping[str, Mapping[str, str]] | None = None,
    lasting: bool = True,
    given: Callable[[], dict[str, Any]] = dict,
    preview: bool = False,
) -> Recorded:
    def program() -> None:
        args = WorkerArgs(
            settings=WorkerSettings.parse(settings),
            account_id=ACCOUNT,
            script_name="sandbox-test",
            bundle=BUNDLE,
            classes=classes or {"Sandbox": {}},
            lasting=lasting,
            **given(),
        )
        SandboxWorker("main", args)

    def deployed(_: Any) -> Any:
        return {"versionId": "v1", "namespaceIds": {"Sandbox": "ns-1"}, "url": None}

    return deploy(program, answers={SCRIPT: deployed}, preview=preview)


@pytest.mark.parametrize(
    ("schedules", "words"),
    [
        (["0 3 * * *"], "sandbox-test gets the schedules 0 3 * * * in place of any that it has; set worker.schedules"),
        ([], "schedules that sandbox-test has stay, as worker.schedules is empty"),
    ],
)
def test_a_preview_says_what_becomes_of_the_schedules_of_an_adopted_script(schedules: list[str], words: str):
    (said,) = run({"adopt": True, "schedules": schedules}, preview=True).warnings
    assert said.startswith(f"worker.adopt: {words}")
    assert run({"adopt": True, "schedules": schedules}).warnings == []


def test_the_defaults_bind_the_class_limit_requests_and_stay_off_workers_dev():
    recorded = run({})
    assert recorded.names() == ["SandboxWorker main", "WorkerScript main", "WorkersCronTrigger main-schedules"]
    script = recorded.one(SCRIPT)
    assert script.inputs == DEFAULTS
    assert (script.parent, script.protect) == ("main", True)
    trigger = recorded.one("WorkersCronTrigger")
    assert trigger.inputs == {
        "accountId": ACCOUNT,
        "scriptName": "sandbox-test",
        "schedules": [{"cron": "*/15 * * * *"}],
    }
    assert unknown_inputs(trigger, pulumi_cloudflare) == []
    assert (trigger.parent, trigger.dependencies) == ("main", {"main"})
    assert recorded.one("SandboxWorker").outputs == [
        {"script_name": "sandbox-test", "version_id": "v1", "namespace_ids": {"Sandbox": "ns-1"}}
    ]


def test_a_throw_away_worker_is_not_protected():
    assert not run({}, lasting=False).one(SCRIPT).protect


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({"compatibility_date": "2026-08-03"}, {"compatibilityDate": "2026-08-03"}),
        ({"compatibility_date": "2026-08-04"}, {"compatibilityDate": "2026-08-04", "compatibilityFlags": []}),
        ({"compatibility_flags": ["b_flag", "a_flag"]}, {"compatibilityFlags": ["a_flag", "b_flag", "nodejs_compat"]}),
        ({"workers_dev": True}, {"workersDev": True}),
        ({"adopt": True}, {"adopt": True}),
        ({"lifecycle": "exports"}, {"lifecycle": "exports"}),
        ({"deleted_classes": ["Old"]}, {"deletedClasses": ["Old"]}),
        ({"renamed_classes": {"Sandbox": "Box"}}, {"classes": {"Sandbox": {"container": {}, "renamedFrom": "Box"}}}),
        ({"cpu_milliseconds": 50}, {"limits": {"cpuMs": 50}}),
        ({"subrequests": 7}, {"limits": {"subrequests": 7}}),
        ({"preview_urls": True}, {"previewUrls": True}),
        ({"logpush": True}, {"logpush": True}),
        ({"tail_consumers": ["listener"]}, {"tailConsumers": [{"service": "listener"}]}),
        ({"placement": {"mode": "smart"}}, {"placement": {"mode": "smart"}}),
        ({"placement": {"region": "aws:us-east-1"}}, {"placement": {"region": "aws:us-east-1"}}),
        (
            {"placement": {"mode": "targeted", "host": "db:5432"}},
            {"placement": {"mode": "targeted", "host": "db:5432"}},
        ),
        ({"placement": {"hostname": "example.com"}}, {"placement": {"hostname": "example.com"}}),
        ({"keeps_secrets": True}, {"keepBindings": ["secret_text", "secret_key"]}),
        (
            {"classes": {"Counter": {"storage": "legacy-kv"}}},
            {
                "classes": {"Sandbox": {"container": {}}, "Counter": {"storage": "legacy-kv"}},
                "bindings": {
                    "Sandbox": SANDBOX,
                    "Counter": {"type": "durable_object_namespace", "className": "Counter"},
                    "RATE_LIMITER": LIMITER,
                },
            },
        ),
        (
            {"bindings": {"BOX": {"type": "durable_object_namespace", "class_name": "Sandbox"}}, "rate_limit": None},
            {"bindings": {"BOX": SANDBOX}},
        ),
        (
            {"observability": {"logs": {"invocation_logs": False, "persist": False, "destinations": ["sink"]}}},
            {
                "observability": {
                    "enabled": True,
                    "headSamplingRate": 1.0,
                    "logs": {
                        "enabled": True,
                        "headSamplingRate": 1.0,
                        "persist": False,
                        "destinations": ["sink"],
                        "invocationLogs": False,
                    },
                }
            },
        ),
        (
            {"observability": {"enabled": True, "sampling_rate": 0.1}},
            {"observability": {"enabled": True, "headSamplingRate": 0.1}},
        ),
        ({"rate_limit": None}, {"bindings": {"Sandbox": SANDBOX}}),
        (
            {"rate_limit": {"requests": 5, "period_seconds": 10}},
            {"bindings": {"Sandbox": SANDBOX, "RATE_LIMITER": {**LIMITER, "simple": {"limit": 5, "period": 10}}}},
        ),
        (
            {"variables": {"SLEEP_AFTER": "5m"}},
            {"bindings": {**DEFAULTS["bindings"], "SLEEP_AFTER": {"type": "plain_text", "text": "5m"}}},
        ),
        (
            {"bindings": {"AI": {"type": "ai"}, "DB": {"type": "d1", "id": "x"}}},
            {"bindings": {**DEFAULTS["bindings"], "AI": {"type": "ai"}, "DB": {"type": "d1", "id": "x"}}},
        ),
    ],
)
def test_a_setting_changes_its_input_and_no_other(settings: dict[str, Any], changed: dict[str, Any]):
    assert run(settings).one(SCRIPT).inputs == {**DEFAULTS, **changed}


def test_without_schedules_there_is_no_trigger():
    assert run({"schedules": []}).names() == ["SandboxWorker main", "WorkerScript main"]


def test_what_others_give_is_bound_and_secrets_stay_secret():
    def given() -> dict[str, Any]:
        return {
            "bindings": {"FILES_BUCKET": {"type": "r2_bucket", "bucket_name": pulumi.Output.from_input("files")}},
            "variables": {"PREVIEW_HOSTNAME": "preview.example.com"},
            "secrets": {"API_KEYS": pulumi.Output.secret("[]")},
        }

    script = run({}, given=given).one(SCRIPT)
    assert script.inputs["bindings"] == {
        **DEFAULTS["bindings"],
        "FILES_BUCKET": {"type": "r2_bucket", "bucketName": "files"},
        "PREVIEW_HOSTNAME": {"type": "plain_text", "text": "preview.example.com"},
        "API_KEYS": {"type": "secret_text", "text": "[]"},
    }
    assert "bindings" in script.secret_inputs


def test_classes_of_generation_1_carry_their_images():
    inputs = run({}, classes={"Sandbox": {"main": "i@sha256:1"}, "Other": {}}).one(SCRIPT).inputs
    assert inputs["classes"] == {
        "Sandbox": {"container": {"images": {"main": "i@sha256:1"}}},
        "Other": {"container": {}},
    }
    assert inputs["bindings"]["Other"] == {"type": "durable_object_namespace", "className": "Other"}


def test_every_name_that_two_bindings_have_is_told_with_both_owners():
    with pytest.raises(SettingsError) as told:
        run(
            {"variables": {"Sandbox": "x", "RATE_LIMITER": "x", "KEY": "x"}, "rate_limit": {}},
            given=lambda: {"secrets": {"KEY": "x", "ENVIRONMENT": "x"}, "variables": {"ENVIRONMENT": "lasting"}},
        )
    assert str(told.value) == (
        "4 mistakes in the sandbox settings:\n"
        "  secrets: ENVIRONMENT is already the name of a binding by this package; choose another one\n"
        "  worker.variables: Sandbox is already the name of a binding by class_name; choose another one\n"
        "  worker.variables: RATE_LIMITER is already the name of a binding by worker.rate_limit; choose another one\n"
        "  worker.variables: KEY is already the name of a binding by secrets; choose another one"
    )


@pytest.mark.parametrize("name", ["ENVIRONMENT", "RATE_LIMITER"])
def test_a_binding_that_was_given_does_not_replace_another(name: str):
    given = {"bindings": {name: {"type": "kv_namespace", "namespace_id": "n"}}, "variables": {"ENVIRONMENT": "lasting"}}
    with pytest.raises(SettingsError, match=f"{name} is already the name of a binding by bindings"):
        run({"rate_limit": {}}, given=lambda: given)


def test_two_scripts_do_not_share_a_rate_limiter():
    numbers = {worker._rate_limiter(f"script-{index}", 1, 10)["namespace_id"] for index in range(1000)}
    assert len(numbers) == 1000
