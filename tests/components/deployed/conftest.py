"""One stack on the real engine, with a ready image, that the tests of a module look after in turn."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from components import cli
from emulator.settings import Account
from emulator.testing import running
from testbed.cloud import Cloud, Program, copy_of_the_program
from testbed.project import Project
from tools.local import engine
from tools.setup.toolchain import Toolchain

NO_BUCKETS = {role: {"enabled": False} for role in ("files", "backups", "artifacts")}
DIGEST = "c" * 64
KEY = {"sha256": DIGEST, "tenant": "team", "scopes": ["exec", "files:*"], "created": "2025-01-01"}


@dataclass
class Deployed:
    """The stack, and the commands as its owner runs them."""

    program: Program
    images: list[str]
    capture: Callable[[], tuple[str, str]]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def cloud(self) -> Cloud:
        return self.program.cloud

    def write(self, image: int = 0, **changes: Any) -> None:
        keys = {"api_keys": {"team": KEY}}
        base = {"environment": "throw-away", "storage": NO_BUCKETS, "access": keys}
        self.program.settings({**base, "image": {"reference": self.images[image]}, **changes})

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command in the project's folder; its exit code and what it said."""
        before = Path.cwd()
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
        found = self.cloud.api("GET", "/workers/scripts/sandbox-test/deployments")["deployments"]
        return str(found[0]["versions"][0]["version_id"])

    @property
    def application(self) -> Any:
        return self.cloud.api("GET", "/containers/applications")[0]

    def state(self, kind: str) -> Any:
        exported = json.loads(self.program.project.succeed("stack", "export"))["deployment"]["resources"]
        return next(each for each in exported if each["type"].endswith(f":{kind}"))


@pytest.fixture(scope="module")
def served(tools_provided: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, list[str]]]:
    folder = tmp_path_factory.mktemp("deployed")
    with running(folder / "emulator", accounts=(Account(),)) as emulator:
        cloud = Cloud(emulator)
        cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})
        images = [_image(cloud, tag) for tag in ("one", "two")]
        copy_of_the_program(folder / "checkout")
        project = Project(folder / "checkout", engine.isolated(tools_provided, folder / "engine", extra=cloud.env))
        project.succeed("stack", "init", "test")
        yield Program(project, cloud, ""), images
        cloud.http.close()


def _image(cloud: Cloud, tag: str) -> str:
    repository = f"{cloud.account}/sandbox"
    body = {
        "repository": repository,
        "tags": [tag],
        "labels": {"tag": tag},
        "env": ["SANDBOX_VERSION=0.12.10"],
    }
    made = cloud.control("POST", "/registry/images", json=body)
    return f"registry.cloudflare.com/{repository}@{made['digest']}"


@pytest.fixture
def deployed(served: tuple[Program, list[str]], capsys: pytest.CaptureFixture[str]) -> Deployed:
    return Deployed(*served, capture=lambda: tuple(capsys.readouterr()))  # type: ignore[arg-type,return-value]
