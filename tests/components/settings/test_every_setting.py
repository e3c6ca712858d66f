"""Every setting of the reference is exercised by a test, and every document of an example fits the published schema."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml

from docs.generators import settings as settings_pages
from tests import stack_files
from tools.paths import ROOT

SCHEMA = json.loads(settings_pages.schema())


def said_in_tests() -> Iterator[frozenset[str]]:
    """The keys of every dictionary that a test of settings or components, or a module beside them, writes."""
    components = ROOT / "tests" / "components"
    folders = (components, components / "bundle", components / "settings", ROOT / "tests" / "engine")
    for path in (path for folder in folders for path in folder.glob("*.py") if path != Path(__file__)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                keys = (key.value for key in node.keys if isinstance(key, ast.Constant))
                yield frozenset(key for key in keys if isinstance(key, str))
            elif isinstance(node, ast.Call):
                yield frozenset(keyword.arg for keyword in node.keywords if keyword.arg)


def test_every_setting_is_exercised():
    """A dictionary counts for the sections that have all of its keys; `{"name": …}` alone counts for several."""
    said = {*said_in_tests(), *(keys for path in stack_files.FILES for keys in _keys(yaml.safe_load(path.read_text())))}
    missing = [
        f"{path}.{name}".lstrip(".")
        for path, model in settings_pages.sections()
        for name in model.model_fields
        if not any(name in keys and keys <= model.model_fields.keys() for keys in said)
    ]
    assert missing == []


def _keys(value: object) -> Iterator[frozenset[str]]:
    if isinstance(value, dict):
        yield frozenset(value)
        for inner in value.values():
            yield from _keys(inner)


@pytest.mark.parametrize("path", stack_files.FILES, ids=stack_files.name)
def test_a_stack_file_fits_the_schema(path: Path):
    jsonschema.validate(yaml.safe_load(path.read_text()), SCHEMA)


def test_the_schema_refuses_what_the_settings_refuse():
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate({"config": {"sandbox-stack:settings": {"colour": "red"}}}, SCHEMA)
