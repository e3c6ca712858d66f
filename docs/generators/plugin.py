"""The tables of properties in `docs/plugin.md`, made from the declarations."""

from collections.abc import Iterator

from components.provider import schema
from components.provider.property_types import Anything, Items, Properties, PropertyType, Record, Table


def text() -> str:
    """Return all tables: resources, functions, then the types they use."""
    tables: dict[str, Properties] = {}
    for each in schema.RESOURCES:
        tables |= {each.name: each.inputs, f"Outputs of {each.name}": each.outputs}
    for each in schema.FUNCTIONS:
        tables |= {each.name: each.inputs, f"Result of {each.name}": each.outputs}
    tables |= {name: record.properties for name, record in schema.records().items()}
    return "\n".join(line for title, table in tables.items() if table for line in _section(title, table))


def _section(title: str, table: Properties) -> Iterator[str]:
    yield from (f"### {title}", "", "| Property | Type | |", "|---|---|---|")
    for name, each in table.items():
        mark = " (required)" if each.required and not title.startswith(("Outputs", "Result")) else ""
        yield f"| `{name}`{mark} | {_kind(each.type)} | {each.doc} |"
    yield ""


def _kind(kind: PropertyType) -> str:
    match kind:
        case Record():
            return f"[{kind.name}](#{kind.name.lower()})"
        case Items():
            return f"list of {_kind(kind.item)}"
        case Table():
            return f"map of {_kind(kind.item)}"
        case Anything():
            return "any"
    return str(kind.schema()["type"])
