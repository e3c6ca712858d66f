"""The short form of the fuzz; `python -m tests.emulator.fuzz` is the long one."""

from pathlib import Path

from emulator.testing import running
from tests.emulator.fuzz import Fuzz


def test_two_thousand_requests(tmp_path: Path):
    with running(tmp_path) as emulator:
        report = Fuzz(emulator, seed=1).run(2_000)
    assert not report.failures, "\n".join(report.failures)
    assert report.statuses[200] > 200
