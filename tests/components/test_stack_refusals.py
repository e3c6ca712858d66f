"""What SandboxStack refuses, before anything is made."""

from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings, SandboxStack, SettingsError
from components.platform.sdk import SDK_VERSION
from testbed.worker_build import share_packages
from tests.components.monitor import Monitor, deploy
from tests.components.stacks import ACCOUNT, DIGEST, Run


def test_a_name_of_ones_own_that_this_package_uses_is_refused_before_anything_is_made(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    registered: list[str] = []
    record = Monitor.RegisterResource
    monkeypatch.setattr(
        Monitor, "RegisterResource", lambda self, each: (registered.append(each.type), record(self, each))[1]
    )
    document = {
        "image": {"reference": DIGEST},
        "storage": {
            "existing": {
                "buckets": {"RATE_LIMITER": {"name": "kept-bucket"}, "FILES_BUCKET": {"name": "other-bucket"}},
                "namespaces": {"ENVIRONMENT": {"id": "f" * 32, "title": "kept"}},
            }
        },
        "worker": {"rate_limit": {}},
    }
    with pytest.raises(SettingsError) as caught:
        run(document)
    said = "is already the name of a binding by"
    assert caught.value.problems == [
        f"storage.existing.buckets: RATE_LIMITER {said} worker.rate_limit; choose another one",
        f"storage.existing.buckets: FILES_BUCKET {said} storage; choose another one",
        f"storage.existing.namespaces: ENVIRONMENT {said} this package; choose another one",
    ]
    assert registered == ["pulumi:pulumi:Stack"]


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
    with pytest.raises(SettingsError) as caught:
        run({"image": {"files": {"/app": "gone"}}})
    assert caught.value.problems == [
        "image.files: gone does not exist; make it, or take /app out of image.files",
    ]


@pytest.mark.usefixtures("with_node")
def test_the_sdk_version_must_be_what_the_lock_file_resolves(tmp_path: Path):
    settings = SandboxSettings.parse({"account_id": ACCOUNT, "sdk": {"version": "0.12.9"}})
    with pytest.raises(SettingsError) as caught:
        deploy(lambda: SandboxStack("box", settings, folder=tmp_path))
    (problem,) = caught.value.problems
    assert problem.startswith(
        f"sdk.version: the settings name the SDK 0.12.9, the Worker is made with {SDK_VERSION} "
        "[versions/setting-agrees]\n"
    )


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
    assert problem.startswith(
        f"sdk.version: the settings name the SDK 0.12.9, the Worker is made with {SDK_VERSION} "
        "[versions/setting-agrees]\n"
    )
    assert "or install 0.12.9 beside the Worker's entry" in str(caught.value)


@pytest.mark.usefixtures("with_node")
@pytest.mark.parametrize("key", ["entry", "bundle"])
def test_a_worker_that_does_not_export_its_class_is_refused(key: str, tmp_path: Path):
    share_packages(tmp_path)
    (tmp_path / "main.js").write_text("export default { fetch() { return new Response('hi'); } };\n")
    document = {"account_id": ACCOUNT, "worker": {key: "main.js"}, "sdk": {"version": SDK_VERSION}}
    with pytest.raises(SettingsError) as caught:
        deploy(lambda: SandboxStack("box", SandboxSettings.parse(document), folder=tmp_path))
    assert caught.value.problems[0].startswith(f"worker.{key}: the entry module does not export the class Sandbox")
    assert "export { Sandbox } from '@cloudflare/sandbox'" in str(caught.value)


def test_a_mandatory_rule_refuses_the_stack_before_anything_is_made(run: Run):
    with pytest.raises(SettingsError) as caught:
        run({"image": {"reference": DIGEST}, "worker": {"variables": {"API_TOKEN": "abc"}}})
    (problem,) = caught.value.problems
    assert problem.startswith("worker.variables.API_TOKEN: ")
    assert "\n  remedy: " in problem


def test_a_rule_can_be_made_advisory_and_then_warns(run: Run):
    document = {"image": {"reference": DIGEST}, "worker": {"variables": {"API_TOKEN": "abc"}}}
    with pytest.raises(SettingsError) as caught:
        run(document)
    rule = str(caught.value).partition("[")[2].partition("]")[0]
    assert any(f"[{rule}]" in warning for warning in run({**document, "rules": {rule: "advisory"}}).warnings)
    assert not any(f"[{rule}]" in warning for warning in run({**document, "rules": {rule: "off"}}).warnings)


def test_a_rule_that_does_not_exist_is_a_mistake():
    with pytest.raises(SettingsError, match=r"rules: there is no rule flags/none; docs/rules\.md lists them"):
        SandboxSettings.parse({"rules": {"flags/none": "off"}})
