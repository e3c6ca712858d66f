"""Judge of answers: the installed official SDK, turned into JSON Schemas for the operations that are asked about.

Wire names, required fields, types, enumerations and unions are the SDK's; unknown fields are let through.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints
from urllib.parse import quote

import cloudflare
import httpx
import pydantic
from cloudflare._base_client import BasePage
from cloudflare._response import BinaryAPIResponse
from cloudflare._utils._transform import _maybe_transform_key
from cloudflare._wrappers import ResultWrapper
from cloudflare.types.workers.scripts import version_create_response, version_get_response
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from testbed.emulator import sdk
from tools.paths import LOCAL

_NOT_JSON = (str, BinaryAPIResponse)
_ENVELOPE = {
    "success": {"type": "boolean"},
    "errors": {"type": "array", "items": {"type": "object"}},
    "messages": {"type": "array"},
}
_KEPT = LOCAL / "official"

for _lost in (version_create_response.ResourcesBindings, version_get_response.ResourcesBindings):
    # The SDK generates these two as empty classes, which pydantic refuses: all it knows is that something is there.
    _lost.__get_pydantic_core_schema__ = lambda *_: core_schema.any_schema()  # type: ignore[union-attr]


class _WireNames(GenerateJsonSchema):
    """Names the fields of a TypedDict as the SDK sends them, and leaves out those it does not send in the body."""

    def __init__(self, body: sdk.Body) -> None:
        super().__init__()
        self.outermost = get_args(body.type) or (body.type,)
        self.sent = body.fields

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        hints = get_type_hints(schema["cls"], include_extras=True)
        # Path, query and header parameters are fields of the same type.
        sent = hints if self.sent is None or schema["cls"] not in self.outermost else self.sent
        fields = {
            name: core_schema.typed_dict_field(
                field["schema"],
                required=field.get("required"),
                validation_alias=_maybe_transform_key(name, hints[name]),
            )
            for name, field in schema["fields"].items()
            if name in sent
        }
        return super().typed_dict_schema({**schema, "fields": fields})


def body_schema(method: str, template: str) -> Any | None:
    """What the JSON body of an operation looks like; None if the SDK has no such operation or sends it no JSON."""
    return _kept("body", method, template, _derive_body)


def answer_schema(method: str, template: str) -> Any | None:
    """What the answer to an operation looks like; None if the SDK has no such operation or expects no JSON."""
    return _kept("answer", method, template, _derive_answer)


def complaint(method: str, template: str, response: httpx.Response) -> str:
    """Why an answer is not what the SDK expects; empty if it is."""
    validator = _validator(method, template)
    if validator is None or response.status_code == 204 or response.status_code >= 300:
        return ""
    if "json" not in response.headers.get("content-type", ""):
        return f"content type {response.headers.get('content-type')}"
    error = next(iter(validator.iter_errors(response.json())), None)
    return "" if error is None else f"{error.json_path}: {error.message[:300]}"


@cache
def _validator(method: str, template: str) -> Draft202012Validator | None:
    schema = answer_schema(method, template)
    return None if schema is None else Draft202012Validator(schema)


def _derive_body(request: sdk.Request) -> Any | None:
    body = request.body()
    return _WireNames(body).generate(TypeAdapter(body.type).core_schema) if body else None


def _derive_answer(request: sdk.Request) -> Any | None:
    kind = request.answer()
    if kind in _NOT_JSON:
        return None
    schema = TypeAdapter(kind).json_schema()
    if issubclass(kind, ResultWrapper | BasePage):
        schema["properties"] = {"result_info": {"type": "object"}, **schema["properties"], **_ENVELOPE}
        schema["required"] = [*_ENVELOPE, "result"]
    if issubclass(kind, BasePage):
        _require_list(schema)
    return schema


def _require_list(schema: Any) -> None:
    """Insist on the list below `result`: the SDK takes a page without one for an empty page."""
    result = schema["properties"]["result"]
    if "anyOf" in result:
        schema["properties"]["result"] = result["anyOf"][0]
        below = schema["$defs"][result["anyOf"][0]["$ref"].rpartition("/")[2]]
        below["required"] = list(below["properties"])


@cache
def _kept(part: str, method: str, template: str, derive: Callable[[sdk.Request], Any]) -> Any:
    """A derived schema, from disk if any process has derived it before: all of them take a process many seconds."""
    file = _KEPT / _edition() / f"{part} {method} {quote(template, safe='{}')}.json"
    if file.exists():
        return json.loads(file.read_text(encoding="utf-8"))
    request = sdk.find(method, template)
    schema = derive(request) if request else None
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")  # threads ask, too
    unfinished.write_text(json.dumps(schema), encoding="utf-8")
    unfinished.replace(file)
    return schema


@cache
def _edition() -> str:
    """The SDK's version, and a hash of everything else that decides what is derived from it."""
    code = b"".join(Path(name).read_bytes() for name in (__file__, sdk.__file__))
    return f"{cloudflare.__version__}-{hashlib.sha256(pydantic.VERSION.encode() + code).hexdigest()[:12]}"
