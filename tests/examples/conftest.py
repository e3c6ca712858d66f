from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed import installed
from tests.examples.folder import Folder


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as another project has it."""
    return installed.environment(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def folder(environment: Path, tmp_path: Path) -> Iterator[Folder]:
    """The examples as somebody has them who has installed the package."""
    made = Folder(tmp_path, environment)
    yield made
    made.take_down()
    assert list(made.home.iterdir()) == [], "an example has left something in the user's home"
