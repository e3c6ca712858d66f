"""The examples in TypeScript and Go, on one stack that a program in Python made: nobody changes what another deployed.

They run as inline programs of Pulumi's Automation API, which need no language host, with the generated SDKs.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from emulator.settings import Account
from emulator.testing import running
from testbed import languages
from testbed.cloud import Cloud
from testbed.project import Project
from testbed.worker_build import share_packages
from tools.local import bases, builder, engine
from tools.local.emulator import Emulated
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

# Where nothing has been fetched yet, compilers of two languages come first.
pytestmark = [pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(1800)]

UNCHANGED = re.compile(r"Resources:\n +\d+ unchanged\n")
PYTHON = """
import os, pulumi, components

config = pulumi.Config()
settings = components.SandboxSettings.parse({
    "name": "sandboxes",
    "environment": "throw-away",
    "account_id": os.environ["CLOUDFLARE_ACCOUNT_ID"],
    "image": {"files": {"/etc/motd": "motd.txt"}},
    "container": {"instance_type": "lite", "max_instances": 5},
    "further_sandboxes": {"shell": {"class_name": "SandboxShell", "container": {"max_instances": 2}}},
    "domain": {"hostname": "box.previews.example", "zone": "previews.example"},
    "access": {"api_keys": {"team": {"sha256": "6b" * 32, "tenant": "team", "scopes": ["exec", "files:*"]}}},
    "secrets": ["MODEL_API_KEY"],
})
components.SandboxStack("sandboxes", settings, secrets={"MODEL_API_KEY": config.require_secret("modelApiKey")})
"""
PROJECT = """
name: languages
runtime: {name: python, options: {virtualenv: .venv}}
plugins: {providers: [{name: cloudflare-sandbox, path: ../../components/provider/bin}]}
"""


@dataclass
class Languages:
    """One account, one stack, and a folder for each language."""

    folder: Path
    cloud: Cloud
    env: Mapping[str, str]
    pulumi: Project
    """The program in Python."""

    def run(self, language: str, command: str) -> tuple[int, str]:
        """Let an example do something; its exit code and words."""
        argv = {"typescript": ["node", "deploy.ts", command], "go": [str(self.folder / "sandboxes"), command]}
        done = subprocess.run(
            argv[language],
            cwd=self.folder / "examples" / language,
            env=dict(self.env),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def set(self, language: str, key: str, value: str) -> None:
        """Configure an example."""
        file = self.folder / "examples" / language / "Pulumi.dev.yaml"
        document = yaml.safe_load(file.read_text())
        document["config"][f"languages:{key}"] = value
        file.write_text(yaml.safe_dump(document))

    def succeed(self, language: str, command: str) -> str:
        code, said = self.run(language, command)
        assert code == 0, said
        return said


@pytest.fixture(scope="module")
def deployed(tools_provided: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Languages]:
    folder = tmp_path_factory.mktemp("languages")
    python = folder / "examples" / "python"
    (folder / "components").symlink_to(ROOT / "components")
    for language in languages.ALL:
        shutil.copytree(ROOT / "examples" / language, folder / "examples" / language)
        share_packages(folder / "examples" / language)
    (folder / "examples" / "typescript" / "node_modules").symlink_to(languages.node_modules(tools_provided))
    (folder / "sandboxes").symlink_to(languages.go_program())
    python.mkdir()
    (python / "Pulumi.yaml").write_text(PROJECT)
    (python / "__main__.py").write_text(f"import sys; sys.path.insert(0, {str(folder)!r})\n{PYTHON}")
    (python / "motd.txt").write_text((ROOT / "examples" / "typescript" / "motd.txt").read_text())
    (python / ".venv").symlink_to(ROOT / ".venv")
    share_packages(python)
    with running(folder / "emulator", accounts=(Account(zones=("previews.example",)),)) as served:
        cloud = Cloud(served)
        bases.seed_empty(Emulated(served.url, served.account_id, served.token))
        pulumi = engine.isolated(tools_provided, folder / "engine", extra=cloud.env)
        host = cloud.emulator.origin.removeprefix("http://")
        docker = Path(pulumi.env["DOCKER_CONFIG"])
        with builder.serving(tools_provided, host, docker, mirror=f"http://{host}") as serving:
            assert serving.name, serving.reason
            env = {**pulumi.env, "BUILDX_BUILDER": serving.name}
            project = Project(python, engine.Engine(pulumi.program, env))
            project.succeed("stack", "init", "dev")
            project.succeed("config", "set", "--secret", "modelApiKey", "model-secret")
            for language in languages.ALL:
                shutil.copy(python / "Pulumi.dev.yaml", folder / "examples" / language)
            project.up()
            yield Languages(folder, cloud, env, project)
        cloud.http.close()


@pytest.mark.parametrize("language", languages.ALL)
def test_a_program_in_another_language_changes_nothing_of_what_python_made(deployed: Languages, language: str):
    deployed.cloud.calls()
    said = deployed.succeed(language, "up")
    assert UNCHANGED.search(said), said
    assert deployed.cloud.writes() == []


@pytest.mark.parametrize("language", languages.ALL)
def test_a_changed_setting_changes_what_it_would_from_python(deployed: Languages, language: str):
    """The application alone; with the setting as it was the program in Python finds nothing to do."""
    deployed.set(language, "maxInstances", "7")
    said = deployed.succeed(language, "preview")
    assert re.search(r"~ 1 to update\n\s+\d+ unchanged", said), said
    assert re.search(r"ContainerApplication\s+sandboxes-containers\s+update.*diff: ~maxInstances", said), said


@pytest.mark.parametrize("language", languages.ALL)
def test_a_mistake_is_one_message(deployed: Languages, language: str):
    deployed.set(language, "maxInstances", "-1")
    deployed.cloud.calls()
    code, said = deployed.run(language, "up")
    assert code != 0, said
    mistake = "1 mistake in the sandbox settings:\n {6}container.maxInstances: should be greater than or equal to 1\n"
    assert len(re.findall(f"^ +error: .* resource 'sandboxes' has a problem: {mistake}", said, re.MULTILINE)) == 1, said
    # What follows is the program's own SDK, which cannot go on; nothing of the plugin's insides is shown.
    assert "Traceback" not in said
    assert ".py" not in said
    assert deployed.cloud.writes() == []


def test_another_language_can_take_away_what_python_made(deployed: Languages):
    deployed.succeed(languages.ALL[-1], "destroy")
    assert deployed.cloud.deployed() == {}
