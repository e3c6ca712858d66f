"""The resources of the plugin for programs, `components/cloudflare/sandbox.py`, made from their declarations."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from components.provider import schema
from components.provider.property_types import (
    Declaration,
    Items,
    Properties,
    Property,
    PropertyType,
    Record,
    Table,
)
from components.provider.registry_credentials import declaration as registry_credentials
from components.pulumi_protocol.names import snake
from tools.paths import ROOT

FILE: Final = ROOT / "components" / "cloudflare" / "sandbox.py"
_WIDTH: Final = 120
_INDENT: Final = "    "
_FREE: Final = frozenset({"WorkerBinding"})
"""Types whose properties depend on one another: a class that allows all of them would say less than the checks do."""
_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "None": "Any"}
_HEAD: Final = '''"""The resources of our plugin for programs, and what its function returns.

Made from `components/provider/*/declaration.py`; `make docs` brings it up to date.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from pulumi import Input, Output

'''


def text() -> str:
    """Return the file."""
    resources = sorted(schema.RESOURCES, key=lambda declared: declared.name)
    lines = [
        f"from ..provider.{_folder(each)}.declaration import DECLARATION as {_folder(each).upper()}"
        for each in resources
    ]
    lines.append("from .plugin_resource import PluginResource")
    for record in _records():
        lines += _typed_dict(f"{record.name}Args", record.doc, record.properties)
    for each in resources:
        lines += _typed_dict(f"{each.name}Args", f"Arguments of a {each.name}.", each.inputs)
        lines += _resource(each)
    result = registry_credentials.DECLARATION.outputs
    lines += _typed_dict("RegistryCredentials", "Short-lived credentials for an image registry.", result, wrap="{}")
    return _HEAD + "\n".join(lines) + "\n"


def _folder(declared: Declaration) -> str:
    return snake(declared.name).removeprefix("_")


def _records() -> Iterable[Record]:
    """Return the types, each after those it uses."""
    found = [inner for record in schema.records().values() for inner in reversed(list(record.records()))]
    return {record.name: record for record in found if record.name not in _FREE}.values()


def _typed_dict(name: str, doc: str, table: Properties, wrap: str = "Input[{}]") -> Iterator[str]:
    yield from ("", "", f"class {name}(TypedDict):", *_docstring(doc), "")
    for key, each in table.items():
        kind = wrap.format(_python(each.type))
        yield f"{_INDENT}{snake(key)}: {kind if each.required else f'NotRequired[{kind}]'}"
        yield from _docstring(_doc(each))


def _resource(declared: Declaration) -> Iterator[str]:
    yield from ("", "", f"class {declared.name}(PluginResource[{declared.name}Args]):", *_docstring(declared.doc), "")
    yield from (f"{_INDENT}declaration = {_folder(declared).upper()}", "")
    repeated = {
        key: each for key, each in declared.inputs.items() if each.required and _python(each.type) in _PLAIN.values()
    }
    for key, each in {**repeated, **declared.outputs}.items():
        kind = _python(each.type).replace("Input[str]", "str")
        yield f"{_INDENT}{snake(key)}: Output[{kind if each.required else f'{kind} | None'}]"
        yield from _docstring(_doc(each))


def _docstring(doc: str) -> list[str]:
    wrapped = textwrap.wrap(f'"""{doc}"""', _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    if len(wrapped) == 1:
        return wrapped
    first, _, rest = doc.partition(". ")
    further = textwrap.wrap(rest, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return [f'{_INDENT}"""{first}.', "", *further, f'{_INDENT}"""'] if further else wrapped


def _doc(each: Property) -> str:
    """Return what a property means, with names of others as Python spells them."""
    doc = re.sub(r"`[a-z][\w.]*`", lambda found: snake(found[0]), each.doc)
    return f"{doc.removesuffix('.')}, in snake case." if "Mapping[str, Any]" in _python(each.type) else doc


def _python(kind: PropertyType) -> str:
    match kind:
        case Items():
            return f"Sequence[Input[{_python(kind.item)}]]"
        case Table():
            return f"Mapping[str, Input[{_python(kind.item)}]]"
        case Record():
            return "Mapping[str, Any]" if kind.name in _FREE else f"{kind.name}Args"
    return _PLAIN[str(kind.schema().get("type"))]
