"""The table against the installed SDK: names, what is required, and the version."""

import importlib
import importlib.metadata
import inspect
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from emulator.bridged_plugin.functions import FUNCTIONS
from emulator.bridged_plugin.kinds import Kind
from emulator.bridged_plugin.spellings import Items, Record, Spelling
from emulator.bridged_plugin.table import KINDS, VERSION
from tools.local import bridged


@pytest.fixture(scope="module")
def sdk() -> Any:
    """The SDK; loading it takes seconds and warns of every deprecated type it has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("pulumi_cloudflare")


def getters(of: type) -> Mapping[str, Any]:
    """The properties of a class of the SDK by their names in the protocol, each with its annotation as text."""
    found = {}
    for name, each in vars(of).items():
        if isinstance(each, property) and each.fget is not None:
            shown = str(each.fget.__annotations__.get("return"))
            found[getattr(each.fget, "_pulumi_name", name)] = shown
    return found


def nested(spelling: Spelling, annotation: str, module: Any, path: str) -> Iterator[str]:
    """The paths below a property that the SDK does not have."""
    if isinstance(spelling, Items):
        yield from nested(spelling.of, annotation, module, path)
    if not isinstance(spelling, Record):
        return
    inner = re.findall(r"(?:outputs\.)?(\w+)'", annotation)
    parts = getters(getattr(module, inner[0]))
    for name, (_, part) in spelling.parts.items():
        if name not in parts:
            yield f"{path}.{name}"
        else:
            yield from nested(part, parts[name], module, f"{path}.{name}")


each_row = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)


@each_row
def test_the_sdk_has_every_input(kind: Kind, sdk: Any):
    known = getters(getattr(sdk, f"{kind.name}Args"))
    assert kind.inputs.keys() - known.keys() == set()
    assert [
        path for name, each in kind.inputs.items() for path in nested(each.spelling, known[name], sdk._inputs, name)
    ] == []


@each_row
def test_what_the_sdk_requires_is_required(kind: Kind, sdk: Any):
    known = getters(getattr(sdk, f"{kind.name}Args"))
    required = {name for name, shown in known.items() if "Optional" not in shown and "None" not in shown}
    assert {name for name, each in kind.inputs.items() if each.required} == required


@each_row
def test_the_sdk_has_every_output_and_no_more(kind: Kind, sdk: Any):
    known = getters(getattr(sdk, kind.name))
    inputs = getters(getattr(sdk, f"{kind.name}Args"))
    assert kind.outputs.keys() == known.keys() - inputs.keys()
    assert [
        path for name, each in kind.outputs.items() for path in nested(each.spelling, known[name], sdk.outputs, name)
    ] == []


@each_row
def test_the_sdk_uses_the_token_and_hides_the_secrets(kind: Kind, sdk: Any):
    module = inspect.getsource(getattr(sdk, kind.name)._internal_init)
    assert f"'{kind.token}'" in module
    hidden = re.findall(r"additional_secret_outputs=\[(.*)\]", module)
    assert [f'"{name}"' for name, each in kind.outputs.items() if each.secret] == hidden


def test_the_sdk_has_the_functions(sdk: Any):
    sources = [inspect.getsource(each) for each in (sdk.get_zone, sdk.get_account_api_token_permission_groups_list)]
    assert [token for token, source in zip(FUNCTIONS, sources, strict=True) if f"'{token}'" not in source] == []


def test_one_version_everywhere():
    assert importlib.metadata.version("pulumi_cloudflare") == VERSION == bridged.version()
