"""State and rules of R2.

A bucket's identity is account, jurisdiction and name: asked for under another jurisdiction it does not exist.
What is configured on a bucket is kept as it was sent and goes with the bucket; objects keep a bucket alive.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from emulator.calls import Call, Result
from emulator.clock import hex_id
from emulator.errors import Failure
from emulator.paging import cursor_after, cursor_for, cut, is_descending, whole_query
from emulator.schema import without_nulls
from emulator.services.zones.rules import in_zone
from emulator.store import Document, Store

from . import bodies, errors, objects, temporary
from .bodies import STORAGE_CLASSES

JURISDICTIONS = ("default", "eu", "us", "fedramp", "fedramp-high")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")


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


@dataclass(frozen=True)
class Part:
    """A configuration that a bucket has once, kept as it was sent."""

    name: str
    missing: Failure | None = None  # what is answered when there is none; otherwise no rules

    def get(self, call: Call) -> Document:
        """Read it."""
        found = self.find(call)
        if self.missing is None:
            return found or {"rules": []}
        if found is None:
            raise self.missing()
        return found

    def find(self, call: Call) -> Document | None:
        """What was sent, if anything was."""
        return call.store.get(f"r2_{self.name}", bucket_scope(call), self.name)

    def put(self, call: Call, body: Document) -> Document:
        """Set it, replacing the former one."""
        call.store.put(f"r2_{self.name}", bucket_scope(call), self.name, body)
        return {}

    def delete(self, call: Call) -> Document:
        """Remove it."""
        call.store.delete(f"r2_{self.name}", bucket_scope(call), self.name)
        return {}


LIFECYCLE, CORS, LOCK, MANAGED = Part("lifecycle"), Part("cors", errors.NO_CORS), Part("lock"), Part("managed")


def create_bucket(call: Call, body: Document) -> Document:
    """Make a bucket."""
    scope, name = buckets_scope(call), body["name"]
    if not _NAME.fullmatch(name):
        raise errors.BAD_NAME()
    if call.store.has("r2_bucket", scope, name):
        raise errors.BUCKET_EXISTS()
    bucket = {
        "name": name,
        "creation_date": call.state.clock.stamp(),
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


def list_buckets(call: Call) -> Result:
    """List buckets by name, with a cursor."""
    size = whole_query(call, "per_page", 20, 1, 1000)
    descending = is_descending(call)
    call.choice("order", ("name",), "name")
    start = call.query.get("start_after")
    after = cursor_after(call) or start or None
    scope, wanted = buckets_scope(call), call.query.get("name_contains", "")
    limit = -1 if wanted else size + 1
    found = call.store.select("r2_bucket", scope, order="key", descending=descending, after=after, limit=limit)
    buckets, more = cut([bucket for bucket in found if wanted in bucket["name"]], size)
    info: Document = {"per_page": size}
    if more:
        info["cursor"] = cursor_for(buckets[-1]["name"])
    return Result({"buckets": buckets}, info)


def edit_bucket(call: Call) -> Document:
    """Change the storage class of objects to come, which travels in a header."""
    storage_class = call.headers.get("cf-r2-storage-class", "")
    if storage_class not in STORAGE_CLASSES:
        raise errors.BAD_STORAGE_CLASS(value=storage_class)
    bucket = get_bucket(call)
    bucket["storage_class"] = storage_class
    return call.store.put("r2_bucket", buckets_scope(call), bucket["name"], bucket)


def delete_bucket(call: Call) -> Document:
    """Remove an empty bucket and all that is configured on it."""
    scope = bucket_scope(call)
    if call.store.count(objects.OBJECT, scope):
        raise errors.NOT_EMPTY()
    for part in (LIFECYCLE, CORS, LOCK, MANAGED):
        part.delete(call)
    objects.forget_uploads(call.store, scope)
    call.store.delete_all("r2_domain", scope)
    call.store.delete_all("r2_notification", scope)
    call.store.delete("r2_bucket", buckets_scope(call), call.params["bucket_name"])
    return {}


def get_managed_domain(call: Call) -> Document:
    """The r2.dev address, whose name follows from the bucket."""
    bucket_id = hashlib.md5(bucket_scope(call).encode(), usedforsecurity=False).hexdigest()
    stored = MANAGED.find(call) or {"enabled": False}
    return {"bucketId": bucket_id, "domain": f"pub-{bucket_id}.r2.dev", "enabled": stored["enabled"]}


def put_managed_domain(call: Call, body: Document) -> Document:
    """Switch the r2.dev address on or off."""
    MANAGED.put(call, body)
    return get_managed_domain(call)


def attach_domain(call: Call, body: Document) -> Document:
    """Attach a custom domain of one of the account's zones."""
    scope, name = bucket_scope(call), body["domain"].lower()
    zone = call.store.get("zone", "", body["zoneId"])
    if zone is None or zone["account"]["id"] != call.account_id or not in_zone(name, zone["name"]):
        raise errors.FOREIGN_ZONE(domain=name)
    if call.store.find_anywhere("r2_domain", "domain", name):
        raise errors.DOMAIN_IN_USE(domain=name)
    domain = _put_domain(call.store, scope, {**body, "domain": name, "zoneName": zone["name"]})
    return {name: value for name, value in domain.items() if name != "zoneName"}


def _put_domain(store: Store, scope: str, domain: Document) -> Document:
    labels = {"domain": domain["domain"], "zone_id": domain["zoneId"]}
    return store.put("r2_domain", scope, domain["domain"], domain, labels=labels)


def get_domain(call: Call) -> Document:
    """The path's custom domain."""
    domain = call.store.get("r2_domain", bucket_scope(call), call.params["domain"].lower())
    if domain is None:
        raise errors.NO_DOMAIN()
    return domain


def list_domains(call: Call) -> Document:
    """List custom domains."""
    found = call.store.select("r2_domain", bucket_scope(call))
    return {"domains": [domain_view(call, domain) for domain in found]}


def change_domain(call: Call) -> Document:
    """Change what was sent, keep the rest."""
    body = call.body(bodies.domain_change(call.params["domain"]), errors.INVALID)
    domain = _put_domain(call.store, bucket_scope(call), {**get_domain(call), **without_nulls(body)})
    return {name: value for name, value in domain.items() if name not in ("zoneName", "zoneId")}


def detach_domain(call: Call) -> Document:
    """Detach the path's custom domain."""
    domain = get_domain(call)
    call.store.delete("r2_domain", bucket_scope(call), domain["domain"])
    return {"domain": domain["domain"]}


def domain_view(_call: Call, domain: Document) -> Document:
    """A custom domain as GET shows it: on this machine it is active at once."""
    state = "active" if domain["enabled"] else "deactivated"
    return {**domain, "status": {"ownership": state, "ssl": state}}


def list_notifications(call: Call) -> Document:
    """Read where a bucket's events go."""
    queues = call.store.select("r2_notification", bucket_scope(call))
    if not queues:
        raise errors.NO_NOTIFICATIONS()
    return {"bucketName": call.params["bucket_name"], "queues": [notification_view(call, each) for each in queues]}


def get_notification(call: Call) -> Document:
    """Read which of a bucket's events go to a queue."""
    entry = call.store.get("r2_notification", bucket_scope(call), call.params["queue_id"])
    if entry is None:
        raise errors.NO_QUEUE_RULES()
    return entry


def delete_notification(call: Call) -> Document:
    """Send no more events to a queue."""
    if not call.store.delete("r2_notification", bucket_scope(call), call.params["queue_id"]):
        raise errors.NO_QUEUE_RULES()
    return {}


def put_notification(call: Call, body: Document) -> Document:
    """Replace the rules that send a bucket's events to a queue; two rules may not send the same event."""
    scope, queue_id, rules = bucket_scope(call), call.params["queue_id"], body["rules"]
    if not call.store.has("queue", call.account_id, queue_id):
        raise errors.NO_QUEUE()
    others = [entry for entry in call.store.select("r2_notification", scope) if entry["queueId"] != queue_id]
    taken: set[tuple[Any, ...]] = {key for entry in others for rule in entry["rules"] for key in _events(rule)}
    for rule in rules:
        for key in _events(rule):
            if key in taken:
                raise errors.RULES_OVERLAP(action=key[0])
        taken |= set(_events(rule))
    now = call.state.clock.stamp()
    stored = [{**rule, "ruleId": hex_id(), "createdAt": now} for rule in rules]
    entry = {"queueId": queue_id, "rules": stored}
    call.store.put("r2_notification", scope, queue_id, entry, labels={"queue": queue_id})
    return {}


def notification_view(call: Call, entry: Document) -> Document:
    """Where events go, with the name the queue has now; a queue that is notified cannot be deleted."""
    queue = call.store.get("queue", call.account_id, entry["queueId"]) or {"queue_name": ""}
    return {**entry, "queueName": queue["queue_name"]}


def _events(rule: Document) -> list[tuple[str, str, str]]:
    return [(action, rule.get("prefix") or "", rule.get("suffix") or "") for action in rule["actions"]]


def notified_buckets(store: Store, queue_id: str) -> list[str]:
    """Scopes of the buckets whose events go to a queue, which therefore cannot be deleted."""
    return [scope for scope, _ in store.find_anywhere("r2_notification", "queue", queue_id)]


def temporary_credentials(call: Call, body: Document) -> Document:
    """Mint S3 credentials."""
    place = buckets_scope(call)
    if not call.store.has("r2_bucket", place, body["bucket"]):
        raise errors.NO_BUCKET()
    return temporary.make(call.state, f"{place}/{body['bucket']}", body)
