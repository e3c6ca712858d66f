"""What the plugin's schema says of SandboxStack and its parts, made from settings' models and classes' outputs.

Settings are `plain`: they decide what is made. Defaults are in descriptions only, as an SDK would send those in the
schema as if the program had said them, and some settings exclude each other.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..provider.property_types import PLUGIN
from ..pulumi_protocol.names import camel
from ..settings import SandboxSettings
from ..settings.models import bare, descriptions, texts_below
from ..stack import TYPE, SandboxStack
from .inputs import BUILD_SECRETS, NOT_SETTINGS, SECRETS, in_its_spelling, no_section
from .parts import PARTS, Part

Schema = dict[str, Any]
_WORDS: Final = {str: "string", int: "integer", float: "number", bool: "boolean"}
_SECRET_OUTPUTS: Final = frozenset({"service_tokens", "backup_access_key_id", "backup_secret_access_key"})
_SECRET_MAP: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}, "secret": True}
_GIVEN: Final[Mapping[str, Schema]] = {
    SECRETS: {**_SECRET_MAP, "description": "Secrets of the Worker: values by name."},
    BUILD_SECRETS: {**_SECRET_MAP, "description": "Values of the secrets that `buildSecrets` of images name."},
}
_ACCOUNT: Final = "Cloudflare account; `CLOUDFLARE_ACCOUNT_ID` of the environment if left out."


def resources() -> dict[str, Schema]:
    """Return the components by token."""
    words = descriptions(SandboxSettings)
    words["account_id"] = _ACCOUNT
    inputs = {**_properties(SandboxSettings, words, Types()), **_GIVEN}
    stack = {name: get_args(kind)[0] for name, kind in SandboxStack.__annotations__.items()}
    return {TYPE: _component(SandboxStack, inputs, [], stack)} | {
        token: _component(part.component, _inputs(part, Types()), _required(part), part.outputs)
        for token, part in PARTS.items()
    }


def types() -> dict[str, Schema]:
    """Return the types of settings by token."""
    found = Types()
    _properties(SandboxSettings, {}, found)
    for part in PARTS.values():
        _inputs(part, found)
    return dict(sorted(found.items()))


def _component(made: type, inputs: Schema, needed: list[str], outputs: Mapping[str, Any]) -> Schema:
    return {
        "isComponent": True,
        "description": str(made.__doc__),
        "inputProperties": inputs,
        **({"requiredInputs": needed} if needed else {}),
        "properties": _outputs(made, outputs),
        "required": [camel(name) for name, kind in outputs.items() if not _may_be_none(kind)],
    }


def _inputs(part: Part, found: "Types") -> Schema:
    words = {"account_id": _ACCOUNT, **texts_below(part.args)}
    values = {camel(name): {"type": "string", "description": _line(words[name])} for name in part.values}
    return {**_properties(part.plain, words, found), **values}


def _required(part: Part) -> list[str]:
    """Return what a program has to say; the account can be in the environment."""
    plain = [name for name, field in part.plain.model_fields.items() if field.is_required()]
    return [camel(name) for name in (*plain, *part.values) if name != "account_id"]


class Types(dict[str, Schema]):
    """The types that properties refer to, by token; they come in as they are met."""

    def section(self, model: type[BaseModel]) -> Schema:
        """Refer to a section."""
        token = f"{PLUGIN}:index:Stack{model.__name__}"
        if token not in self:
            self[token] = {}  # it may be met again further in
            required = [camel(name) for name, field in model.model_fields.items() if field.is_required()]
            self[token] = {
                "type": "object",
                "description": _line(str(model.__doc__)),
                "properties": _properties(model, descriptions(model), self),
                **({"required": required} if required else {}),
            }
        return _reference(token)

    def choice(self, name: str, values: tuple[Any, ...], words: str) -> Schema:
        """Refer to a set of values."""
        token = f"{PLUGIN}:index:Stack{name}"
        kind = _WORDS[type(values[0])]
        choices = [{"name": _identifier(str(each)), "value": each} for each in values]
        self[token] = {"type": kind, "description": words, "enum": choices}
        return _reference(token)


def _properties(model: type[BaseModel], words: Mapping[str, str], found: Types) -> dict[str, Schema]:
    owner = "" if model is SandboxSettings else model.__name__.removesuffix("Settings")
    return {
        camel(name): {
            **_type(model, name, field.annotation, f"{owner}{_identifier(name)}", found),
            "description": _described(words.get(name, ""), field)
            + (" `false` takes it away." if no_section(model, name) else ""),
        }
        for name, field in model.model_fields.items()
        if not (model is SandboxSettings and name in NOT_SETTINGS)
    }


def _type(model: type[BaseModel], setting: str, annotation: Any, name: str, found: Types) -> Schema:
    kind = bare(annotation)
    origin, inside = get_origin(kind), get_args(kind)
    plain: Schema = {"plain": True}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        section = found.section(kind)
        return {**plain, "oneOf": [section, {"type": "boolean", **plain}]} if no_section(model, setting) else section
    if origin is Literal:
        return found.choice(name, inside, f"Values of `{camel(setting)}`.")
    if origin is tuple:
        return {**plain, "type": "array", "items": _type(model, setting, inside[0], name, found)}
    if origin is dict:
        return {**plain, "type": "object", "additionalProperties": _type(model, setting, inside[1], name, found)}
    if origin is Union:
        # A set of words beside a list: an enum would make the words hard to write in a language with types.
        words = [{"type": "string", **plain} for each in inside if get_origin(each) is Literal]
        others = [_type(model, setting, each, name, found) for each in inside if get_origin(each) is not Literal]
        return {**plain, "oneOf": [*words, *others]}
    return {**plain, **({"$ref": "pulumi.json#/Any"} if kind is Any else {"type": _WORDS[kind]})}


def _described(words: str, field: FieldInfo) -> str:
    value = None if field.is_required() else field.get_default(call_default_factory=True)
    default = "" if value is None or isinstance(value, BaseModel) else f" Default: `{json.dumps(value)}`."
    return _line(in_its_spelling(words)) + default


def _outputs(made: type, kinds: Mapping[str, Any]) -> dict[str, Schema]:
    words = texts_below(made)
    return {
        camel(name): {
            **_output(kind),
            "description": _line(words[name]),
            **({"secret": True} if name in _SECRET_OUTPUTS else {}),
        }
        for name, kind in kinds.items()
    }


def _output(kind: Any) -> Schema:
    inner = bare(kind)
    if get_origin(inner) in (dict, Mapping):
        return {"type": "object", "additionalProperties": _output(get_args(inner)[1])}
    return {"type": _WORDS[inner]} if inner in _WORDS else {"$ref": "pulumi.json#/Any"}


def _may_be_none(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _reference(token: str) -> Schema:
    return {"$ref": f"#/types/{token}", "plain": True}


def _identifier(text: str) -> str:
    """Return a name that a language may use: `throw-away` is ThrowAway, `0.12` is V0_12."""
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z.]+", text)).replace(".", "_")
    return f"V{name}" if name[:1].isdigit() else name


def _line(text: str) -> str:
    return " ".join(text.split())
