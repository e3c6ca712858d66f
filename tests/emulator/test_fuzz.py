"""The short form of the fuzz; `python -m bench.fuzz.emulator` is the long one."""

from pathlib import Path

import pytest

from bench.fuzz import emulator as fuzz
from bench.fuzz.emulator import Fuzz
from emulator.query import Query
from emulator.testing import running
from tests.emulator.asking import Asking


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


def test_every_operation_succeeds_as_the_sdk_wants_it_and_ignores_no_parameter(tmp_path: Path):
    with running(tmp_path) as emulator:
        asking = Asking(emulator, seed=1)
        assert asking.cover(20_000) == []
    assert not asking.report.failures, "\n".join(asking.report.failures)


def test_what_has_not_succeeded_is_told(tmp_path: Path):
    with running(tmp_path) as emulator:
        assert "tokens.user_roll" in Fuzz(emulator, seed=1).cover(10)


def test_an_ignored_parameter_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Query, "refuse_leftovers", lambda _: None)
    with running(tmp_path) as emulator:
        asking = Asking(emulator, seed=1)
        asking.cover(10)
    assert any("'no_such_parameter'" in failure for failure in asking.report.failures)
