"""SandboxStack through `Construct` of the plugin, as programs in every language but Python have it.

The program here is in Python too and asks the engine for the component by its type, as a generated SDK does: so that
what is proved needs no other toolchain. The examples in TypeScript and Go use the generated SDKs.
"""

import json
from typing import Any

import pytest

from testbed.cloud import Program

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load

PYTHON: dict[str, Any] = {
    "name": "data",
    "environment": "throw-away",
    "image": {"files": {"/etc/model.txt": "model.txt"}},
    "container": {"instance_type": "lite", "max_instances": 5},
    "further_sandboxes": {"shell": {"class_name": "SandboxShell", "container": {"max_instances": 20}}},
    "storage": {"files": {"cors_origins": ["https://notebooks.example.com"]}},
    "domain": {"hostname": "box.previews.example", "zone": "previews.example"},
    "secrets": ["MODEL_API_KEY"],
    "worker": {"rate_limit": None, "bindings": {"GREETING": {"type": "plain_text", "text": "hello"}}},
}
OTHERS: dict[str, Any] = {
    "name": "data",
    "environment": "throw-away",
    "image": {"files": {"/etc/model.txt": "model.txt"}},
    "container": {"instanceType": "lite", "maxInstances": 5},
    "furtherSandboxes": {"shell": {"className": "SandboxShell", "container": {"maxInstances": 20}}},
    "storage": {"files": {"corsOrigins": ["https://notebooks.example.com"]}},
    "domain": {"hostname": "box.previews.example", "zone": "previews.example"},
    "worker": {"rateLimit": False, "bindings": {"GREETING": {"type": "plain_text", "text": "hello"}}},
}
OUTPUTS = (
    "workerName workerVersionId apiUrl previewHostname images applicationIds namespaceIds bucketNames serviceTokens "
    "environment sdkVersion"
)
PROGRAM = f"""
import pulumi

class SandboxStack(pulumi.ComponentResource):
    def __init__(self, name, props):
        outputs = dict.fromkeys({OUTPUTS.split()!r})
        super().__init__("cloudflare-sandbox:index:SandboxStack", name, {{**outputs, **props}}, None, remote=True)

config = pulumi.Config()
secrets = {{"MODEL_API_KEY": config.require_secret("MODEL_API_KEY")}}
stack = SandboxStack("data", {{**config.require_object("given"), "secrets": secrets}})
for name in {OUTPUTS.split()!r}:
    pulumi.export(name, getattr(stack, name))
"""


def resources(program: Program) -> dict[str, Any]:
    """What is deployed, by URN, but for when and where it was registered and the credentials of the run."""
    exported = json.loads(program.project.succeed("stack", "export", "--show-secrets"))["deployment"]["resources"]
    return {each["urn"]: _lasting(each) for each in exported if each["type"] != "pulumi:pulumi:Stack"}


def _lasting(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        left_out = ("created", "modified", "sourcePosition", "stackTrace", "registries")
        return {key: _lasting(each, key) for key, each in value.items() if key not in left_out}
    if isinstance(value, list) and (name.endswith("ependencies") or "urn:" in str(value)):
        return sorted(value)
    return value


def write(program: Program, given: dict[str, Any]) -> None:
    """Ask for the component instead of making it."""
    (program.project.folder / "__main__.py").write_text(PROGRAM)
    program.settings(PYTHON, MODEL_API_KEY="model-secret", given=json.dumps(given))


def test_a_stack_moves_between_both_ways_and_nothing_changes(program: Program):
    (program.project.folder / "model.txt").write_text("a model")
    builder = {"builder": {"name": program.builder}}
    program.settings(PYTHON, MODEL_API_KEY="model-secret")
    program.up()
    before = resources(program)
    outputs = program.outputs()

    shell = {**OTHERS["furtherSandboxes"]["shell"], "image": builder}
    given = {**OTHERS, "image": {**OTHERS["image"], **builder}, "furtherSandboxes": {"shell": shell}}
    write(program, given)
    program.cloud.calls()
    program.up()
    assert program.cloud.writes() == []
    assert {urn: each for urn, each in resources(program).items() if each != before.get(urn)} == {}
    assert set(before) == set(resources(program))
    assert list(program.outputs().values()) == [outputs[name] for name in _snake(program.outputs())]
    program.project.succeed("preview", "--expect-no-changes")

    write(program, {**given, "container": {"instanceType": "basic", "maxInstances": 5}})
    program.cloud.calls()
    changed = program.up()
    assert "~ 1 updated" in changed
    assert len([each for each in program.cloud.writes() if "/containers/applications/" in each]) >= 1
    program.destroy()
    assert program.cloud.deployed() == {}


def _snake(names: Any) -> list[str]:
    return ["".join(f"_{each.lower()}" if each.isupper() else each for each in name) for name in names]
