"""The pipelines run: every shell step of both, on the real engine and the emulator.

Actions, images and the steps that only download packages are not run here: what they provide is put in place instead.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from components.platform.sdk import SDK_VERSION
from emulator.testing import Running, running
from testbed.installed import environment
from tools.local import engine
from tools.paths import ROOT
from tools.setup import toolchain

pytestmark = pytest.mark.engine

GITHUB = yaml.safe_load((ROOT / "pipelines" / "github-actions.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "pipelines" / "gitlab-ci.yml").read_text())
HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
CODE = """
export class Sandbox { async fetch() { return new Response(); } }
export default { async fetch() { return new Response(); } };
"""
SECRET = "API_TOKEN holds what looks like a secret (3 characters)"
PROGRAM = """
import pulumi_cloudflare_sandbox as sandboxes

settings = sandboxes.SandboxSettings.parse(SETTINGS)
sandboxes.SandboxStack("mine", settings)
"""
INSTALL = ["python -m venv .venv", ".venv/bin/python -m pip install --quiet --requirement requirements.txt"]


class Project:
    """A repository that deploys from its root, and the shell of a runner."""

    package = "components"

    def __init__(self, folder: Path, pulumi: engine.Engine, emulator: Running) -> None:
        self.folder, self.emulator = folder, emulator
        self.place()
        (folder / "worker.js").write_text(CODE)
        self.http = httpx.Client(headers={"authorization": f"Bearer {emulator.token}"}, timeout=30)
        image = {"repository": f"{emulator.account_id}/ready", "tags": ["1"], "labels": {}}
        made = self.http.post(f"{emulator.origin}/_emulator/registry/images", json=image).json()["result"]
        self.image = f"registry.cloudflare.com/{image['repository']}@{made['digest']}"
        self.env = {
            **pulumi.env,
            "CLOUDFLARE_BASE_URL": emulator.url,
            "CLOUDFLARE_ACCOUNT_ID": emulator.account_id,
            "CLOUDFLARE_API_TOKEN": emulator.token,
            "PULUMI_STACK": "test",
            "SANDBOX_PACKAGE": self.package,
        }
        self.env["PATH"] = os.pathsep.join([str(pulumi.program.parent), self.env["PATH"]])
        assert self.shell("pulumi stack init test --non-interactive").returncode == 0

    def place(self) -> None:
        """Put a copy of this repository in place."""
        ignored = shutil.ignore_patterns("__pycache__")
        for name in ("components", "policy"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=ignored)
        for name in ("Pulumi.yaml", "__main__.py", "requirements.txt"):
            shutil.copy(ROOT / name, self.folder)
        (self.folder / ".venv").symlink_to(ROOT / ".venv")

    def write(self, **variables: str) -> None:
        self.configure(
            {
                "environment": "throw-away",
                "sdk": {"version": SDK_VERSION},
                "worker": {"bundle": "worker.js", "variables": variables},
                "image": {"reference": self.image},
            }
        )
        self.http.delete(f"{self.emulator.origin}/_emulator/journal")

    def configure(self, settings: dict[str, Any]) -> None:
        config = self.folder / "Pulumi.test.yaml"
        salt = [line for line in config.read_text().splitlines() if line.startswith("encryptionsalt")]
        config.write_text("\n".join([*salt, yaml.safe_dump({"config": {"sandbox-stack:settings": settings}})]))

    def shell(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=self.folder,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def written(self) -> int:
        entries = self.http.get(f"{self.emulator.origin}/_emulator/journal").json()["result"]
        return sum(each["method"] not in {"GET", "HEAD"} for each in entries)

    def github(self, job: str, **env: str) -> tuple[int, str]:
        """Run the shell steps of a job until one fails; give its exit code and all that was printed."""
        told, printed = self.folder / "github-output", ""
        told.write_text("")
        for step in GITHUB["jobs"][job]["steps"]:
            if "run" not in step or step["run"].splitlines() == INSTALL:
                continue
            outputs = dict(line.split("=", 1) for line in told.read_text().splitlines())
            own = {key: outputs[value.split(".")[-1].strip(" }")] for key, value in step.get("env", {}).items()}
            done = self.shell(step["run"], GITHUB_OUTPUT=str(told), **own, **env)
            printed += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, printed
        return 0, printed

    def gitlab(self, job: str, **env: str) -> tuple[int, str]:
        lines = [line for entry in GITLAB[job]["script"] for line in (entry if isinstance(entry, list) else [entry])]
        done = self.shell("\n".join(line for line in lines if line not in INSTALL), **env)
        return done.returncode, done.stdout + done.stderr

    def sarif(self) -> list[tuple[str, str]]:
        document = json.loads((self.folder / "sandbox.sarif").read_text())
        assert document["version"] == "2.1.0"
        return [(each["ruleId"], each["message"]["text"]) for each in document["runs"][0]["results"]]


class Library(Project):
    """A project that has the package installed, and its settings in the program."""

    package = re.findall("'(.+)'", GITHUB["env"]["SANDBOX_PACKAGE"])[0]

    def place(self) -> None:
        shutil.copy(ROOT / "examples" / "library" / "Pulumi.yaml", self.folder)
        (self.folder / "requirements.txt").write_text(f"{self.package.replace('_', '-')} @ {ROOT.as_uri()}\n")
        environment(self.folder)

    def configure(self, settings: dict[str, Any]) -> None:
        whole = {**settings, "name": "mine", "account_id": self.emulator.account_id}
        (self.folder / "__main__.py").write_text(PROGRAM.replace("SETTINGS", repr(whole)))


@pytest.fixture(scope="module", params=[Project, Library])
def project(
    request: pytest.FixtureRequest, tools_provided: toolchain.Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("pipeline")
    with running(folder / "cloud") as emulator:
        (folder / "repository").mkdir()
        yield request.param(folder / "repository", engine.isolated(tools_provided, folder / "engine"), emulator)


def test_both_pipelines_take_the_installed_package_unless_told_otherwise():
    assert GITLAB["variables"]["SANDBOX_PACKAGE"] == Library.package == "pulumi_cloudflare_sandbox"


def test_a_mistake_is_found_by_every_stage_in_the_same_words_and_nothing_is_written(project: Project):
    project.write(API_TOKEN="abc")
    for check, preview in ((project.github, project.github), (project.gitlab, project.gitlab)):
        names = ("check", "preview") if check == project.github else ("sandbox-check", "sandbox-preview")
        status, printed = check(names[0])
        assert (status, SECRET in printed, "auth/plain-text-secret" in printed) == (1, True, True), printed
        ((rule, text),) = project.sarif()
        assert rule == "auth/plain-text-secret"
        assert text.startswith(SECRET)
        status, printed = preview(names[1])
        assert status != 0
        assert f"{SECRET} [auth/plain-text-secret]" in printed
        assert project.emulator.token not in printed
    assert project.written() == 0


def test_without_secrets_there_is_a_notice_instead_of_a_preview(project: Project):
    notice = "no preview: this pull request comes from a fork, which gets no secrets"
    assert project.github("preview", CLOUDFLARE_API_TOKEN="") == (0, f"::notice::{notice}\n")
    status, printed = project.gitlab("sandbox-preview", CLOUDFLARE_API_TOKEN="")
    assert (status, printed) == (0, "no preview: this merge request gets no secrets\n")


def test_a_good_project_is_previewed_and_deployed(project: Project):
    project.write(LOG_LEVEL="debug")
    assert project.github("check")[0] == 0
    assert project.sarif() == []
    for run, names in (
        (project.github, ("preview", "deploy")),
        (project.gitlab, ("sandbox-preview", "sandbox-deploy")),
    ):
        before = project.written()
        status, printed = run(names[0])
        assert (status, project.written()) == (0, before), printed
        assert "✅ cloudflare-sandbox@v" in printed
        status, printed = run(names[1])
        assert status == 0, printed
        assert "✅ cloudflare-sandbox@v" in printed
    assert project.written() > 0


def test_the_hook_stops_a_commit_with_a_mistake(project: Project):
    # pre-commit installs the wheel; here the command is that of the project's environment.
    command = f".venv/bin/{HOOK['entry']}"
    project.write(LOG_LEVEL="debug")
    assert project.shell(command).returncode == 0
    project.write(API_TOKEN="abc")
    done = project.shell(command)
    assert (done.returncode, SECRET in done.stdout) == (1, True)
    names = ["wrangler.jsonc", "a/wrangler.toml", "Dockerfile", "Pulumi.dev.yaml", "src/index.ts", "package-lock.json"]
    assert [name for name in names if not re.search(HOOK["files"], name)] == []
    assert not re.search(HOOK["files"], "README.md")


def test_rights_are_least_and_secrets_stay_in_the_environment():
    assert GITHUB["permissions"] == {}
    assert set(GITHUB[True]) == {"pull_request", "push"}  # `on` is a boolean in YAML; never pull_request_target
    rights = {name: job["permissions"] for name, job in GITHUB["jobs"].items()}
    assert rights == {
        "check": {"contents": "read", "security-events": "write"},
        "preview": {"contents": "read"},
        "deploy": {"contents": "read"},
    }
    jobs = GITHUB["jobs"]
    assert jobs["preview"]["concurrency"] == jobs["deploy"]["concurrency"]
    assert GITLAB["sandbox-preview"]["resource_group"] == GITLAB["sandbox-deploy"]["resource_group"]
    scripts = [step.get("run", "") for job in jobs.values() for step in job["steps"]] + [
        str(job.get("script")) for name, job in GITLAB.items() if name.startswith("sandbox")
    ]
    assert [script for script in scripts if "${{" in script or "set -x" in script] == []
    assert "env" not in jobs["check"]
