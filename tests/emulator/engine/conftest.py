"""One engine for all tests of a run, with layers that are unpacked once for all runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.emulator.boxes import LAYERS
from testbed.emulator.machine import Machine, machine

_RUNNING = {"here", "shared_box"}


@pytest.fixture(scope="session")
def shared_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine(tmp_path_factory.mktemp("engine") / "sandboxes", LAYERS) as made:
        yield made


@pytest.fixture
def here(shared_machine: Machine) -> Iterator[Machine]:
    """This machine's engine; containers of a test end with it."""
    yield shared_machine
    shared_machine.clear()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs containers."""
    for item in (each for each in items if each.path.parent == Path(__file__).parent):
        again = item.name == "test_all_of_this_holds_for_an_ordinary_user"
        if again or _RUNNING & set(getattr(item, "fixturenames", ())):
            item.add_marker("containers")
