"""`check` on Pulumi projects: their settings, the Worker and the images that these name."""

import json
import re
from pathlib import Path

import pytest

from testbed.check.projects import SOUND, Project, project
from tests.components.check.test_command import DRIFTED, run
from tests.components.check.test_corpus import write


def test_a_pulumi_project(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "Pulumi.yaml").write_text("name: p\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n")
    stack = "config:\n  p:settings:\n    worker:\n      variables:\n        API_TOKEN: abc\n"
    (folder / "Pulumi.dev.yaml").write_text(stack)
    (folder / "Pulumi.bad.yaml").write_text("config:\n  p:settings:\n    name: dev\n    contaner: {}\n")
    code, out, _ = run(capsys)
    assert code == 2
    assert "mandatory: Pulumi.bad.yaml:4: contaner: no such setting; did you mean container? [check/unreadable]" in out
    assert "mandatory: Pulumi.dev.yaml:5: API_TOKEN holds what looks like a secret (3 characters)" in out


def test_findings_lead_to_a_page_about_their_file(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, Project({"app/src/index.ts": SOUND["src/index.ts"].replace("env.Sandbox", "env.BOX")}))
    (folder / "Pulumi.yaml").write_text("name: p\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n")
    settings = "config:\n  p:settings:\n    worker: {entry: app/src/index.ts}\n    image: {dockerfile: Dockerfile}\n"
    (folder / "Pulumi.dev.yaml").write_text(settings)
    (folder / "Pulumi.bad.yaml").write_text("config:\n  p:settings:\n    contaner: {}\n")
    (folder / "Dockerfile").write_text("RUN true\n")
    write(folder / "other", project(main="none.ts"))
    found = json.loads(run(capsys, "--format", "json")[1])["findings"]
    assert [(each["where"], each["rule"], each["link"]) for each in found] == [
        ("Dockerfile:1", "check/unreadable", "https://docs.docker.com/reference/dockerfile/"),
        ("Pulumi.bad.yaml:3", "check/unreadable", "https://www.pulumi.com/docs/iac/concepts/config/"),
        ("Pulumi.dev.yaml:3", "classes/bound", "https://www.pulumi.com/docs/iac/concepts/config/"),
        (
            "other/wrangler.jsonc:3",
            "check/unreadable",
            "https://developers.cloudflare.com/workers/wrangler/configuration/",
        ),
    ]
    assert found[1]["remedy"] == "Fix the settings; docs/settings.md lists them all."


def test_a_pulumi_project_with_a_worker_and_an_image_of_its_own(folder: Path, capsys: pytest.CaptureFixture[str]):
    files = {name: text for name, text in DRIFTED.files.items() if name != "wrangler.jsonc"}
    write(folder, Project({f"app/{name}": text for name, text in files.items()}))
    (folder / "app/src/index.ts").write_text("export default {};\n")
    (folder / "Pulumi.yaml").write_text("name: p\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n")
    (folder / "Pulumi.dev.yaml").write_text(
        "config:\n  p:settings:\n    worker: {entry: app/src/index.ts}\n    image: {dockerfile: app/Dockerfile}\n"
    )
    code, out, _ = run(capsys)
    assert code == 1
    assert re.findall(r"^(?:mandatory|advisory): (\S+): .*\[(.*)\]$", out, re.MULTILINE) == [
        ("app/Dockerfile:1", "versions/image-tag"),
        ("app/src/index.ts:1", "classes/exported"),
    ]
    (folder / "app/src/index.ts").unlink()
    code, out, _ = run(capsys)
    assert code == 2
    assert "mandatory: Pulumi.dev.yaml:3: there is no entry module index.ts [check/unreadable]" in out


def test_a_pulumi_stack_may_be_less_strict_and_the_command_stricter(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "Pulumi.yaml").write_text("name: p\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n")
    stack = (
        "config:\n  p:settings:\n    worker: {variables: {API_TOKEN: abc}}\n    rules: {auth/plain-text-secret: off}\n"
    )
    (folder / "Pulumi.dev.yaml").write_text(stack.replace(": off", ": 'off'"))
    assert run(capsys)[:2] == (0, "1 project: 0 mandatory, 0 advisory findings\n")
    assert run(capsys, "--severity", "auth/plain-text-secret=mandatory")[0] == 1


def test_the_dockerfile_of_every_kind_of_sandbox_is_judged(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "Pulumi.yaml").write_text("name: p\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n")
    (folder / "Pulumi.dev.yaml").write_text(
        "config:\n  p:settings:\n    further_sandboxes:\n"
        "      py: {class_name: Py, image: {dockerfile: py/Dockerfile}}\n"
    )
    write(folder, Project({"py/Dockerfile": "FROM docker.io/cloudflare/sandbox:latest\n"}))
    code, out, _ = run(capsys)
    assert code == 1
    assert out.startswith("mandatory: py/Dockerfile:1: the image docker.io/cloudflare/sandbox:latest is another one")
