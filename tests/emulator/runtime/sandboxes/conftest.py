"""Durable Objects with containers, on one emulator for all tests or one of a test's own."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.emulator.boxes import Boxes, Object, make
from testbed.emulator.machine import parts


@pytest.fixture(scope="session")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boxes]:
    """Durable Objects with containers, on one emulator for all tests."""
    tools, image = parts()
    for made in make(tmp_path_factory.mktemp("boxes"), tools):
        made.apply(made.take_base_image(image))
        yield made


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Boxes]:
    """An emulator of the test's own, with the Worker and no application yet."""
    yield from make(tmp_path / "state", parts()[0])


@pytest.fixture
def box(boxes: Boxes, request: pytest.FixtureRequest) -> Iterator[Object]:
    """An object that only this test uses."""
    made = boxes.object(hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16])
    yield made
    made.call("destroy")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs containers."""
    for item in items:
        inside = Path(__file__).parent in item.path.parents
        if inside and {"boxes", "fresh"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("containers")
