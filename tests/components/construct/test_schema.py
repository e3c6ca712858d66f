"""The components in the schema have every setting and every output, with its words."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from components.construct import inputs, schema
from components.construct.parts import AFTER, PARTS, Part
from components.pulumi_protocol.names import camel
from components.settings import SandboxSettings
from components.stack import TYPE, SandboxStack
from docs.generators.settings import sections

RESOURCES = schema.resources()
STACK = RESOURCES[TYPE]
TYPES = schema.types()


def test_every_setting_is_an_input_with_its_words():
    for _, model in sections():
        table = STACK["inputProperties"]
        if model is not SandboxSettings:
            table = TYPES[f"cloudflare-sandbox:index:Stack{model.__name__}"]["properties"]
        for name in model.model_fields:
            assert table[camel(name)]["description"], name
    assert STACK["inputProperties"].keys() - set(map(camel, SandboxSettings.model_fields)) == {"buildSecrets"}


def test_every_output_is_there_with_its_words():
    assert set(STACK["properties"]) == set(map(camel, SandboxStack.__annotations__))
    assert {name for name, each in STACK["properties"].items() if each.get("secret")} == {"serviceTokens"}
    assert set(STACK["properties"]) - set(STACK["required"]) == {"apiUrl", "previewHostname"}


def parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(each)


def test_what_decides_what_is_made_is_plain_and_nothing_else_is():
    for name, each in STACK["inputProperties"].items():
        secret = name in (inputs.SECRETS, inputs.BUILD_SECRETS)
        assert each.get("secret", False) == secret
        typed = [part for part in parts(each) if "type" in part or "$ref" in part]
        assert all(part.get("plain", False) != secret for part in typed), name
    for token, kind in TYPES.items():
        typed = [part for each in kind.get("properties", {}).values() for part in parts(each)]
        assert all(part.get("plain") for part in typed if "type" in part or "$ref" in part), token


@pytest.mark.parametrize("part", PARTS.values(), ids=lambda part: part.component.__name__)
def test_a_part_has_what_its_class_has(part: Part):
    """Arguments but for what the option `dependsOn` says, and outputs; values alone may come from other resources."""
    table = RESOURCES[part.token]
    assert part.token == f"cloudflare-sandbox:index:{part.component.__name__}"
    assert set(table["inputProperties"]) == {camel(each.name) for each in fields(part.args)} - {AFTER}
    assert set(table["properties"]) == set(map(camel, part.component.__annotations__))
    assert all(each["description"] for name in ("inputProperties", "properties") for each in table[name].values())
    values = {name for name, each in table["inputProperties"].items() if not each.get("plain")}
    assert values == set(map(camel, part.values))
    assert values <= {"accountId", "scriptName", "image", "workerVersionId"}
    assert {"accountId", "domain", "lasting"} >= set(table["inputProperties"]) - set(table["requiredInputs"])


def test_outputs_that_are_secret_are_so_in_every_language():
    secret = {name for table in RESOURCES.values() for name, each in table["properties"].items() if each.get("secret")}
    assert secret == {"serviceTokens", "backupAccessKeyId", "backupSecretAccessKey"}


def test_no_sdk_sends_a_default():
    """A setting that is said counts as said: `variant` beside `reference` would be a mistake nobody made."""
    assert not [part for part in parts([*RESOURCES.values(), TYPES]) if "default" in part and "description" in part]


def test_choices_have_names_that_every_language_takes():
    enums = {token.rpartition(":")[2]: kind["enum"] for token, kind in TYPES.items() if "enum" in kind}
    assert enums["StackEnvironment"][0] == {"name": "ThrowAway", "value": "throw-away"}
    assert [each["name"] for each in enums["StackSdkGeneration"]] == ["V0_12", "V1_x"]
    assert [each["value"] for each in enums["StackRateLimitPeriodSeconds"]] == [10, 60]
    assert all(each["name"].isidentifier() for choices in enums.values() for each in choices)
