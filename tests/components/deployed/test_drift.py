"""What a refresh tells of drift."""

import json
from typing import Any

import pytest

from components.deployed.drift import complaint, read_refresh, table
from components.errors import UserError

URN = "urn:pulumi:dev::p::a:b:Stack$c:index:Worker::w"


def step(op: str = "update", **more: Any) -> dict[str, Any]:
    return {"op": op, "urn": URN, **more}


def found(*steps: dict[str, Any]) -> Any:
    return read_refresh(json.dumps({"steps": steps}))


def test_each_property_is_one_difference():
    before = {"inputs": {"bindings": {"a.b": {"text": "x"}, "S": "[secret]"}, "list": [1, {"k": 2}]}}
    after = {"inputs": {"bindings": {"S": "[secret]"}, "list": [1, {"k": 3}]}}
    differing = {
        'bindings["a.b"].text': {"kind": "delete", "inputDiff": True},
        "list[1].k": {"kind": "update-replace", "inputDiff": True},
    }
    seen = found(step(oldState=before, newState=after, detailedDiff=differing), step("refresh"))
    assert [(each.name, each.type, each.place, each.way, each.state, each.account) for each in seen] == [
        ("w", "c:index:Worker", 'bindings["a.b"].text', "removed", "x", None),
        ("w", "c:index:Worker", "list[1].k", "changed", 2, 3),
    ]
    assert table(seen).splitlines()[1].split() == ["Worker", "w", 'bindings["a.b"].text', "x", "-"]


def test_outputs_count_where_the_difference_is_theirs():
    states = {"oldState": {"outputs": {"version": "a" * 80}}, "newState": {"outputs": {"version": "\x1b[31mb"}}}
    seen = found(step(**states, detailedDiff={"version": {"kind": "update"}}))
    assert (seen[0].state, seen[0].account) == ("a" * 80, "\x1b[31mb")
    assert "\x1b" not in table(seen)
    assert "a" * 61 not in table(seen)


def test_a_resource_that_is_gone_is_one_difference():
    (difference,) = found(step("delete", oldState={}))
    assert difference.document == {
        "resource": "w",
        "type": "c:index:Worker",
        "urn": URN,
        "property": None,
        "way": "gone",
    }
    assert "1 difference;" in table([difference])


@pytest.mark.parametrize("text", ["", "[]", '{"steps": [1]}', "Refreshing (dev)"])
def test_what_tells_nothing_is_refused(text: str):
    with pytest.raises(UserError, match="printed no JSON that tells"):
        read_refresh(text)


def test_why_a_refresh_failed():
    said = [{"severity": "info", "message": "a"}, {"severity": "error", "message": "b\n"}]
    assert complaint(json.dumps({"diagnostics": said})) == "b"
    assert complaint("no stack selected\n") == "no stack selected"


def test_what_every_resource_complains_about_is_said_once():
    each = {"severity": "error", "message": "error: Preview failed: no API token is configured"}
    other = {"severity": "error", "message": "error: Preview failed: the plugin has not been configured"}
    end = {"severity": "error", "message": "error: preview failed"}
    assert complaint(json.dumps({"diagnostics": [each, other, each, end]})) == (
        "no API token is configured; the plugin has not been configured"
    )
    assert complaint(json.dumps({"diagnostics": [end]})) == "preview failed"
