from typing import Any

import pytest

from components.application import ApplicationArgs, SandboxApplication
from components.platform.sdk import Generation
from components.settings.container import ContainerSettings
from tests.components.monitor import Recorded, deploy

ACCOUNT = "a" * 32
IMAGE = f"registry.example/{ACCOUNT}/sandbox@sha256:{'1' * 64}"
KIND = "cloudflare-sandbox:index:ContainerApplication"
DEFAULTS = {
    "accountId": ACCOUNT,
    "scriptName": "sandbox-test",
    "className": "Sandbox",
    "name": "sandbox-test-containers",
    "adopt": False,
    "schedulingPolicy": "default",
    "image": IMAGE,
    "instanceType": "basic",
    "maxInstances": 10,
    "observability": {"logs": {"enabled": True}},
    "ssh": {"enabled": False},
    "rollout": {"kind": "gradual", "gracePeriodSeconds": 0, "onFailure": "revert"},
    "workerVersionId": "version-1",
}


def run(settings: dict[str, Any], generation: Generation = "0.12") -> Recorded:
    def program() -> None:
        args = ApplicationArgs(
            settings=ContainerSettings.parse(settings),
            account_id=ACCOUNT,
            script_name="sandbox-test",
            class_name="Sandbox",
            application_name="sandbox-test-containers",
            generation=generation,
            image=IMAGE,
            worker_version_id="version-1",
        )
        SandboxApplication("main", args)

    return deploy(program, answers={KIND: lambda _: {"applicationId": "app-1", "namespaceId": "ns-1"}})


def test_the_defaults_are_small_logged_and_closed():
    recorded = run({})
    assert recorded.names() == ["ContainerApplication main", "SandboxApplication main"]
    application = recorded.one(KIND)
    assert application.inputs == DEFAULTS
    assert application.parent == "main"
    assert recorded.one("SandboxApplication").outputs == [{"application_id": "app-1", "namespace_id": "ns-1"}]


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({"instance_type": "standard-4"}, {"instanceType": "standard-4"}),
        ({"max_instances": 3}, {"maxInstances": 3}),
        ({"regions": ["WEUR", "EEUR"]}, {"constraints": {"regions": ["WEUR", "EEUR"]}}),
        ({"jurisdiction": "eu"}, {"constraints": {"jurisdiction": "eu"}}),
        ({"logs": False}, {"observability": {"logs": {"enabled": False}}}),
        ({"ssh": True}, {"ssh": {"enabled": True}}),
        ({"adopt": True}, {"adopt": True}),
        ({"environment": {"PYTHON_POOL_MIN_SIZE": "0"}}, {"environment": {"PYTHON_POOL_MIN_SIZE": "0"}}),
        (
            {"rollout": {"kind": "immediate", "grace_period_seconds": 60, "on_failure": "fail"}},
            {"rollout": {"kind": "immediate", "gracePeriodSeconds": 60, "onFailure": "fail"}},
        ),
        (
            {"rollout": {"steps": [25, 50, 100]}},
            {"rollout": {**DEFAULTS["rollout"], "steps": [25, 50, 100]}},
        ),
    ],
)
def test_a_setting_changes_its_input_and_no_other(settings: dict[str, Any], changed: dict[str, Any]):
    assert run(settings).one(KIND).inputs == {**DEFAULTS, **changed}


def test_a_size_of_its_own_stands_for_the_instance_type():
    size = {"vcpu": 2.0, "memory_mib": 8192, "disk_mb": 10000}
    inputs = run({"size": size}).one(KIND).inputs
    assert inputs["size"] == {"vcpu": 2.0, "memoryMib": 8192, "diskMb": 10000}
    assert "instanceType" not in inputs


def test_in_generation_1_the_durable_objects_manage_everything():
    assert run({"logs": False}, "1.x").one(KIND).inputs == {
        "accountId": ACCOUNT,
        "scriptName": "sandbox-test",
        "className": "Sandbox",
        "name": "sandbox-test-containers",
        "adopt": False,
        "schedulingPolicy": "durable_object",
        "ssh": {"enabled": False},
        "observability": {"logs": {"enabled": False}},
    }
