"""Emptying the buckets of the local stack: what is deleted, and what never is."""

import json
import sys
from subprocess import CompletedProcess
from typing import Any

import pytest

from tools import local, local_inputs
from tools.engine import Engine
from tools.errors import SetupError
from tools.world import CHECKOUT

FILES = {"type": "cloudflare:index/r2Bucket:R2Bucket", "outputs": {"name": "files", "jurisdiction": "default"}}
BACKUPS = {"type": "cloudflare:index/r2Bucket:R2Bucket", "outputs": {"name": "backups", "jurisdiction": "eu"}}
EMPTY = {"type": "cloudflare:index/r2Bucket:R2Bucket", "outputs": {"name": "empty"}}
UNFINISHED = {"type": "cloudflare:index/r2Bucket:R2Bucket"}
OTHER = {"type": "cloudflare:index/queue:Queue", "outputs": {"name": "files-queue"}}


class Cloud:
    def __init__(self) -> None:
        self.emptied: list[tuple[str, str]] = []

    def empty(self, bucket: str, jurisdiction: str) -> int:
        self.emptied.append((bucket, jurisdiction))
        return {"files": 1, "backups": 12, "empty": 0}[bucket]


def emptied(monkeypatch: pytest.MonkeyPatch, *resources: dict[str, Any]) -> list[tuple[str, str]]:
    exported = json.dumps({"version": 3, "deployment": {"resources": resources} if resources else None})
    monkeypatch.setattr(Engine, "run", lambda *_, **__: CompletedProcess([], 0, exported, ""))
    cloud: Any = Cloud()
    local._empty_buckets(CHECKOUT, Engine.__new__(Engine), cloud, sys.stdout)
    return cloud.emptied


def test_every_bucket_of_the_stack_is_emptied_and_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert emptied(monkeypatch, FILES, OTHER, BACKUPS, UNFINISHED, EMPTY) == [
        ("files", "default"),
        ("backups", "eu"),
        ("empty", "default"),
    ]
    assert capsys.readouterr().out == (
        "Deleted 1 object in the bucket files.\nDeleted 12 objects in the bucket backups.\n"
    )


def test_nothing_is_deleted_where_anything_is_protected(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(SetupError) as caught:
        emptied(monkeypatch, FILES, {**OTHER, "protect": True}, BACKUPS)
    assert str(caught.value) == (
        "the local stack was not destroyed: it is a lasting one: 1 of its resources are protected. "
        "Set environment to throw-away in Pulumi.local.yaml, run `make up`, then `make down`"
    )


def test_a_worker_of_ones_own_has_no_smoke_test():
    assert local_inputs.has_own_worker({"worker": {"entry": "a.ts"}})
    assert not local_inputs.has_own_worker({"name": "x"})
    assert not local_inputs.has_own_worker({})


def test_a_stack_that_never_came_up_has_no_buckets(monkeypatch: pytest.MonkeyPatch):
    assert emptied(monkeypatch) == []
