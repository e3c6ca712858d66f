"""Judge of answers: the official description of the operations in scope."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator

_FILE = Path(__file__).with_name("cloudflare-api.json")
_PARAMETER = re.compile(r"\{[^}]*\}")


@cache
def description() -> Any:
    return json.loads(_FILE.read_text(encoding="utf-8"))


@cache
def operations() -> dict[tuple[str, str], Any]:
    """Operations by method and path with nameless parameters."""
    return {
        (method.upper(), _PARAMETER.sub("{}", path)): operation
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    }


def find(method: str, template: str) -> Any | None:
    return operations().get((method, _PARAMETER.sub("{}", template)))


def body_schema(method: str, template: str) -> Any | None:
    operation = find(method, template)
    if operation is None:
        return None
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")


@cache
def _validator(method: str, template: str) -> Draft202012Validator | None:
    operation = find(method, template)
    content = (operation or {}).get("responses", {}).get("2XX", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if schema is None or schema == {"type": "string"}:  # the latter is a download, not JSON
        return None
    if operation.get("x-pagination") == "SyncV4PagePagination":
        schema = _in_items(schema)
    return Draft202012Validator({**schema, "components": description()["components"]})


def _in_items(schema: Any) -> Any:
    """The SDK reads these lists from `result.items`, which the derivation took for `result`."""
    listed = {"type": "object", "properties": {"items": schema["properties"]["result"]}, "required": ["items"]}
    return {**schema, "properties": {**schema["properties"], "result": listed}}


def complaint(method: str, template: str, response: httpx.Response) -> str:
    """Why an answer is not what the description says; empty if it is."""
    validator = _validator(method, template)
    if validator is None or response.status_code == 204 or response.status_code >= 300:
        return ""
    if "json" not in response.headers.get("content-type", ""):
        return f"content type {response.headers.get('content-type')}"
    error = next(iter(validator.iter_errors(response.json())), None)
    return "" if error is None else f"{error.json_path}: {error.message[:300]}"


def resolve(schema: Any) -> Any:
    """Follow a reference."""
    while "$ref" in schema:
        schema = description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema
