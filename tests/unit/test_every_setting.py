"""Every setting of the reference is exercised by a test, and every document of an example fits the published schema."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests import settings_pages
from tools.paths import ROOT

SCHEMA = json.loads(settings_pages.schema())
STACK_FILES = [ROOT / "Pulumi.local.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]


def said_in_tests() -> Iterator[str]:
    """Every key of a dictionary and every keyword that a test of settings or components writes."""
    folders = (ROOT / "tests" / "components", ROOT / "tests" / "unit", ROOT / "tests" / "engine")
    for path in (path for folder in folders for path in folder.glob("test_*.py") if path != Path(__file__)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                yield from (
                    key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
                )
            elif isinstance(node, ast.keyword) and node.arg:
                yield node.arg


def test_every_setting_is_exercised():
    said = set(said_in_tests()) | {key for path in STACK_FILES for key in _keys(yaml.safe_load(path.read_text()))}
    settings = {(path, name) for path, model in settings_pages.sections() for name in model.model_fields}
    assert sorted(f"{path}.{name}" for path, name in settings if name not in said) == []


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)


@pytest.mark.parametrize("path", STACK_FILES, ids=lambda path: path.stem)
def test_a_stack_file_fits_the_schema(path: Path):
    jsonschema.validate(yaml.safe_load(path.read_text()), SCHEMA)


def test_the_schema_refuses_what_the_settings_refuse():
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate({"config": {"sandbox-stack:settings": {"colour": "red"}}}, SCHEMA)
