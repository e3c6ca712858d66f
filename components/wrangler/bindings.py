"""Wrangler's keys for bindings and the kinds of the upload API, as one table for both directions.

Source: the upload form of wrangler 4.158, 2026-11-18. Kinds that this package does not know are missing here, so that
they are told as lost.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..platform.bindings import KINDS

OBJECTS: Final = "durable_object_namespace"
BUCKET, NAMESPACE = "r2_bucket", "kv_namespace"

_LOCAL: Final = frozenset({
    "preview_id", "preview_bucket_name", "preview_database_id", "database_name", "migrations_dir", "migrations_table",
    "migrations_pattern", "remote", "experimental_remote", "localConnectionString", "local_connection_string",
    "service_binding_type",
})  # fmt: skip
"""Fields that only `wrangler dev` and other commands read."""

_NO_TEXT: Final = frozenset({
    "allowed_destination_addresses", "allowed_sender_addresses", "delivery_delay", "props", "simple",
})  # fmt: skip
"""Fields that hold something else than text."""


@dataclass(frozen=True)
class Shape:
    """How wrangler writes bindings of one kind."""

    kind: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """Wrangler's fields and the API's."""
    named: str = "binding"
    """Field that has the binding's name."""
    single: bool = False
    """Whether it is an object, of which there is one, instead of a list."""


def _same(kind: str, *fields: str, **more: Any) -> Shape:
    return Shape(kind, {name: name for name in fields}, **more)


SHAPES: Final[Mapping[tuple[str, ...], Shape]] = {
    ("durable_objects", "bindings"): _same(OBJECTS, "class_name", "script_name", "environment", named="name"),
    ("kv_namespaces",): Shape(NAMESPACE, {"id": "namespace_id"}),
    ("r2_buckets",): _same(BUCKET, "bucket_name", "jurisdiction"),
    ("queues", "producers"): Shape("queue", {"queue": "queue_name", "delivery_delay": "delivery_delay"}),
    ("d1_databases",): Shape("d1", {"database_id": "id"}),
    ("vectorize",): _same("vectorize", "index_name"),
    ("hyperdrive",): _same("hyperdrive", "id"),
    ("services",): _same("service", "service", "environment", "entrypoint", "props"),
    ("analytics_engine_datasets",): _same("analytics_engine", "dataset"),
    ("dispatch_namespaces",): _same("dispatch_namespace", "namespace"),
    ("mtls_certificates",): _same("mtls_certificate", "certificate_id"),
    ("send_email",): _same(
        "send_email",
        "destination_address",
        "allowed_destination_addresses",
        "allowed_sender_addresses",
        named="name",
    ),
    ("secrets_store_secrets",): _same("secrets_store_secret", "store_id", "secret_name"),
    ("ratelimits",): _same("ratelimit", "namespace_id", "simple", named="name"),
    ("pipelines",): _same("pipelines", "pipeline"),
    ("k2",): _same("k2", "stream"),
    ("ai_search",): _same("ai_search", "instance_name"),
    ("ai_search_namespaces",): _same("ai_search_namespace", "namespace"),
    ("artifacts",): _same("artifacts", "namespace"),
    ("flagship",): _same("flagship", "app_id"),
    ("vpc_services",): _same("vpc_service", "service_id"),
    ("vpc_networks",): _same("vpc_network", "tunnel_id", "network_id"),
    ("workflows",): Shape(
        "workflow", {"name": "workflow_name", "class_name": "class_name", "script_name": "script_name"}
    ),
    ("ai",): Shape("ai", single=True),
    ("browser",): Shape("browser", single=True),
    ("images",): Shape("images", single=True),
    ("media",): Shape("media", single=True),
    ("version_metadata",): Shape("version_metadata", single=True),
}
BY_KIND: Final = {shape.kind: (path, shape) for path, shape in SHAPES.items()}


@dataclass(frozen=True)
class Bound:
    """One binding as wrangler says it: where, and its API form; `missing` and `beyond` are fields."""

    path: tuple[str | int, ...]
    name: str | None
    value: dict[str, Any]
    missing: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def read(path: tuple[str, ...], said: Any) -> Iterator[Bound]:
    """Give the bindings under a key; what has another shape than wrangler wants has no name."""
    shape = SHAPES[path]
    listed = [said] if shape.single else said
    if not isinstance(listed, list):
        yield Bound(path, None, {})
        return
    for index, each in enumerate(listed):
        place: tuple[str | int, ...] = path if shape.single else (*path, index)
        if not isinstance(each, dict) or not isinstance(each.get(shape.named), str):
            yield Bound(place, None, {})
            continue
        no_text = [name for name in shape.fields.keys() - _NO_TEXT if not isinstance(each.get(name), str | None)]
        if no_text:
            yield from (Bound((*place, name), None, {}) for name in sorted(no_text))
            continue
        value = {"type": shape.kind}
        value |= {api: each[name] for name, api in shape.fields.items() if each.get(name) is not None}
        yield Bound(
            place,
            each[shape.named],
            value,
            missing=tuple(name for name, api in shape.fields.items() if _needed(shape.kind, api) and api not in value),
            beyond=tuple(name for name in each if name not in {*shape.fields, *_LOCAL, shape.named}),
        )


def _needed(kind: str, name: str) -> bool:
    camel = name.split("_", maxsplit=1)[0] + "".join(part.title() for part in name.split("_")[1:])
    return camel in KINDS[kind].needs


def write(name: str, value: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Give the key and the entry by which wrangler says a binding; None if it cannot."""
    known = BY_KIND.get(str(value.get("type")))
    if known is None:
        return None
    path, shape = known
    api = {api: key for key, api in shape.fields.items()}
    fields = {key: item for key, item in value.items() if key != "type"}
    if not fields.keys() <= api.keys():
        return None
    return path, {shape.named: name, **{api[key]: item for key, item in fields.items()}}
