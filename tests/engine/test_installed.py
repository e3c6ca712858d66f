"""The library as another project has it: a wheel in that project's environment, on the real engine."""

import shutil
from pathlib import Path

import pytest

from components.init import plan
from tests.engine.cloud import Cloud
from tests.project import Project
from tests.worker_build import share_packages
from tools import builder, engine
from tools.paths import ROOT
from tools.toolchain import Toolchain

# Installs, builds and runs five commands of the engine, each with a limit of its own.
pytestmark = [pytest.mark.engine, pytest.mark.timeout(1200)]


def deploy_and_destroy(example: str, environment: Path, cloud: Cloud, tools: Toolchain, folder: Path) -> str:
    project_folder = folder / "elsewhere"
    shutil.copytree(ROOT / "examples" / example, project_folder)
    (project_folder / ".venv").symlink_to(environment)
    share_packages(project_folder)
    pulumi = engine.isolated(tools, folder / "world", extra=cloud.env)
    project = Project(project_folder, pulumi)
    project.succeed("stack", "init", "test")
    host = cloud.emulator.origin.removeprefix("http://")
    with builder.serving(tools, host, Path(pulumi.env["DOCKER_CONFIG"]), mirror=f"http://{host}"):
        shown = project.up()
        project.up("--expect-no-changes")
        project.succeed("destroy", "--yes", "--skip-preview")
    assert cloud.deployed() == {}
    return shown


def test_library(environment: Path, cloud: Cloud, tools_provided: Toolchain, tmp_path: Path):
    program = (ROOT / "examples" / "library" / "__main__.py").read_text()
    assert len(program.splitlines()) <= 15
    plugin = (ROOT / "examples" / "library" / "Pulumi.yaml").read_text().partition("plugins:")[2]
    assert len(plugin.strip().splitlines()) == 2
    deploy_and_destroy("library", environment, cloud, tools_provided, tmp_path)


def test_two_regions(environment: Path, cloud: Cloud, tools_provided: Toolchain, tmp_path: Path):
    shown = deploy_and_destroy("two-regions", environment, cloud, tools_provided, tmp_path)
    assert "sandbox-eu-test-files" in shown
    assert "sandbox-us-test-files" in shown


def test_nothing_but_the_wheel_is_needed(environment: Path):
    package = next(environment.glob("lib/python*/site-packages/pulumi_cloudflare_sandbox"))
    wanted = ["images/sandbox/Dockerfile.j2", "worker_src/src/index.ts", "worker_src/package-lock.json"]
    wanted += ["worker_src/build.mjs", "worker_src/.npmrc", "provider/schema.json", "py.typed"]
    wanted += ["init/templates/worker/package-lock.json", "completion/templates/bash.j2", "requirements.txt"]
    wanted += ["pipelines/github-actions.yml"]
    assert [name for name in wanted if not (package / name).is_file()] == []
    assert not (package / "worker_src" / "test").exists()
    wanted = ["bin/pulumi-resource-cloudflare-sandbox", "bin/sandbox-stack", plan.SCHEMA.removeprefix(".venv/")]
    assert [name for name in wanted if not (environment / name).is_file()] == []
