"""The stand-in against the recordings: the life of every resource type, call by call and body by body."""

import json
from typing import Any

import grpc
import pytest

from components.pulumi_protocol.values import UNKNOWN
from emulator.bridged_plugin.service import properties_of
from emulator.bridged_plugin.table import KINDS
from emulator.testing import Running
from tests.emulator.bridged_plugin.driver import Recorder, Resource
from tests.emulator.bridged_plugin.scenes import SCENES, Scene, told

ROWS = {row.name: row for row in KINDS.values()}


def changed(inputs: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**inputs, **change}.items() if value is not None}


each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.kind)


def test_every_row_of_the_table_has_a_scene():
    assert {scene.kind for scene in SCENES} == set(ROWS)


@each_scene
def test_a_life(scene: Scene, stub: Any, recorder: Recorder, names: dict[str, str], raw: Any):
    before = raw.control("GET", "/state")["deployed"]
    inputs = told(scene.inputs, names)
    it = Resource(stub, scene.kind)
    shown = it.preview(inputs)
    assert [shown[name] for name in ROWS[scene.kind].outputs] == [UNKNOWN for _ in ROWS[scene.kind].outputs]
    assert recorder.take() == []

    it.create(inputs)
    assert recorder.calls() == [tuple(told(scene.create, names))]
    assert it.id == scene.id or not scene.id
    assert it.id
    names["{id}"] = it.id
    assert _handed_over(it) == (it.id, ROWS[scene.kind].schema_version)
    assert it.diff() == {}
    assert recorder.take() == []

    reads = [] if scene.one is None else [("GET", told(scene.one, names), None)]
    _read_back(it, recorder, reads)
    if scene.update is not None:
        news = changed(inputs, told(scene.change, names))
        assert it.diff(news) == scene.diff
        it.preview(news)
        assert recorder.take() == []
        it.update(news)
        assert recorder.calls() == [tuple(told(scene.update, names))]
        assert it.diff() == {}
        assert _handed_over(it) == (it.id, ROWS[scene.kind].schema_version)
        _read_back(it, recorder, reads)
    _import(scene, it, stub, recorder, names)

    it.delete()
    assert recorder.calls() == ([] if scene.delete is None else [("DELETE", told(scene.delete, names), None)])
    if scene.delete is not None:
        assert raw.control("GET", "/state")["deployed"] == before


def _handed_over(it: Resource) -> tuple[str, str]:
    """What the real plugin has to find in a state to go on with it: the id, and the version of its schema."""
    return it.state["id"], json.loads(it.state["__meta"])["schema_version"]


def _read_back(it: Resource, recorder: Recorder, reads: list[Any]) -> None:
    """A refresh is one GET, and finds nothing new."""
    inputs, state = it.inputs, it.state
    assert it.refresh()
    assert recorder.calls() == reads
    assert (it.inputs, {**state, "appCount": 0}) == (inputs, {**it.state, "appCount": 0})
    assert it.diff() == {}


def _import(scene: Scene, it: Resource, stub: Any, recorder: Recorder, names: dict[str, str]) -> None:
    if not scene.import_id:
        return
    taken = Resource(stub, scene.kind).imported(told(scene.import_id, names))
    one = told(scene.one, names)
    assert recorder.calls() == [("GET", one, None), ("GET", one, None)]
    assert taken.id == it.id
    assert _handed_over(taken) == _handed_over(it)
    short = {"name": "UPDATE"} if scene.kind == "DnsRecord" else {}  # a short name was written, the full one read
    wider = {"settings": "UPDATE"} if scene.kind == "Queue" else {}  # two more settings were read
    assert taken.diff(properties_of(it.inputs)) == {**short, **wider}
    assert taken.diff() == {}


@each_scene
def test_what_replaces(scene: Scene, stub: Any, names: dict[str, str]):
    inputs = told(scene.inputs, names)
    it = Resource(stub, scene.kind).create(inputs)
    owner = "accountId" if "accountId" in inputs else "zoneId"
    replaces = {**told(scene.replaces, names), owner: "f" * 32}
    for name, value in replaces.items():
        assert it.diff({**inputs, name: value})[name] in ("UPDATE_REPLACE", "ADD_REPLACE")
        assert it.diff({**inputs, name: UNKNOWN})[name] in ("UPDATE_REPLACE", "ADD_REPLACE")
    known = ROWS[scene.kind].inputs
    owners = {"accountId", "zoneId"} & known.keys()
    assert {name for name, each in known.items() if each.replaces} == replaces.keys() | owners


@each_scene
def test_headers(scene: Scene, stub: Any, recorder: Recorder, emulator: Running, names: dict[str, str]):
    it = Resource(stub, scene.kind).create(told(scene.inputs, names))
    it.refresh()
    it.delete()
    for request in recorder.take():
        assert {name: request.headers.get(name) for name in scene.headers} == scene.headers
        assert request.headers["authorization"] == f"Bearer {emulator.token}"
        assert request.headers["accept"] == "application/json"
        assert request.headers["x-stainless-retry-count"] == "0"
        assert "idempotency-key" not in request.headers


@each_scene
def test_what_is_gone_leaves_the_state_and_cannot_be_deleted(
    scene: Scene, stub: Any, recorder: Recorder, names: dict[str, str]
):
    it = Resource(stub, scene.kind).create(told(scene.inputs, names))
    recorder.take()
    if scene.one is not None:
        recorder.say(None, 404)
        assert not it.refresh()
        assert len(recorder.take()) == 1
    recorder.say(None, 404)
    if scene.delete is None:
        it.delete()
        assert recorder.take() == []
    else:
        with pytest.raises(grpc.RpcError, match=r"failed to make http request: DELETE .*: 404 Not Found"):
            it.delete()
        assert len(recorder.take()) == 1
