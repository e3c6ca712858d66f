"""What comes of answers: files that parse, settings that are right, a project that passes the check."""

import ast
import json
import re
import tempfile
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components import SandboxSettings
from components.check.project import check_path
from components.init import meaning
from components.init.answers import Answers
from components.init.plan import SCHEMA, TEMPLATES, plan
from components.init.questions import QUESTIONS, settled
from components.init.writing import write
from components.platform import sdk
from docs.generators import settings as settings_pages
from tests.components.init.answers import PACKAGE, given_answers
from tools.paths import ROOT, sdk_version

TODAY = date(2026, 11, 18)
DEFAULT = [".gitignore", "Pulumi.dev.yaml", "Pulumi.yaml", "__main__.py", "requirements.txt"]
EVERYTHING = [
    ".devcontainer/devcontainer.json",
    ".github/workflows/sandbox.yml",
    *DEFAULT[:1],
    "Dockerfile",
    *DEFAULT[1:],
    "worker/.npmrc",
    "worker/package-lock.json",
    "worker/package.json",
    "worker/src/callers.ts",
    "worker/src/index.ts",
    "worker/tsconfig.json",
]
EDITORS = jsonschema.Draft202012Validator(json.loads(settings_pages.schema()))


def stack_settings(files: dict[str, str], answers: Answers) -> Any:
    document = yaml.safe_load(files[f"Pulumi.{answers.stack}.yaml"])
    EDITORS.validate(document)
    (key,) = document["config"]
    assert key == f"{answers.name}:settings"
    return document["config"][key]


@given(given_answers())
@settings(max_examples=25)
def test_whatever_is_answered_gives_a_project_that_passes_the_check(said: dict[str, Any]):
    answers = settled(said, "")
    assert meaning.wrong(answers) == []
    files = plan(answers, PACKAGE)
    written = stack_settings(files, answers)
    assert written == meaning.settings(answers)
    assert SandboxSettings.parse(written).environment == answers.environment
    assert yaml.safe_load(files["Pulumi.yaml"])["name"] == answers.name
    ast.parse(files["__main__.py"])
    for name in files:
        if name.endswith(".json"):
            json.loads(files[name])
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "project", files)
        result = check_path(Path(folder), today=TODAY)
    assert [each.text() for each in result.findings if each.severity == "mandatory"] == []
    assert result.projects >= 1


@given(st.sampled_from([each for each in QUESTIONS if each.kind is str and not each.choices]), st.text(max_size=300))
@settings(max_examples=50)
def test_no_text_leads_out_of_the_folder_or_becomes_yaml(question: Any, text: str):
    answers = settled({"name": "demo", "hostname": "previews.example", question.field: text}, "")
    if meaning.wrong(answers):
        return
    files = plan(answers, PACKAGE)
    assert [name for name in files if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts] == []
    assert stack_settings(files, answers) == meaning.settings(answers)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "../etc", "name: use 1 to 32 lower-case letters, digits and hyphens"),
        ("name", "my project", "name: use 1 to 32"),
        ("name", "日本", "name: use 1 to 32"),
        ("name", "a" * 33, "name: use 1 to 32"),
        ("name", "cloudflare-sandbox", "name: cloudflare-sandbox is a plugin, which would take this project's"),
        ("stack", "../../x", "stack: use 1 to 100 letters, digits, hyphens and underscores"),
        ("stack", "", "stack: use 1 to 100"),
        ("stack", "dev\n", "stack: use 1 to 100"),
        ("hostname", "previews.example\nzone: x", "domain.hostname: "),
        ("max_instances", 0, "container.max_instances: should be greater than or equal to 1"),
        ("max_instances", 10**9, "container: an account may run"),
        (
            "pip",
            ("polars==1.31.0",),
            "image.pip: the variant default has no Python; set image.variant to one",
        ),
        ("apt", ("jq; rm -rf /",), "image.apt: 'jq; rm -rf /' is no Debian package with its version"),
        ("storage", ("disk",), "storage: there is no 'disk'; known are files, backups, artifacts"),
        ("callers", "access", "access.zero_trust: there are no hosts to stand before; add the settings domain"),
    ],
)
def test_what_is_wrong_is_told_by_the_settings(field: str, value: Any, message: str):
    problem, *_ = meaning.wrong(settled({"name": "demo", field: value}, ""))
    assert problem.startswith(message)


def test_the_files_are_those_that_were_asked_for():
    everything = Answers(name="demo", worker="own", dockerfile=True, pipeline="github", devcontainer=True)
    assert [*plan(Answers(name="demo"), PACKAGE)] == DEFAULT
    assert [*plan(everything, PACKAGE)] == EVERYTHING
    assert ".gitlab-ci.yml" in plan(Answers(name="demo", pipeline="gitlab"), PACKAGE)


def test_what_is_usual_is_not_written():
    assert meaning.settings(Answers(name="demo")) == {
        "environment": "throw-away",
        "worker": {"workers_dev": True},
        "container": {"instance_type": "basic", "max_instances": 10},
    }


def test_the_program_is_short_and_does_what_this_repositorys_does():
    program = plan(Answers(name="demo"), PACKAGE)["__main__.py"]
    assert len(program.splitlines()) <= 25
    names = set(re.findall(r"components\.(\w+)", (ROOT / "__main__.py").read_text()))
    assert set(re.findall(r"sandboxes\.(\w+)", program)) == names


def test_the_packages_of_the_worker_are_those_of_this_package():
    package = json.loads((TEMPLATES / "worker" / "package.json").read_text())
    lock = json.loads((TEMPLATES / "worker" / "package-lock.json").read_text())["packages"]
    ours = json.loads((ROOT / "worker_src" / "package.json").read_text())
    direct = {**package["dependencies"], **package["devDependencies"]}
    known = {**ours["dependencies"], **ours["devDependencies"]}
    assert direct == {name: known[name] for name in direct}
    assert direct == {name: lock[f"node_modules/{name}"]["version"] for name in direct}
    assert direct["@cloudflare/sandbox"] == sdk_version() == sdk.SDK_VERSION
    assert lock[""]["dependencies"] == package["dependencies"]
    assert [name for name, each in lock.items() if name and not each.get("integrity")] == []
    assert not any("resolved" in each for each in lock.values())


def test_the_versions_are_those_that_are_tested():
    lines = plan(Answers(name="demo"), PACKAGE)["requirements.txt"].splitlines()
    tested = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not line.startswith("#")] == [PACKAGE, *tested]


def test_editors_find_the_schema_where_the_wheel_puts_it():
    text = plan(Answers(name="demo"), PACKAGE)["Pulumi.dev.yaml"]
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA}\n")
    assert f'= "{SCHEMA.removeprefix(".venv/")}"' in (ROOT / "pyproject.toml").read_text()


def test_the_token_is_no_part_of_the_dev_container_itself():
    """Who may inspect a container sees its environment; what is set for the tools in it is not part of that."""
    made = plan(Answers(name="demo", devcontainer=True), "package")
    document = json.loads(made[".devcontainer/devcontainer.json"])
    assert "CLOUDFLARE_API_TOKEN" in document["remoteEnv"]
    assert "containerEnv" not in document
