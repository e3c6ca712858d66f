from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.settings import Account
from emulator.testing import running
from testbed import installed
from testbed.cloud import Cloud, Program, copy_of_the_program
from testbed.project import Project
from tools.local import bases, builder, engine
from tools.local.emulator import Emulated
from tools.setup.toolchain import Toolchain

ZONES = ("example.com", "previews.example")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as another project has it."""
    return installed.environment(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with running(tmp_path / "emulator", accounts=(Account(zones=ZONES),)) as served:
        seeded = Cloud(served)
        bases.seed_empty(Emulated(served.url, served.account_id, served.token))
        yield seeded
        seeded.http.close()


@pytest.fixture
def program(cloud: Cloud, tools_provided: Toolchain, tmp_path: Path) -> Iterator[Program]:
    folder = tmp_path / "checkout"
    copy_of_the_program(folder)
    pulumi = engine.isolated(tools_provided, tmp_path / "engine", extra=cloud.env)
    project = Project(folder, pulumi)
    project.succeed("stack", "init", "test")
    host = cloud.emulator.origin.removeprefix("http://")
    with builder.serving(tools_provided, host, Path(pulumi.env["DOCKER_CONFIG"]), mirror=f"http://{host}") as serving:
        assert serving.name, serving.reason
        cloud.calls()
        yield Program(project, cloud, serving.name)
