"""One stack on the real engine, with ready images and its Worker on workerd, that is looked after."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import pytest
import yaml

from components import cli
from emulator.settings import Account
from emulator.testing import running
from testbed.cloud import Cloud, Program, copy_of_the_program
from testbed.project import Project
from tools.local import engine
from tools.paths import LOCAL, sdk_version
from tools.setup.toolchain import Toolchain

WORKER = "sandbox-test"
NO_BUCKETS = {role: {"enabled": False} for role in ("files", "backups", "artifacts")}
OLD_KEY = "sbx_old-key-of-the-team"
KEY = {
    "sha256": "759b6490b55e1777e77d9e1471ffa63a242d6cae09148b278fe369a448c8a244",
    "tenant": "team",
    "scopes": ["*"],
    "created": "2025-01-01",
}


@dataclass
class Deployed:
    """The stack, and the commands as its owner runs them."""

    program: Program
    images: list[str]
    capture: Callable[[], tuple[str, str]]
    ran: list[str] = field(default_factory=list)
    """Commands that were run."""

    @property
    def cloud(self) -> Cloud:
        return self.program.cloud

    @property
    def stack_file(self) -> Path:
        return self.program.project.folder / "Pulumi.test.yaml"

    @property
    def keys(self) -> Any:
        """API keys as the file of the stack has them."""
        return yaml.safe_load(self.stack_file.read_text())["config"]["sandbox-stack:settings"]["access"]["api_keys"]

    def write(self, image: int, **variables: str) -> None:
        """Write the settings with one of the images and variables of the Worker; keys stay as they are."""
        keys = self.keys if self.stack_file.exists() and "api_keys" in self.stack_file.read_text() else {"team": KEY}
        self.program.settings(
            {
                "environment": "throw-away",
                "storage": NO_BUCKETS,
                "access": {"api_keys": keys},
                "image": {"reference": self.images[image]},
                "worker": {"workers_dev": True, "variables": variables},
            }
        )

    def first(self) -> None:
        self.write(0)

    def second(self) -> None:
        self.write(1, SLEEP_AFTER="5m")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command in the project's folder; its exit code and what it said."""
        before = Path.cwd()
        self.ran.append(" ".join(arguments))
        self.capture()
        os.chdir(self.program.project.folder)
        try:
            with mock.patch.dict(os.environ, self.program.project.pulumi.env, clear=True):
                code = cli.main(arguments)
        finally:
            os.chdir(before)
        return (int(code), *self.capture())

    def document(self, *arguments: str, code: int = 0) -> Any:
        ended, out, err = self.run(*arguments, "--format", "json")
        assert ended == code, err or out
        return json.loads(out)

    @property
    def version(self) -> str:
        """The version that serves."""
        found = self.cloud.api("GET", f"/workers/scripts/{WORKER}/deployments")["deployments"]
        return str(found[0]["versions"][0]["version_id"])

    @property
    def application(self) -> Any:
        return self.cloud.api("GET", "/containers/applications")[0]

    @property
    def image(self) -> int:
        """Which of the images is deployed."""
        return self.images.index(self.application["configuration"]["image"])

    def state(self, kind: str) -> Any:
        exported = json.loads(self.program.project.succeed("stack", "export"))["deployment"]["resources"]
        return next(each for each in exported if each["type"].endswith(f":{kind}"))

    def ask(self, key: str) -> int:
        """Ask the Worker with a key; the status."""
        host = self.program.outputs()["api_url"].partition("//")[2]
        headers = {"host": host, "authorization": f"Bearer {key}"}
        return httpx.get(f"{self.cloud.emulator.origin}/v1/status", headers=headers, timeout=60).status_code


@pytest.fixture
def deployed(tools_provided: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Deployed]:
    runtime = {"packages": LOCAL / "workerd", "node": tools_provided.node}
    with running(tmp_path / "emulator", accounts=(Account(),), **runtime) as emulator:  # type: ignore[arg-type]
        cloud = Cloud(emulator)
        cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})
        images = [_image(cloud, tag) for tag in ("one", "two")]
        copy_of_the_program(tmp_path / "checkout")
        project = Project(tmp_path / "checkout", engine.isolated(tools_provided, tmp_path / "engine", extra=cloud.env))
        project.succeed("stack", "init", "test")
        yield Deployed(Program(project, cloud, ""), images, capture=lambda: tuple(capsys.readouterr()))  # type: ignore[arg-type,return-value]
        cloud.http.close()


def _image(cloud: Cloud, tag: str) -> str:
    repository = f"{cloud.account}/sandbox"
    env = [f"SANDBOX_VERSION={sdk_version()}"]
    body = {"repository": repository, "tags": [tag], "labels": {"tag": tag}, "env": env}
    made = cloud.control("POST", "/registry/images", json=body)
    return f"registry.cloudflare.com/{repository}@{made['digest']}"
