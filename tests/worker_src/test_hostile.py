"""Whatever a sandbox's server answers, the Worker answers as documented, in time and to the right caller.

The short form of `make hostile`.
"""

from typing import Any

import pytest

from bench.fuzz import hostile
from testbed.worker_sources import WorkerSources

pytestmark = [pytest.mark.workerd, pytest.mark.timeout(400)]


@pytest.mark.parametrize(("transport", "answers"), [("http", 300), ("websocket", 30), ("rpc", 30)])
def test_hostile_sandboxes_harm_nobody(worker_sources: WorkerSources, transport: str, answers: int) -> None:
    result = hostile.run(worker_sources, answers, seed=16, transport=transport, seconds=200)
    assert result.faults() == []
    assert len(result.told["kinds"]) > 10


def test_harm_is_told() -> None:
    told: dict[str, Any] = {"answers": 9, "others": 1, "memory": {"most": 2**31}, "faults": ["exec hung"]}
    assert hostile.Result("http", 10, told).faults() == [
        "http: exec hung",
        "http: only 9 of 10 answers in time",
        "http: another tenant's sandbox was hardly asked",
        "http: workerd had 2048 MiB",
    ]
