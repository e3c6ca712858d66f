"""The short form of the fuzz; `python -m tests.emulator.fuzz` is the long one."""

from pathlib import Path

import pytest

from emulator.testing import running
from tests.emulator import fuzz
from tests.emulator.fuzz import Fuzz


def test_four_thousand_requests(tmp_path: Path):
    with running(tmp_path) as emulator:
        report = Fuzz(emulator, seed=1).run(4_000)
    assert not report.failures, "\n".join(report.failures)
    assert report.statuses[200] > 200
    staged = {"workers.upload_script", "containers.create_application", "containers.get_instance", "kv.read_value"}
    assert staged <= set(report.good)


def test_a_long_run_fails_when_an_operation_never_succeeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fuzz, "_LONG", 10)
    with running(tmp_path) as emulator:
        report = Fuzz(emulator, seed=1).run(10)
    assert "tokens.user_roll never succeeded" in report.failures
    assert "workers_triggers.check_subdomain never succeeded" not in report.failures
