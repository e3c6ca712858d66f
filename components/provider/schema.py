"""The plugin's schema, made from the declarations. `schema.json` beside it is what is served and reviewed.

`make docs` writes the file; a test compares the two.
"""

import json
from pathlib import Path
from typing import Any, Final

from ..version import VERSION
from . import publication
from .container_application import declaration as container_application
from .property_types import PLUGIN, Declaration, Properties, Property, Record, Text
from .registry_credentials import declaration as registry_credentials
from .registry_image import declaration as registry_image
from .worker_script import declaration as worker_script

FILE: Final = Path(__file__).with_name("schema.json")
RESOURCES: Final = (worker_script.DECLARATION, container_application.DECLARATION, registry_image.DECLARATION)
PLUGIN_VERSION: Final = Declaration(
    "getPluginVersion",
    "Returns the version of the plugin; asked early, it lets the plugin start early.",
    {},
    {"version": Property(Text(), "Version of the plugin.", required=True)},
)
_GENERATED: Final = {"respectSchemaVersion": True}
_LANGUAGES: Final = {
    "go": {"importBasePath": "pulumi-cloudflare-sandbox/sdk/go/cloudflaresandbox", **_GENERATED},
    "nodejs": {
        "packageName": "pulumi-cloudflare-sandbox",
        "dependencies": {"@pulumi/pulumi": "^3.259.0"},
        **_GENERATED,
    },
}
"""How SDKs are made from the schema; that of Python is this package."""
FUNCTIONS: Final = (registry_credentials.DECLARATION, PLUGIN_VERSION)
CONFIGURATION: Final[Properties] = {
    "apiToken": Property(Text(), "API token; CLOUDFLARE_API_TOKEN of the environment if left out.", secret=True),
    "baseUrl": Property(Text(), "Address of the API; CLOUDFLARE_BASE_URL of the environment, or Cloudflare's own."),
}


def records() -> dict[str, Record]:
    """Return the types that the declarations use, by name."""
    tables = [table for each in (*RESOURCES, *FUNCTIONS) for table in (each.inputs, each.outputs)]
    found = (record for table in tables for each in table.values() for record in each.type.records())
    return {record.name: record for record in sorted(found, key=lambda record: record.name)}


def schema() -> dict[str, Any]:
    """Return the schema."""
    from ..construct import schema as components  # noqa: PLC0415 - the plugin serves the file, and needs no models

    return {
        "name": PLUGIN,
        "version": VERSION,
        **publication.about(),
        "language": _LANGUAGES,
        "config": {"variables": _properties(CONFIGURATION)},
        "provider": {"inputProperties": _properties(CONFIGURATION)},
        "types": {
            f"{PLUGIN}:index:{name}": {"type": "object", "description": record.doc, **_object(record.properties)}
            for name, record in records().items()
        }
        | components.types(),
        "resources": {each.token: _resource(each) for each in RESOURCES} | components.resources(),
        "functions": {each.token: _function(each) for each in FUNCTIONS},
    }


def _resource(declared: Declaration) -> dict[str, Any]:
    outputs = {**declared.inputs, **declared.outputs}
    return {
        "description": f"{declared.doc} Import: `{declared.import_id}`.",
        "inputProperties": _properties(declared.inputs),
        "requiredInputs": [name for name, each in declared.inputs.items() if each.required],
        "properties": _properties(outputs),
        "required": [name for name, each in outputs.items() if each.required or each.default is not None],
    }


def _function(declared: Declaration) -> dict[str, Any]:
    inputs = {"inputs": _object(declared.inputs)} if declared.inputs else {}
    return {"description": declared.doc, **inputs, "outputs": _object(declared.outputs)}


def _properties(table: Properties) -> dict[str, Any]:
    return {name: each.schema() for name, each in table.items()}


def _object(table: Properties) -> dict[str, Any]:
    required = [name for name, each in table.items() if each.required]
    return {"properties": _properties(table), **({"required": required} if required else {})}


def text() -> str:
    """Return the schema as it is kept in the file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
