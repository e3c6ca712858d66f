"""The Worker's sources, for tests that run its programs."""

import pytest

from testbed.worker_sources import WorkerSources, install
from tools.setup import toolchain


@pytest.fixture(scope="session")
def worker_sources(tools_provided: toolchain.Toolchain) -> WorkerSources:
    return install(tools_provided.node)
