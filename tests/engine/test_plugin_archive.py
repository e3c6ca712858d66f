"""The archive as somebody has it who writes no Python: installed, started for the first time, and a stack with it.

Nothing of the checkout is at hand: no entry in `Pulumi.yaml` says where the plugin is. Only the first start, which
fetches packages, may reach a registry.
"""

import hashlib
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from components.platform.sdk import SDK_VERSION
from components.provider import schema
from testbed.cloud import Cloud
from testbed.loopback import with_registries
from testbed.project import Project
from tools import plugin
from tools.local import engine
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

# Fetches packages, which takes long on a busy machine.
pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(1200)]

COMMAND = "pulumi plugin install resource cloudflare-sandbox v0.1.0 --file "
ARCHIVE = "pulumi-resource-cloudflare-sandbox-v0.1.0-linux-amd64.tar.gz"
PROJECT = "name: elsewhere\nruntime: {name: python, options: {virtualenv: VENV}}\n"
PROGRAM = """
import pulumi

class SandboxStack(pulumi.ComponentResource):
    def __init__(self, name, props):
        outputs = {"workerName": None, "apiUrl": None}
        options = pulumi.ResourceOptions(version="0.1.0")
        super().__init__("cloudflare-sandbox:index:SandboxStack", name, {**outputs, **props}, options, remote=True)

pulumi.export("workerName", SandboxStack("sandboxes", GIVEN).workerName)
"""
WORKER = """
export class Sandbox { async fetch() { return new Response("here"); } }
export default { async fetch() { return new Response("here"); } };
"""


def test_a_stack_from_the_archive(cloud: Cloud, tools_provided: Toolchain, tmp_path: Path):
    plugin.make(tmp_path / "made")
    listed = dict(reversed(line.split()) for line in (tmp_path / "made" / plugin.CHECKSUMS).read_text().splitlines())
    assert listed == {path.name: _digest(path) for path in (tmp_path / "made").glob("*.tar.gz")}
    assert len(set(listed.values())) == 1, "what is tried here is what all of them hold"

    for page in ("languages", "installation-configuration"):
        assert f"\n{COMMAND}{ARCHIVE}\n" in (ROOT / "docs" / f"{page}.md").read_text()
    project = _project(cloud, tools_provided, tmp_path)
    project.succeed(*COMMAND.split()[1:], str(tmp_path / "made" / ARCHIVE))
    first = replace(project, pulumi=replace(project.pulumi, env=with_registries(project.pulumi.env)))
    asked = ("package", "get-schema", "cloudflare-sandbox@0.1.0")
    starts = [_started(first, *asked) for _ in range(2)]  # at once: one prepares, the other waits for it
    told = [each.communicate(timeout=900) for each in starts]
    assert [each.returncode for each in starts] == [0, 0], told
    served = [json.loads(said)["resources"].keys() for said, _ in told]
    assert served == [json.loads(schema.FILE.read_text())["resources"].keys()] * 2

    project.up()
    (application,) = cloud.api("GET", "/containers/applications")
    assert application["max_instances"] == 5
    project.succeed("destroy", "--yes", "--skip-preview")
    assert (cloud.api("GET", "/containers/applications"), cloud.api("GET", "/workers/scripts")) == ([], [])


def _project(cloud: Cloud, tools: Toolchain, folder: Path) -> Project:
    home = folder / "elsewhere"
    home.mkdir()
    image = cloud.control("POST", "/registry/images", json={"repository": f"{cloud.account}/main", "tags": ["1"]})
    given = {
        "environment": "throw-away",
        "container": {"instanceType": "lite", "maxInstances": 5},
        "image": {"reference": f"registry.cloudflare.com/{cloud.account}/main@{image['digest']}"},
        "sdk": {"version": SDK_VERSION},
        "storage": {role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")},
        "worker": {"bundle": "worker.js"},
    }
    (home / "__main__.py").write_text(PROGRAM.replace("GIVEN", repr(given)))
    (home / "Pulumi.yaml").write_text(PROJECT.replace("VENV", str(ROOT / ".venv")))
    (home / "worker.js").write_text(WORKER)
    project = Project(home, engine.isolated(tools, folder / "engine", extra=cloud.env))
    project.succeed("stack", "init", "test")
    return project


def _started(project: Project, *arguments: str) -> "subprocess.Popen[str]":
    argv = [str(project.pulumi.program), *arguments, "--non-interactive"]
    pipe, env = subprocess.PIPE, dict(project.pulumi.env)
    return subprocess.Popen(argv, cwd=project.folder, env=env, stdout=pipe, stderr=pipe, text=True)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
