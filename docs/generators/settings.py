"""The reference of all settings in `docs/settings.md` and the JSON Schema for editors, both made from the models."""

import json
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from components.settings import SandboxSettings
from components.settings.models import bare, descriptions, model_in

_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "any"}


def reference() -> str:
    """Return a table of every section, the document's own first."""
    return "\n".join(line for path, model in sections() for line in _table(path, model))


def schema() -> str:
    """Return the schema of a stack's settings file, `Pulumi.<stack>.yaml`."""
    document = SandboxSettings.model_json_schema()
    definitions = document.pop("$defs")
    for _, model in sections():
        properties = (document if model is SandboxSettings else definitions[model.__name__])["properties"]
        for name, words in descriptions(model).items():
            properties[name] = dict(sorted({**properties[name], "description": words}.items()))
    top = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pulumi stack settings of a Cloudflare Sandbox stack",
        "type": "object",
        # Before the colon is the name of the project, which may be left out.
        "properties": {"config": {"type": "object", "patternProperties": {"^([^:]+:)?settings$": document}}},
        "$defs": definitions,
    }
    return json.dumps(top, indent=2) + "\n"


def sections() -> list[tuple[str, type[BaseModel]]]:
    """Return the path and model of every section, in the order of the document; one that is used twice comes once."""
    found: dict[type[BaseModel], str] = {}
    _visit("", SandboxSettings, found)
    return [(path, model) for model, path in found.items()]


def _visit(path: str, model: type[BaseModel], found: dict[type[BaseModel], str]) -> None:
    if model in found:
        return
    found[model] = path
    for name, field in model.model_fields.items():
        inner = model_in(field.annotation)
        if inner is not None:
            star = ".<name>" if get_origin(bare(field.annotation)) is dict else ""
            _visit(f"{path}.{name}{star}".lstrip("."), inner, found)


def _table(path: str, model: type[BaseModel]) -> Iterator[str]:
    yield from (f"### {f'`{path}`' if path else 'The document'}", "", _sentence(model.__doc__), "")
    yield from ("| Setting | Value | If left out | |", "|---|---|---|---|")
    words = descriptions(model)
    for name, field in model.model_fields.items():
        yield f"| `{name}` | {_kind(field.annotation)} | {_default(field)} | {_sentence(words.get(name))} |"
    yield ""


def _sentence(text: str | None) -> str:
    assert text, "a setting without a word"
    return " ".join(text.split())


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, BaseModel):
        return "its defaults"
    return "" if value is None else f"`{json.dumps(value)}`"


def _kind(annotation: Any) -> str:
    kind = bare(annotation)
    if get_origin(kind) in {Union, types.UnionType}:
        return " or ".join(_kind(each) for each in get_args(kind))
    if get_origin(kind) is Literal:
        return ", ".join(f"`{each}`" for each in get_args(kind))
    if get_origin(kind) is tuple:
        return f"list of {_kind(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return f"map of {_kind(get_args(kind)[1])}"
    if model_in(kind):
        return "section"
    return _WORDS[kind]
