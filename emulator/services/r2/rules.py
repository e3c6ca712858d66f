"""State and rules of R2.

A bucket's identity is account, jurisdiction and name: asked for under another jurisdiction it does not exist.
What is configured on a bucket is kept as it was sent and goes with the bucket; objects keep a bucket alive.
"""

import hashlib
import re
from typing import Any

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.schema import without_nulls
from emulator.services.zones.rules import in_zone
from emulator.store import Document, Store

from . import errors, objects

JURISDICTIONS = ("default", "eu", "us", "fedramp", "fedramp-high")
STORAGE_CLASSES = ("Standard", "InfrequentAccess")
LOCATIONS = ("apac", "eeur", "enam", "weur", "wnam", "oc")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_PARTS = ("cors", "lifecycle", "lock", "managed")


def jurisdiction(call: Call) -> str:
    """The jurisdiction a call is about; an empty header means the default."""
    value = call.headers.get("cf-r2-jurisdiction") or "default"
    if value not in JURISDICTIONS:
        raise errors.BAD_JURISDICTION(value=value)
    return value


def buckets_scope(call: Call) -> str:
    """Where the buckets of an account and jurisdiction are."""
    return f"{call.account_id}/{jurisdiction(call)}"


def bucket_scope(call: Call) -> str:
    """Where everything that belongs to the path's bucket is; the bucket must exist."""
    scope, name = buckets_scope(call), call.params["bucket_name"]
    if not call.store.has("r2_bucket", scope, name):
        raise errors.NO_BUCKET()
    return f"{scope}/{name}"


def create_bucket(call: Call, body: Document) -> Document:
    """Make a bucket."""
    scope, name = buckets_scope(call), body["name"]
    if not _NAME.fullmatch(name):
        raise errors.BAD_NAME()
    if call.store.has("r2_bucket", scope, name):
        raise errors.BUCKET_EXISTS()
    bucket = {
        "name": name,
        "creation_date": call.world.clock.stamp(),
        "location": body.get("locationHint", "weur"),
        "storage_class": body.get("storageClass", "Standard"),
        "jurisdiction": jurisdiction(call),
    }
    return call.store.put("r2_bucket", scope, name, bucket)


def get_bucket(call: Call) -> Document:
    """The path's bucket."""
    bucket = call.store.get("r2_bucket", buckets_scope(call), call.params["bucket_name"])
    if bucket is None:
        raise errors.NO_BUCKET()
    return bucket


def set_storage_class(call: Call, storage_class: str) -> Document:
    """Change the class of objects to come."""
    bucket = get_bucket(call)
    bucket["storage_class"] = storage_class
    return call.store.put("r2_bucket", buckets_scope(call), bucket["name"], bucket)


def delete_bucket(call: Call) -> None:
    """Remove an empty bucket and all that is configured on it."""
    scope = bucket_scope(call)
    if call.store.count(objects.OBJECT, scope):
        raise errors.NOT_EMPTY()
    for part in _PARTS:
        call.store.delete(f"r2_{part}", scope, part)
    objects.forget_uploads(call.store, scope)
    call.store.delete_all("r2_domain", scope)
    call.store.delete_all("r2_notification", scope)
    call.store.delete("r2_bucket", buckets_scope(call), call.params["bucket_name"])


def get_part(call: Call, part: str) -> Document | None:
    """A configuration that a bucket has once."""
    return call.store.get(f"r2_{part}", bucket_scope(call), part)


def put_part(call: Call, part: str, body: Document) -> None:
    """Set such a configuration, replacing the former one."""
    call.store.put(f"r2_{part}", bucket_scope(call), part, body)


def delete_part(call: Call, part: str) -> None:
    """Remove such a configuration."""
    call.store.delete(f"r2_{part}", bucket_scope(call), part)


def managed_domain(call: Call) -> Document:
    """The r2.dev address, whose name follows from the bucket."""
    scope = bucket_scope(call)
    bucket_id = hashlib.md5(scope.encode(), usedforsecurity=False).hexdigest()
    stored = call.store.get("r2_managed", scope, "managed") or {"enabled": False}
    return {"bucketId": bucket_id, "domain": f"pub-{bucket_id}.r2.dev", "enabled": stored["enabled"]}


def attach_domain(call: Call, body: Document) -> Document:
    """Attach a custom domain of one of the account's zones."""
    scope, name = bucket_scope(call), body["domain"].lower()
    zone = call.store.get("zone", "", body["zoneId"])
    if zone is None or zone["account"]["id"] != call.account_id or not in_zone(name, zone["name"]):
        raise errors.FOREIGN_ZONE(domain=name)
    if call.store.find_anywhere("r2_domain", "domain", name):
        raise errors.DOMAIN_IN_USE(domain=name)
    domain = {**body, "domain": name, "zoneName": zone["name"]}
    return _put_domain(call.store, scope, domain)


def _put_domain(store: Store, scope: str, domain: Document) -> Document:
    labels = {"domain": domain["domain"], "zone_id": domain["zoneId"]}
    return store.put("r2_domain", scope, domain["domain"], domain, labels=labels)


def get_domain(call: Call) -> Document:
    """The path's custom domain."""
    domain = call.store.get("r2_domain", bucket_scope(call), call.params["domain"].lower())
    if domain is None:
        raise errors.NO_DOMAIN()
    return domain


def change_domain(call: Call, body: Document) -> Document:
    """Change what was sent, keep the rest."""
    return _put_domain(call.store, bucket_scope(call), {**get_domain(call), **without_nulls(body)})


def detach_domain(call: Call) -> Document:
    """Detach the path's custom domain."""
    domain = get_domain(call)
    call.store.delete("r2_domain", bucket_scope(call), domain["domain"])
    return {"domain": domain["domain"]}


def domain_view(domain: Document) -> Document:
    """A custom domain as GET shows it: on this machine it is active at once."""
    state = "active" if domain["enabled"] else "deactivated"
    return {**domain, "status": {"ownership": state, "ssl": state}}


def set_notifications(call: Call, queue_id: str, rules: list[Document]) -> None:
    """Replace the rules that send a bucket's events to a queue; two rules may not send the same event."""
    scope = bucket_scope(call)
    if not call.store.has("queue", call.account_id, queue_id):
        raise errors.NO_QUEUE()
    others = [entry for entry in call.store.select("r2_notification", scope) if entry["queueId"] != queue_id]
    taken: set[tuple[Any, ...]] = {key for entry in others for rule in entry["rules"] for key in _events(rule)}
    for rule in rules:
        for key in _events(rule):
            if key in taken:
                raise errors.RULES_OVERLAP(action=key[0])
        taken |= set(_events(rule))
    now = call.world.clock.stamp()
    stored = [{**rule, "ruleId": hex_id(), "createdAt": now} for rule in rules]
    entry = {"queueId": queue_id, "rules": stored}
    call.store.put("r2_notification", scope, queue_id, entry, labels={"queue": queue_id})


def notification_view(call: Call, entry: Document) -> Document:
    """Where events go, with the name the queue has now; a queue that is notified cannot be deleted."""
    queue = call.store.get("queue", call.account_id, entry["queueId"]) or {"queue_name": ""}
    return {**entry, "queueName": queue["queue_name"]}


def _events(rule: Document) -> list[tuple[str, str, str]]:
    return [(action, rule.get("prefix") or "", rule.get("suffix") or "") for action in rule["actions"]]


def notified_buckets(store: Store, queue_id: str) -> list[str]:
    """Scopes of the buckets whose events go to a queue, which therefore cannot be deleted."""
    return [scope for scope, _ in store.find_anywhere("r2_notification", "queue", queue_id)]
