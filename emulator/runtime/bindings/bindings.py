"""Bindings of a version as workerd has them.

What workerd cannot give by itself comes from small modules of ours; what neither can give is left out, and said so.
"""

import base64
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from emulator.runtime.workerd.config import Word, embed
from emulator.runtime.workerd.script_set import Member, ScriptSet
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.workers.bindings import SECRETS, open_secret
from emulator.store import Document, Store
from emulator.vault import Vault

_PARTS = {"text_blob": "text", "data_blob": "data", "wasm_module": "wasmModule"}


@dataclass
class Bound:
    """The bindings of one member, the stores they need from the emulator, and what could not be given."""

    values: list[dict[str, Any]] = field(default_factory=list)
    stores: dict[str, str] = field(default_factory=dict)  # service name: what the gateway is told
    missing: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Context:
    """What turning a binding into workerd's form may look at."""

    scripts: ScriptSet
    member: Member
    store: Store
    vault: Vault


def bind(context: Context) -> Bound:
    """All bindings of a member."""
    bound = Bound()
    for binding in context.member.version["bindings"]:
        value = _value(context, binding, bound)
        if value is None:
            bound.missing.append({"name": binding["name"], "type": binding["type"]})
        else:
            bound.values.append({"name": binding["name"], **value})
    return bound


def _value(context: Context, binding: Document, bound: Bound) -> dict[str, Any] | None:
    kind = binding["type"]
    if kind in SECRETS:
        return _secret(binding, open_secret(binding, context.vault))
    if kind in ("kv_namespace", "r2_bucket"):
        return _stored(context.scripts.account, binding, bound)
    if kind == "queue":
        return _queue(context.scripts.account, binding, bound)
    if kind == "d1":
        return _database(context, binding, bound)
    if kind in _PARTS:
        parts = {module["name"]: module["sha256"] for module in context.member.version["modules"]}
        return {_PARTS[kind]: embed(parts[binding["part"]])} if binding["part"] in parts else None
    make = _KINDS.get(kind)
    return None if make is None else make(context, binding)


def _secret(binding: Document, opened: Any) -> dict[str, Any]:
    if binding["type"] == "secret_text":
        return {"text": opened}
    algorithm = binding["algorithm"]
    named = {"name": algorithm} if isinstance(algorithm, str) else {"json": json.dumps(algorithm)}
    usages = [Word(usage) for usage in binding["usages"]]
    return {"cryptoKey": {**_key(binding["format"], opened), "algorithm": named, "usages": usages}}


def _key(form: str, opened: Any) -> dict[str, str]:
    if form == "jwk":
        return {"jwk": json.dumps(opened["key_jwk"])}
    if form == "raw":
        return {"base64": opened["key_base64"]}
    title = "PRIVATE KEY" if form == "pkcs8" else "PUBLIC KEY"
    lines = "\n".join(textwrap.wrap(base64.b64encode(base64.b64decode(opened["key_base64"])).decode(), 64))
    return {form: f"-----BEGIN {title}-----\n{lines}\n-----END {title}-----\n"}


def _stored(account: str, binding: Document, bound: Bound) -> dict[str, Any]:
    if binding["type"] == "kv_namespace":
        place = f"kv/{account}/{binding['namespace_id']}"
        field_name = "kvNamespace"
    else:
        place = f"r2/{account}/{binding.get('jurisdiction', 'default')}/{binding['bucket_name']}"
        field_name = "r2Bucket"
    bound.stores[f"emulator:{place}"] = place
    return {field_name: f"emulator:{place}"}


def _queue(account: str, binding: Document, bound: Bound) -> dict[str, Any] | None:
    if "queue_id" not in binding:
        return None
    place = f"queues/{account}/{binding['queue_id']}/{binding.get('delivery_delay') or ''}"
    bound.stores[f"emulator:{place}"] = place
    return {"queue": f"emulator:{place}"}


def _database(context: Context, binding: Document, bound: Bound) -> dict[str, Any] | None:
    """Workerd has D1's API built in, and asks for nothing but somebody who answers queries."""
    if not context.store.has("d1_database", context.scripts.account, binding["id"]):
        return None
    place = f"d1/{context.scripts.account}/{binding['id']}"
    bound.stores[f"emulator:{place}"] = place
    inner = [{"name": "fetcher", "service": f"emulator:{place}"}]
    return {"wrapped": {"moduleName": "cloudflare-internal:d1-api", "innerBindings": inner}}


def _service(context: Context, binding: Document) -> dict[str, Any] | None:
    if binding["service"] not in {each.name for each in context.scripts.members}:
        return None
    target = {"name": binding["service"]}
    return {"service": target | ({"entrypoint": binding["entrypoint"]} if binding.get("entrypoint") else {})}


def _durable_object(context: Context, binding: Document) -> dict[str, Any] | None:
    namespace = durable_objects.namespace_by_id(context.store, context.scripts.account, binding["namespace_id"])
    if namespace is None:
        return None
    return {"durableObjectNamespace": {"className": namespace["class"], "serviceName": namespace["script"]}}


def _version(context: Context, _binding: Document) -> dict[str, Any]:
    version = context.member.version
    tag = version["annotations"].get("workers/tag", "")
    return {"json": json.dumps({"id": version["id"], "tag": tag, "timestamp": version["created_on"]})}


def _rate_limit(_context: Context, binding: Document) -> dict[str, Any]:
    inner = [{"name": name, "json": json.dumps(binding["simple"][name])} for name in ("limit", "period")]
    return {"wrapped": {"moduleName": "emulator:ratelimit", "innerBindings": inner}}


_KINDS: dict[str, Callable[[Context, Document], dict[str, Any] | None]] = {
    "plain_text": lambda _, binding: {"text": binding["text"]},
    "json": lambda _, binding: {"json": json.dumps(binding["json"])},
    "service": _service,
    "durable_object_namespace": _durable_object,
    "version_metadata": _version,
    "ratelimit": _rate_limit,
    "analytics_engine": lambda _context, _binding: {"wrapped": {"moduleName": "emulator:analytics"}},
}
