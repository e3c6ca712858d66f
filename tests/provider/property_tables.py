"""The tables of properties in `docs/plugin.md`, made from the declarations."""

from collections.abc import Iterator

from components.provider import properties
from components.provider.properties import Properties
from components.provider.shapes import Anything, Items, Record, Shape, Table

TABLES = {
    "WorkerScript": properties.WORKER_SCRIPT,
    "Outputs of WorkerScript": properties.WORKER_SCRIPT_OUTPUTS,
    "ContainerApplication": properties.CONTAINER_APPLICATION,
    "Outputs of ContainerApplication": properties.CONTAINER_APPLICATION_OUTPUTS,
    "RegistryImage": properties.REGISTRY_IMAGE,
    "Outputs of RegistryImage": properties.REGISTRY_IMAGE_OUTPUTS,
    "getRegistryCredentials": properties.CREDENTIALS_ARGUMENTS,
    "Result of getRegistryCredentials": properties.CREDENTIALS_RESULT,
    "Result of getPluginVersion": properties.VERSION_RESULT,
}


def text() -> str:
    """Give all tables: resources, function, then the types they use."""
    records: dict[str, Record] = {}
    for table in TABLES.values():
        for each in table.values():
            records |= {record.name: record for record in each.shape.records()}
    lines = [line for title, table in TABLES.items() for line in _section(title, table)]
    for name, record in sorted(records.items()):
        lines += _section(name, record.properties)
    return "\n".join(lines)


def _section(title: str, table: Properties) -> Iterator[str]:
    yield from (f"### {title}", "", "| Property | Type | |", "|---|---|---|")
    for name, each in table.items():
        mark = " (required)" if each.required and not title.startswith(("Outputs", "Result")) else ""
        yield f"| `{name}`{mark} | {_kind(each.shape)} | {each.doc} |"
    yield ""


def _kind(shape: Shape) -> str:
    match shape:
        case Record():
            return f"[{shape.name}](#{shape.name.lower()})"
        case Items():
            return f"list of {_kind(shape.item)}"
        case Table():
            return f"map of {_kind(shape.item)}"
        case Anything():
            return "any"
    return str(shape.schema()["type"])
