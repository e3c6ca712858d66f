"""Fixtures shared by all tests: nothing but loopback, and the real engine in a throw-away home."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from emulator.runtime.workerd import packages
from testbed import loopback
from testbed.project import Project
from tests import order
from tools.local import engine
from tools.paths import LOCAL, VENV
from tools.setup import toolchain

loopback.enforce()

# A shell that starts the tests in the background has them ignore interrupts, and all that they start would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How fast the machine is must not decide whether a property holds.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have the runtime of Workers before tests start emulators, which reach no registry and would ask for ever."""
    found = toolchain.recorded()
    if found and not hasattr(session.config, "workerinput"):
        with loopback.registries(), contextlib.suppress(packages.MissingError):
            packages.fetch(LOCAL / "workerd", found.node)


def pytest_xdist_auto_num_workers() -> int | None:
    """Have half as many workers more than processors, as a third of the tests' time is spent in waiting for others."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # who runs the tests knows better
    return len(os.sched_getaffinity(0)) * 3 // 2 if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long."""
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    items[:] = order.in_shares(items, lambda item: item.get_closest_marker("long") is not None, workers)


@pytest.fixture(autouse=True)
def nothing_but_loopback() -> Iterator[None]:
    """Fail a test that has addressed another machine, also where what it called took that for an answer."""
    yield
    assert loopback.addressed() == []


@pytest.fixture(scope="session")
def tools_provided() -> toolchain.Toolchain:
    """What set-up has provided. Engine tests fail, never skip, when it is missing."""
    return toolchain.load()


@pytest.fixture
def with_node(tools_provided: toolchain.Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tools_provided.node}:/usr/bin:/bin")


@pytest.fixture
def isolated_engine(tools_provided: toolchain.Toolchain, tmp_path: Path) -> engine.Engine:
    return engine.isolated(tools_provided, tmp_path / "engine")


@pytest.fixture
def make_project(isolated_engine: engine.Engine, tmp_path: Path):
    """Write a Python project and give it a stack."""

    def make(program: str, *, name: str = "small", extra_yaml: str = "") -> Project:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__main__.py").write_text(program)
        runtime = f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}"
        (folder / "Pulumi.yaml").write_text(f"name: {name}\n{runtime}\n{extra_yaml}")
        project = Project(folder, isolated_engine)
        project.succeed("stack", "init", "test")
        return project

    return make
