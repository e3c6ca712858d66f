"""One engine for all tests of a run, with layers that are unpacked once for all runs."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.emulator.engine.boxes import LAYERS, Boxes, Object, make
from tests.emulator.engine.machine import Machine, machine, parts

_RUNNING = {"here", "shared_box", "boxes", "fresh"}


@pytest.fixture(scope="session")
def shared_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine(tmp_path_factory.mktemp("engine") / "sandboxes", LAYERS) as made:
        yield made


@pytest.fixture
def here(shared_machine: Machine) -> Iterator[Machine]:
    """This machine's engine; containers of a test end with it."""
    yield shared_machine
    shared_machine.clear()


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
    for item in (each for each in items if each.path.parent == Path(__file__).parent):
        alone = item.path.name in ("test_runtime_life.py", "test_runtime_deployments.py")
        again = item.name == "test_all_of_this_holds_for_an_ordinary_user"
        if alone or again or _RUNNING & set(getattr(item, "fixturenames", ())):
            item.add_marker("containers")
