"""Wrangler's keys for bindings and the kinds of the upload API, as one table for both directions.

Source: the upload form of wrangler 4.158, 2026-11-18. Kinds that this package does not know are missing here, so that
they are told as lost.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..platform.bindings import DURABLE_OBJECT, KINDS, KV_NAMESPACE, QUEUE, R2_BUCKET, RATE_LIMIT, WORKFLOW

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
class ConfigKey:
    """How wrangler writes bindings of one kind, below a key of its configuration."""

    kind: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """Wrangler's fields and the API's."""
    named: str = "binding"
    """Field that has the binding's name."""
    single: bool = False
    """Whether it is an object, of which there is one, instead of a list."""


def _same(kind: str, *fields: str, **more: Any) -> ConfigKey:
    return ConfigKey(kind, {name: name for name in fields}, **more)


CONFIG_KEYS: Final[Mapping[tuple[str, ...], ConfigKey]] = {
    ("durable_objects", "bindings"): _same(DURABLE_OBJECT, "class_name", "script_name", "environment", named="name"),
    ("kv_namespaces",): ConfigKey(KV_NAMESPACE, {"id": "namespace_id"}),
    ("r2_buckets",): _same(R2_BUCKET, "bucket_name", "jurisdiction"),
    ("queues", "producers"): ConfigKey(QUEUE, {"queue": "queue_name", "delivery_delay": "delivery_delay"}),
    ("d1_databases",): ConfigKey("d1", {"database_id": "id"}),
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
    ("ratelimits",): _same(RATE_LIMIT, "namespace_id", "simple", named="name"),
    ("pipelines",): _same("pipelines", "pipeline"),
    ("k2",): _same("k2", "stream"),
    ("ai_search",): _same("ai_search", "instance_name"),
    ("ai_search_namespaces",): _same("ai_search_namespace", "namespace"),
    ("artifacts",): _same("artifacts", "namespace"),
    ("flagship",): _same("flagship", "app_id"),
    ("vpc_services",): _same("vpc_service", "service_id"),
    ("vpc_networks",): _same("vpc_network", "tunnel_id", "network_id"),
    ("workflows",): ConfigKey(
        WORKFLOW, {"name": "workflow_name", "class_name": "class_name", "script_name": "script_name"}
    ),
    ("ai",): ConfigKey("ai", single=True),
    ("browser",): ConfigKey("browser", single=True),
    ("images",): ConfigKey("images", single=True),
    ("media",): ConfigKey("media", single=True),
    ("version_metadata",): ConfigKey("version_metadata", single=True),
}
BY_KIND: Final = {key.kind: (path, key) for path, key in CONFIG_KEYS.items()}


@dataclass(frozen=True)
class Bound:
    """One binding as wrangler says it: where, and its API form; `missing` and `beyond` are fields."""

    path: tuple[str | int, ...]
    name: str | None
    value: dict[str, Any]
    missing: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def read(path: tuple[str, ...], said: Any) -> Iterator[Bound]:
    """Return the bindings under a key; what wrangler would not take has no name."""
    key = CONFIG_KEYS[path]
    listed = [said] if key.single else said
    if not isinstance(listed, list):
        yield Bound(path, None, {})
        return
    for index, each in enumerate(listed):
        place: tuple[str | int, ...] = path if key.single else (*path, index)
        if not isinstance(each, dict) or not isinstance(each.get(key.named), str):
            yield Bound(place, None, {})
            continue
        no_text = [name for name in key.fields.keys() - _NO_TEXT if not isinstance(each.get(name), str | None)]
        if no_text:
            yield from (Bound((*place, name), None, {}) for name in sorted(no_text))
            continue
        value = {"type": key.kind}
        value |= {api: each[name] for name, api in key.fields.items() if each.get(name) is not None}
        yield Bound(
            place,
            each[key.named],
            value,
            missing=tuple(name for name, api in key.fields.items() if _needed(key.kind, api) and api not in value),
            beyond=tuple(name for name in each if name not in {*key.fields, *_LOCAL, key.named}),
        )


def _needed(kind: str, name: str) -> bool:
    camel = name.split("_", maxsplit=1)[0] + "".join(part.title() for part in name.split("_")[1:])
    return camel in KINDS[kind].needs


def put(configuration: dict[str, Any], name: str, value: Mapping[str, Any]) -> bool:
    """Say a binding, given in its API form, in a configuration; return whether wrangler can say it."""
    known = BY_KIND.get(str(value.get("type")))
    if known is None:
        return False
    path, config = known
    keys = {api: key for key, api in config.fields.items()}
    fields = {key: item for key, item in value.items() if key != "type"}
    if not fields.keys() <= keys.keys():
        return False
    entry = {config.named: name, **{keys[key]: item for key, item in fields.items()}}
    for part in path[:-1]:
        configuration = configuration.setdefault(part, {})
    if config.single:
        configuration[path[-1]] = entry
    else:
        configuration.setdefault(path[-1], []).append(entry)
    return True
