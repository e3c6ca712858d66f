"""`pulumi up` with changed code while the Worker is asked: short form of `python -m bench.deployments.redeploys`."""

from pathlib import Path

import pytest

from bench.deployments.redeploys import redeployed
from tools.setup.toolchain import Toolchain

pytestmark = pytest.mark.engine


@pytest.mark.long
def test_redeploys_of_the_program_fail_no_request_and_lose_no_write(tools_provided: Toolchain, tmp_path: Path):
    seen = redeployed(tmp_path, tools_provided, 3, 2)
    assert seen["requests"] >= 600
    assert (seen["failed"], seen["lost"]) == ([], 0)
    assert seen["stored"] == seen["written"] >= 60
    assert seen["releases"] == {"1", "2", "3"}
