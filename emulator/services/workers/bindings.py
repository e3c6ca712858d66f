"""Bindings of a Worker: what each kind needs, what is kept of the last version, what it points to.

Secret values are sealed the moment they arrive; `public` is the only way a binding leaves, and `open_secret` is for the
runtime alone.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from emulator.calls import Call
from emulator.schema import anything, fields, items, nullable, number, options, problems, text
from emulator.store import Document, Store
from emulator.vault import Vault

from . import errors

_NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("ai", "analytics", "assets", "browser", "images", "inherit", "media", "pipelines"), ()),
    **dict.fromkeys(("send_email", "stream", "unsafe_hello_world", "version_metadata", "vpc_network"), ()),
    **dict.fromkeys(("worker_loader", "durable_object_namespace", "d1"), ()),
    **dict.fromkeys(("agent_memory", "ai_search_namespace", "artifacts", "dispatch_namespace"), ("namespace",)),
    **dict.fromkeys(("data_blob", "text_blob", "wasm_module"), ("part",)),
    "ai_search": ("instance_name",),
    "analytics_engine": ("dataset",),
    "flagship": ("app_id",),
    "hyperdrive": ("id",),
    "json": ("json",),
    "k2": ("stream",),
    "kv_namespace": ("namespace_id",),
    "logfwdr": ("destination",),
    "messaging": ("namespace",),
    "mtls_certificate": ("certificate_id",),
    "plain_text": ("text",),
    "queue": ("queue_name",),
    "r2_bucket": ("bucket_name",),
    "ratelimit": ("namespace_id", "simple"),
    "secret_key": ("algorithm", "format", "usages"),
    "secret_text": ("text",),
    "secrets_store_secret": ("store_id", "secret_name"),
    "service": ("service",),
    "vectorize": ("index_name",),
    "vpc_service": ("service_id",),
    "workflow": ("workflow_name",),
}
SECRETS = ("secret_text", "secret_key")
_KEY_PARTS = ("key_base64", "key_jwk")
_USAGES = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"]
_ADDRESSES = items(text())
_FIELDS = {
    "json": anything(),
    "algorithm": anything(),
    "format": text(choices=["raw", "pkcs8", "spki", "jwk"]),
    "usages": items(text(choices=_USAGES)),
    "simple": fields({"limit": number(), "period": number(whole=True)}, closed=False),
    "jurisdiction": text(choices=["eu", "fedramp", "fedramp-high", "us"]),
    "outbound": options(
        params=nullable(items(fields({"name": text()}))),
        worker=nullable(fields({}, {name: nullable(text()) for name in ("service", "environment", "entrypoint")})),
    ),
    "allowed_destination_addresses": _ADDRESSES,
    "allowed_sender_addresses": _ADDRESSES,
    "text": text(),
    **dict.fromkeys(("class_name", "script_name", "environment", "entrypoint", "dispatch_namespace"), text()),
    **dict.fromkeys(("old_name", "version_id", "database_id", "network_id", "tunnel_id", "identity"), text()),
    **dict.fromkeys(("key_base64", "pipeline", "destination_address"), text()),
}
_FILLED = text(least=1)


@dataclass(frozen=True)
class Former:
    """Where bindings can be inherited from: the latest version, and any other by its id."""

    latest: Document | None
    store: Store
    scope: str

    def version(self, wanted: str | None) -> Document | None:
        """The version an inherited binding comes from."""
        if not wanted or wanted == "latest":
            return self.latest
        return self.store.get("worker_version", self.scope, wanted)


def check(given: Iterable[Any]) -> list[Document]:
    """Refuse bindings that are not well formed; nulls are taken as absent."""
    checked: list[Document] = []
    for index, each in enumerate(given):
        if not isinstance(each, dict) or not isinstance(each.get("name"), str) or not each["name"]:
            raise errors.INVALID(problem=f"bindings[{index}] must have a name")
        binding = {name: value for name, value in each.items() if value is not None or name == "json"}
        name, kind = binding["name"], binding.get("type")
        if not isinstance(kind, str) or kind not in _NEEDS:
            raise errors.UNKNOWN_BINDING(name=name, type=kind)
        _check_fields(binding)
        if any(other["name"] == name for other in checked):
            raise errors.BINDING_TWICE(name=name)
        checked.append(binding)
    return checked


def _check_fields(binding: Document) -> None:
    kind = binding["type"]
    needed = ("id",) if kind == "d1" and "database_id" not in binding else _NEEDS[kind]
    for field in needed:
        if field not in binding or problems(_FIELDS.get(field, _FILLED), binding[field]):
            raise errors.BAD_BINDING(name=binding["name"], type=kind, field=field)
    for field, value in binding.items():
        if field in _FIELDS and field not in needed and problems(_FIELDS[field], value):
            raise errors.BAD_BINDING(name=binding["name"], type=kind, field=field)
    if kind == "durable_object_namespace" and not (binding.get("class_name") or binding.get("namespace_id")):
        raise errors.BAD_BINDING(name=binding["name"], type=kind, field="class_name")
    if kind == "secret_key" and not any(part in binding for part in _KEY_PARTS):
        raise errors.BAD_BINDING(name=binding["name"], type=kind, field="key_base64")


def settle(given: list[Document], former: Former, vault: Vault, *, keep: Iterable[str], strict: bool) -> list[Document]:
    """The bindings of a new version: sealed, inherited ones resolved, kept ones added."""
    settled = []
    for binding in given:
        found = _inherited(binding, former, strict=strict) if binding["type"] == "inherit" else _sealed(binding, vault)
        if found is not None:
            settled.append(found)
    names = {binding["name"] for binding in given}
    kept = set(keep)
    before = former.latest["bindings"] if former.latest else ()
    return settled + [each for each in before if each["type"] in kept and each["name"] not in names]


def _inherited(binding: Document, former: Former, *, strict: bool) -> Document | None:
    old = binding.get("old_name") or binding["name"]
    version = former.version(binding.get("version_id"))
    found = next((each for each in (version or {}).get("bindings", ()) if each["name"] == old), None)
    if found is not None:
        return {**found, "name": binding["name"]}
    if strict:
        source = "the latest version" if version else "no version"
        raise errors.NO_INHERITED(name=binding["name"], source=source, old=old)
    return None


def _sealed(binding: Document, vault: Vault) -> Document:
    kind = binding["type"]
    if kind == "secret_text":
        return {"name": binding["name"], "type": kind, "sealed": vault.seal(binding["text"])}
    if kind == "secret_key":
        value = {part: binding[part] for part in _KEY_PARTS if part in binding}
        rest = {name: item for name, item in binding.items() if name not in _KEY_PARTS}
        return {**rest, "sealed": vault.seal(json.dumps(value))}
    if kind == "queue":
        return {name: item for name, item in binding.items() if name != "queue_id"}  # the id is found, not given
    if kind == "d1":
        database = binding.get("id") or binding["database_id"]
        return {**binding, "id": database, "database_id": database}
    return binding


def open_secret(binding: Document, vault: Vault) -> Any:
    """The value of a secret binding, for the runtime: text, or the parts of a key."""
    value = vault.open(binding["sealed"])
    return value if binding["type"] == "secret_text" else json.loads(value)


def public(call: Call, bindings: Iterable[Document]) -> list[Document]:
    """Bindings as any route shows them: by name, without secret values, queues by the name they have now."""
    return sorted((_shown(call, each) for each in bindings), key=lambda each: str(each["name"]))


def _shown(call: Call, binding: Document) -> Document:
    shown = {name: value for name, value in binding.items() if name not in ("sealed", "queue_id")}
    queue = call.store.get("queue", call.account_id, binding["queue_id"]) if "queue_id" in binding else None
    return shown if queue is None else {**shown, "queue_name": queue["queue_name"]}


def check_targets(store: Store, account: str, script: str, bindings: Iterable[Document]) -> None:
    """Refuse bindings to what the account does not have, as far as the emulator has that product."""
    for binding in bindings:
        kind = binding["type"]
        if kind == "kv_namespace" and not store.has("kv_namespace", account, binding["namespace_id"]):
            raise errors.NO_KV(id=binding["namespace_id"])
        if kind == "d1" and not store.has("d1_database", account, binding["id"]):
            raise errors.NO_D1(id=binding["id"])
        if kind == "r2_bucket":
            scope = f"{account}/{binding.get('jurisdiction', 'default')}"
            if not store.has("r2_bucket", scope, binding["bucket_name"]):
                raise errors.NO_BUCKET(name=binding["bucket_name"])
        if kind == "queue" and not _queue_exists(store, account, binding):
            raise errors.NO_QUEUE(name=binding["queue_name"])
        if kind == "service" and binding["service"] != script and not store.has("worker", account, binding["service"]):
            raise errors.NO_TARGET(name=binding["name"], target=binding["service"])


def _queue_exists(store: Store, account: str, binding: Document) -> bool:
    if "queue_id" in binding:
        return store.has("queue", account, binding["queue_id"])
    return bool(store.find("queue", account, "name", binding["queue_name"]))


def classes(bindings: Iterable[Document]) -> frozenset[str]:
    """Class names that Durable Object bindings speak of, whoever implements them."""
    found = (each.get("class_name") for each in bindings if each["type"] == "durable_object_namespace")
    return frozenset(name for name in found if name)
