"""The requests the official SDK makes, read from the source of the installed package.

A method of a resource class ends in one call such as

    self._post(
        path_template("/accounts/{account_id}/queues", account_id=account_id),
        body=maybe_transform({"queue_name": queue_name}, queue_create_params.QueueCreateParams),
        options=make_request_options(…, post_parser=ResultWrapper[Optional[Queue]]._unwrapper),
        cast_to=cast(Type[Optional[Queue]], ResultWrapper[Queue]),
    )

which has the method, the path, the type of the body with the fields that go into it, and the type of the answer.
"""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import cloudflare
from cloudflare._utils._transform import _maybe_transform_key
from typing_extensions import is_typeddict

_PACKAGE = Path(cloudflare.__file__).parent
_VERBS = ("_get", "_post", "_put", "_patch", "_delete", "_get_api_list")
_PATH = re.compile(r'"(/[^"\s]*)"')
_PARAMETER = re.compile(r"\{[^}]*\}")
_EITHER = "/{account_or_zone}/{account_or_zone_id}"


@dataclass(frozen=True)
class Body:
    """The JSON body of a request: its type, and which fields of it are sent in the body (None: all)."""

    type: Any
    fields: frozenset[str] | None


@dataclass(frozen=True)
class Request:
    """One request of the SDK; its types are expressions that mean something in the module that makes it."""

    module: str
    keywords: dict[str, ast.expr]
    is_form: bool

    def answer(self) -> Any:
        """The type of the whole answer, envelope included."""
        for node in ast.walk(self.keywords["options"]):
            if isinstance(node, ast.keyword) and node.arg == "post_parser" and isinstance(node.value, ast.Attribute):
                return self._evaluate(node.value.value)  # says whether the result may be null, `cast_to` does not
        return self._evaluate(self.keywords.get("page") or self.keywords["cast_to"])

    def body(self) -> Body | None:
        """The JSON body, if there is one."""
        transform = self.keywords.get("body")
        if not isinstance(transform, ast.Call) or self.is_form:
            return None
        value, expression = transform.args
        kind = self._evaluate(expression)
        if isinstance(value, ast.Dict):
            return Body(kind, frozenset(str(ast.literal_eval(key)) for key in value.keys if key))
        # An argument called `body` is sent as it is; its type is given by itself or as a field of the parameters.
        return Body(get_type_hints(kind)["body"] if isinstance(expression, ast.Attribute) else kind, None)

    def query(self) -> list[str]:
        """The names of the query parameters that go out under their own names (not nested objects)."""
        for node in ast.walk(self.keywords["options"]):
            if isinstance(node, ast.keyword) and node.arg == "query" and isinstance(node.value, ast.Call):
                sent, expression = node.value.args
                hints = get_type_hints(self._evaluate(expression), include_extras=True)
                names = [str(ast.literal_eval(key)) for key in sent.keys if key] if isinstance(sent, ast.Dict) else []
                return [_maybe_transform_key(name, hints[name]) for name in names if not _is_object(hints[name])]
        return []

    def _evaluate(self, expression: ast.expr) -> Any:
        names = vars(importlib.import_module(self.module))
        return eval(ast.unparse(expression), names)  # noqa: S307 - an expression of the SDK, in its own module


def find(method: str, template: str) -> Request | None:
    """The request with this method and path, whatever the path calls its parameters."""
    path = nameless(template)
    found = (_requests(file).get((method, path)) for file in _files().get(path, ()))
    return next((request for request in found if request), None)


def everything() -> set[tuple[str, str]]:
    """Method and nameless path of every request; parses the whole SDK, which takes seconds."""
    return {request for files in _files().values() for file in files for request in _requests(file)}


def _is_object(hint: Any) -> bool:
    return any(is_typeddict(part) for part in (hint, *get_args(hint)))


def nameless(template: str) -> str:
    """A path whose parameters have no names."""
    return _PARAMETER.sub("{}", template)


def _paths(template: str) -> list[str]:
    """The path, or both if it is for accounts and zones."""
    if not template.startswith(_EITHER):
        return [nameless(template)]
    return [f"/{owner}/{{}}{nameless(template.removeprefix(_EITHER))}" for owner in ("accounts", "zones")]


@cache
def _files() -> dict[str, list[Path]]:
    """Where each path occurs: parsing only those files is what keeps this quick."""
    files = defaultdict(list)
    for file in sorted((_PACKAGE / "resources").rglob("*.py")):
        for template in set(_PATH.findall(file.read_text(encoding="utf-8"))):
            for path in _paths(template):
                files[path].append(file)
    return files


@cache
def _requests(file: Path) -> dict[tuple[str, str], Request]:
    """Every request made by the synchronous classes of a module."""
    module = ".".join(file.relative_to(_PACKAGE.parent).with_suffix("").parts)
    found: dict[tuple[str, str], Request] = {}
    for function in _functions(file):
        nodes = list(ast.walk(function))
        is_form = any(isinstance(node, ast.Constant) and node.value == "multipart/form-data" for node in nodes)
        for call in nodes:
            if isinstance(call, ast.Call) and (verb := _verb(call)):
                keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
                request = Request(module, keywords, is_form)
                found |= {(_method(verb, keywords), path): request for path in _paths(_template(call.args[0]))}
    return found


def _functions(file: Path) -> Iterator[ast.FunctionDef]:
    for owner in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(owner, ast.ClassDef) and "SyncAPIResource" in map(ast.unparse, owner.bases):
            yield from (function for function in owner.body if isinstance(function, ast.FunctionDef))


def _verb(call: ast.Call) -> str:
    name = ast.unparse(call.func).removeprefix("self.") if isinstance(call.func, ast.Attribute) else ""
    return name if name in _VERBS else ""


def _method(verb: str, keywords: dict[str, ast.expr]) -> str:
    """The HTTP method; lists are read with GET unless they say otherwise."""
    if verb != "_get_api_list":
        return verb[1:].upper()
    return str(ast.literal_eval(keywords["method"])).upper() if "method" in keywords else "GET"


def _template(path: ast.expr) -> str:
    """The path of a call: a constant, by itself or in `path_template(…)`."""
    return str(ast.literal_eval(path.args[0] if isinstance(path, ast.Call) else path))
