"""What `sandbox-stack init` writes, as somebody has it who installed the package: deployed, called, and taken down."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from components.init.answers import Answers
from components.init.plan import plan
from docs.generators import template as project_template
from emulator.settings import Account
from emulator.testing import running
from testbed.cloud import Cloud
from testbed.project import Project
from testbed.worker_build import share_packages
from tools.local import builder, engine
from tools.paths import LOCAL
from tools.setup.toolchain import Toolchain

# Installs, builds an image and runs a container besides four commands of the engine, each with a limit of its own.
pytestmark = [pytest.mark.engine, pytest.mark.workerd, pytest.mark.containers, pytest.mark.timeout(1200)]

HOST = "api.previews.example"


@pytest.fixture
def cloud(tools_provided: Toolchain, tmp_path: Path) -> Iterator[Cloud]:
    """An account whose Workers and sandboxes run."""
    with running(
        tmp_path / "emulator",
        accounts=(Account(zones=("previews.example",)),),
        packages=LOCAL / "workerd",
        node=tools_provided.node,
        containers=tools_provided.containers,
        layers=LOCAL / "layers",
    ) as served:
        seeded = Cloud(served)
        base = tools_provided.base_image
        assert base, "set-up could not make the base image on this machine; see `make setup`"
        seeded.control("POST", "/registry/layouts", json={"repository": "cloudflare/sandbox", "folder": str(base)})
        yield seeded
        seeded.http.close()


def command(environment: Path, *arguments: str, folder: Path) -> Any:
    argv = [str(environment / "bin" / "sandbox-stack"), *arguments, "--format", "json"]
    silent = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run(argv, cwd=folder, check=False, **silent)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def let_in(stack: Path, settings: dict[str, Any]) -> None:
    """Do what the command says that is left to do: add the lines of a key to the settings."""
    document = yaml.safe_load(stack.read_text())
    document["config"]["demo:settings"] |= settings
    stack.write_text(yaml.safe_dump(document))


def test_a_new_project_with_a_worker_of_its_own_runs(
    environment: Path, cloud: Cloud, tools_provided: Toolchain, tmp_path: Path
):
    answers = ["--worker", "own", "--hostname", "previews.example", "--instance-type", "standard-1", "--dockerfile"]
    told = command(environment, "init", "demo", *answers, folder=tmp_path)
    assert told["findings"] == []
    folder = tmp_path / "demo"
    key = command(environment, "key", "--tenant", "team", "--scopes", "exec", folder=folder)
    let_in(folder / "Pulumi.dev.yaml", key["settings"])
    # What installing would do, without asking anybody: the versions of both lock files are the same.
    (folder / ".venv").symlink_to(environment)
    packages = next(share_packages(folder).glob("packages/*/node_modules"))
    (folder / "worker" / "node_modules").symlink_to(packages)

    pulumi = engine.isolated(tools_provided, tmp_path / "engine", extra=cloud.env)
    project = Project(folder, pulumi)
    project.succeed("stack", "init", "dev")
    host = cloud.emulator.origin.removeprefix("http://")
    described = Path(pulumi.env["DOCKER_CONFIG"])
    with builder.serving(tools_provided, host, described, mirror=f"http://{host}") as serving:
        # What `docker buildx use` writes: the project names no builder.
        current = {"Key": "", "Name": serving.name, "Global": True}
        (described / "buildx" / "current").write_text(json.dumps(current))
        project.up()
        project.up("--expect-no-changes")
        called = {"host": HOST, "authorization": f"Bearer {key['key']}"}
        address = f"{cloud.emulator.origin}/run"
        assert httpx.post(address, headers={"host": HOST}, content="id", timeout=60).status_code == 401
        answer = httpx.post(address, headers=called, content='echo "it\'s $((6 * 7))"; exit 3', timeout=120)
        assert answer.json() == {"exitCode": 3, "stdout": "it's 42", "stderr": ""}
        project.succeed("destroy", "--yes", "--skip-preview")
    assert cloud.deployed() == {}


def test_pulumi_new_makes_what_init_writes(isolated_engine: engine.Engine, tmp_path: Path):
    folder = tmp_path / "demo"
    folder.mkdir()
    template = shutil.copytree(project_template.FOLDER, tmp_path / "template")
    project = Project(folder, isolated_engine)
    description = yaml.safe_load(plan(Answers(name="demo"), "")["Pulumi.yaml"])["description"]
    project.succeed("new", str(template), "--yes", "--generate-only", "--name", "demo", "--description", description)
    project.succeed("stack", "init", "dev")
    wanted = plan(Answers(name="demo"), project_template.package())
    made = {name: (folder / name).read_text() for name in wanted}
    for name in ("__main__.py", "requirements.txt", ".gitignore"):
        assert made[name] == wanted[name]
    for name, added in (("Pulumi.yaml", "pulumi:tags"), ("Pulumi.dev.yaml", "encryptionsalt")):
        found, expected = yaml.safe_load(made[name]), yaml.safe_load(wanted[name])
        found.pop(added, None)
        found["config"].pop(added, None)
        assert found == expected
