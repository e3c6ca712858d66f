"""What the state of a stack says."""

import json

import pytest

from components.errors import UserError
from components.pulumi_cli.state import State, read_state

STACK = {"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "type": "pulumi:pulumi:Stack", "outputs": {"a": 1}}
BUCKET = {
    "urn": "urn:pulumi:dev::p::cloudflare:index/r2Bucket:R2Bucket::files",
    "type": "cloudflare:index/r2Bucket:R2Bucket",
    "id": "b1",
    "inputs": {"name": "b1"},
    "parent": STACK["urn"],
}


def text(**deployment: object) -> str:
    return json.dumps({"version": 3, "deployment": deployment})


def test_resources_outputs_and_what_was_cut_off():
    found = read_state(
        text(resources=[STACK, BUCKET], pending_operations=[{"resource": BUCKET, "type": "creating"}]), "x"
    )
    assert found.outputs == {"a": 1}
    assert [(each.name, each.id, each.parent) for each in found.of_type(BUCKET["type"])] == [
        ("files", "b1", STACK["urn"])
    ]
    assert [each.name for each in found.interrupted] == ["files"]


def test_an_empty_stack_has_nothing():
    assert read_state(text(), "x") == State()
    assert read_state(json.dumps({"version": 3, "deployment": None}), "x") == State()


@pytest.mark.parametrize("said", ["", "[]", "{}", '{"deployment": {"resources": [1]}}', '{"deployment": [1]}'])
def test_what_is_no_state_is_refused_with_its_place(said: str):
    with pytest.raises(UserError, match=r"^state\.json: is no state of a Pulumi stack"):
        read_state(said, "state.json")
