"""This repository's own program on the real engine, with a real build, against the emulated account."""

import json
from typing import Any

import pytest

from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from testbed.cloud import Program

pytestmark = pytest.mark.engine

KEY = {"team": {"sha256": "c" * 64, "tenant": "team", "scopes": ["exec"]}}
SMALL = {"environment": "throw-away", "access": {"api_keys": KEY}}


def test_a_stack_from_nothing_to_nothing(program: Program):
    program.settings(SMALL)
    assert "+ 23 to create" in program.project.succeed("preview")
    assert program.cloud.writes() == []

    assert "+ 23 created" in program.up()
    outputs = program.outputs()
    account = program.cloud.emulator.account_id
    assert outputs["images"]["main"].startswith(
        f"{program.cloud.emulator.origin[7:]}/{account}/sandbox-test-main@sha256:"
    )
    assert {key: value for key, value in outputs.items() if isinstance(value, str)} | {
        "x": outputs["bucket_names"]
    } == {
        "environment": "throw-away",
        "sdk_version": SDK_VERSION,
        "service_tokens": "[secret]",
        "worker_name": "sandbox-test",
        "worker_version_id": outputs["worker_version_id"],
        "x": {"artifacts": "sandbox-test-artifacts", "backups": "sandbox-test-backups", "files": "sandbox-test-files"},
    }
    deployed = program.cloud.deployed()
    assert (deployed["worker"], deployed["do_namespace"], deployed["container_application"]) == (1, 1, 1)
    assert (deployed["r2_bucket"], deployed["kv_namespace"], deployed["token"]) == (3, 1, 1)
    program.cloud.calls()

    assert "23 unchanged" in program.up("--expect-no-changes")
    assert "23 unchanged" in program.project.succeed("preview", "--expect-no-changes")
    assert program.cloud.writes() == []
    assert "23 unchanged" in program.project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")

    assert "- 23 deleted" in program.destroy()
    assert program.cloud.deployed() == {}


@pytest.mark.long
def test_a_change_touches_what_it_must_and_nothing_else(program: Program):
    program.settings(SMALL)
    program.up()
    program.settings({**SMALL, "worker": {"variables": {"SLEEP_AFTER": "5m"}}})
    assert "~ 1 updated" in program.up()
    program.settings({**SMALL, "image": {"environment": {"LANG": "C.UTF-8"}}})
    before = program.outputs()["images"]["main"]
    program.up()
    assert program.outputs()["images"]["main"] != before
    assert program.cloud.deployed()["image_manifest"] == 1
    program.destroy()
    assert program.cloud.deployed() == {}


def test_secrets_reach_the_worker_and_nothing_else(program: Program):
    program.settings({**SMALL, "secrets": ["MODEL_API_KEY"]})
    program.project.succeed("config", "set", "--secret", "MODEL_API_KEY", "hunter2-hunter2")
    shown = program.up()
    state = program.project.succeed("stack", "export")
    assert "hunter2" not in shown + state + json.dumps(program.outputs())
    account = program.cloud.emulator.account_id
    address = f"{program.cloud.emulator.url}/accounts/{account}/workers/scripts/sandbox-test/secrets"
    names = {each["name"] for each in program.cloud.http.get(address).json()["result"]}
    assert names == {"API_KEYS", "MODEL_API_KEY", "R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY"}


def test_a_lasting_stack_keeps_its_data(program: Program):
    program.settings({**SMALL, "environment": "lasting"})
    program.up()
    refused = program.project.fail("destroy", "--yes", "--skip-preview")
    assert "is protected" in refused
    assert program.cloud.deployed()["r2_bucket"] == 3
    program.settings(SMALL)
    program.up()
    program.destroy()
    assert program.cloud.deployed() == {}


def test_wrong_settings_stop_the_preview_with_all_mistakes_and_no_traceback(program: Program):
    program.settings({"name": "Not Valid", "colour": "red"})
    output = program.project.fail("preview")
    assert "2 mistakes in the sandbox settings:" in output
    assert "name: use 1 to 32 lower-case letters" in output
    assert "colour: no such setting; known are access, account_id" in output
    assert "Traceback" not in output
    assert program.cloud.calls() == []


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        (
            {"image": {"dockerfile": "own/Dockerfile"}},
            "own/Dockerfile:2: ENTRYPOINT /mine replaces the sandbox server [image/entrypoint]",
        ),
        (
            {"further_sandboxes": {"py": {"class_name": "SandboxPy", "image": {"dockerfile": "own/Dockerfile"}}}},
            "own/Dockerfile:2: ENTRYPOINT /mine replaces the sandbox server [image/entrypoint]",
        ),
        (
            {"image": {"pip": ["polars==1.31.0"]}},
            "image.pip: the variant default has no Python [image/installer]",
        ),
        ({"image": {"files": {"/app": "nowhere"}}}, "image.files: nowhere does not exist"),
    ],
)
def test_what_a_mandatory_rule_refuses_registers_nothing(program: Program, settings: dict[str, Any], finding: str):
    folder = program.project.folder / "own"
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"FROM {OFFICIAL_IMAGE}\nENTRYPOINT /mine\n")
    program.settings({**SMALL, **settings})
    output = program.project.fail("up", "--yes", "--skip-preview")
    assert finding in output
    assert "Traceback" not in output
    assert "unhandled" not in output
    resources = json.loads(program.project.succeed("stack", "export"))["deployment"].get("resources") or []
    assert [each["type"] for each in resources if not each["type"].startswith("pulumi:")] == []
    assert program.cloud.calls() == []


def test_a_missing_secret_is_named(program: Program):
    program.settings({**SMALL, "secrets": ["MODEL_API_KEY"]})
    output = program.project.fail("preview")
    assert "Missing required configuration variable 'sandbox-stack:MODEL_API_KEY'" in output
    assert "pulumi config set --secret" in output
