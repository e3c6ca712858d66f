"""The plugin's schema, made from the properties. `schema.json` beside it is what is served and reviewed.

`python -m components.provider.schema` writes the file; a test compares the two.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ..version import VERSION
from . import registry_credentials
from .container_application import ContainerApplication
from .properties import CONFIGURATION, CREDENTIALS_ARGUMENTS, CREDENTIALS_RESULT, VERSION_RESULT, Properties
from .registry_image import RegistryImage
from .resource import Resource
from .worker_script import WorkerScript

NAME: Final = "cloudflare-sandbox"
VERSION_TOKEN: Final = "cloudflare-sandbox:index:getPluginVersion"  # noqa: S105 - a function token
FILE: Final = Path(__file__).with_name("schema.json")
RESOURCES: Final[tuple[type[Resource], ...]] = (WorkerScript, ContainerApplication, RegistryImage)
_DOCS: Final = {
    WorkerScript: "A Worker script with its bindings and Durable Object classes, uploaded in one request. Import: "
    "`<account id>/<script name>`.",
    ContainerApplication: "The container application of a Durable Object class. Import: "
    "`<account id>/<script name>/<class name>`.",
    RegistryImage: "An image in the account's registry: verified when it comes, deleted when it goes. Import: "
    "`<account id>/<repository>@<digest>`.",
}


def schema() -> dict[str, Any]:
    """Give the schema."""
    tables = [table for each in RESOURCES for table in (each.properties, each.outputs)]
    return {
        "name": NAME,
        "displayName": "Cloudflare Sandbox",
        "version": VERSION,
        "description": "Workers with container-enabled Durable Object classes, and their container applications.",
        "license": "Apache-2.0",
        "config": {"variables": _properties(CONFIGURATION)},
        "provider": {"inputProperties": _properties(CONFIGURATION)},
        "types": dict(sorted(_types([*tables, CREDENTIALS_ARGUMENTS, CREDENTIALS_RESULT]))),
        "resources": {each.token: _resource(each) for each in RESOURCES},
        "functions": {
            registry_credentials.TOKEN: {
                "description": "Mints short-lived credentials for the account's image registry; not in previews.",
                "inputs": _object(CREDENTIALS_ARGUMENTS),
                "outputs": _object(CREDENTIALS_RESULT),
            },
            VERSION_TOKEN: {
                "description": "Gives the plugin's version; asked early, it lets the plugin start early.",
                "outputs": _object(VERSION_RESULT),
            },
        },
    }


def _resource(kind: type[Resource]) -> dict[str, Any]:
    outputs = {**kind.properties, **kind.outputs}
    always = [name for name, each in outputs.items() if each.required or each.default is not None]
    return {
        "description": _DOCS[kind],
        "inputProperties": _properties(kind.properties),
        "requiredInputs": [name for name, each in kind.properties.items() if each.required],
        "properties": _properties(outputs),
        "required": always,
    }


def _properties(table: Properties) -> dict[str, Any]:
    return {name: each.schema() for name, each in table.items()}


def _object(table: Properties) -> dict[str, Any]:
    required = [name for name, each in table.items() if each.required]
    return {"properties": _properties(table), **({"required": required} if required else {})}


def _types(tables: Iterable[Properties]) -> Iterable[tuple[str, dict[str, Any]]]:
    for table in tables:
        for each in table.values():
            for record in each.shape.records():
                body = {"type": "object", "description": record.doc, **_object(record.properties)}
                yield f"{NAME}:index:{record.name}", body


def text() -> str:
    """Give the schema as it is kept in the file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
