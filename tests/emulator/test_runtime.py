"""Uploaded Workers answer: bindings, data, hosts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.testing import running
from tests.emulator.conftest import Control
from tests.emulator.runtime_stage import PACKAGES, SECRET, Stage
from tools import toolchain


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with running(tmp_path / "state", packages=PACKAGES, node=toolchain.load().node) as emulator:
        control = Control(emulator)
        stage = Stage(control)
        stage.prepare()
        yield stage
        control.http.close()
        stage.http.close()


def test_a_worker_sees_the_request_and_its_bindings(stage: Stage):
    stage.deploy()
    seen = stage.ask("/look?a=1%2F2").json()
    assert seen == {
        "release": "1",
        "url": "http://app.localhost/look?a=1%2F2",
        "ip": "127.0.0.1",
        "colo": "LOC",
        "secret": SECRET,
        "text": "plain",
        "json": {"a": [1, None]},
    }
    assert stage.status()["missing_bindings"] == [{"name": "MODEL", "type": "ai"}]
