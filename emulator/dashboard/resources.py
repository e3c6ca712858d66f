"""What else the account has: buckets, KV, queues, and in its zones records, routes, domains, certificates, Access."""

from datetime import datetime

from emulator.services.certificates.rules import status_at
from emulator.services.r2.rules import notified_buckets
from emulator.store import Document, Store, pick

from .listing import listing, plain


def buckets(store: Store, account: str) -> Document:
    """Buckets of all jurisdictions by name."""
    scopes = sorted(scope for scope in store.scopes("r2_bucket") if scope.startswith(f"{account}/"))
    return listing(store, "r2_bucket", scopes, lambda scope, each: _bucket(store, scope, each), order="key")


def _bucket(store: Store, scope: str, bucket: Document) -> Document:
    inside = f"{scope}/{bucket['name']}"
    return {
        "key": inside,
        "name": bucket["name"],
        "objects": store.count("r2_object", inside),
        **pick(bucket, "location", "jurisdiction", "storage_class"),
        "domains": [each["domain"] for each in store.select("r2_domain", inside)],
    }


def namespaces(store: Store, account: str) -> Document:
    """KV namespaces; of keys only how many there are."""
    return listing(
        store,
        "kv_namespace",
        [account],
        lambda _, each: {
            "key": each["id"],
            "title": plain(each["title"]),
            "id": each["id"],
            "keys": store.count("kv_key", each["id"]),
        },
    )


def queues(store: Store, account: str) -> Document:
    """Queues with who sends and who receives."""
    return listing(store, "queue", [account], lambda _, each: _queue(store, each))


def _queue(store: Store, queue: Document) -> Document:
    queue_id = queue["queue_id"]
    scripts = [each["script"] for each in store.select("queue_producer", queue_id)]
    consumers = store.select("queue_consumer", queue_id)
    return {
        "key": queue_id,
        "name": queue["queue_name"],
        "producers": scripts + [scope.rpartition("/")[2] for scope in notified_buckets(store, queue_id)],
        "consumers": [each.get("script_name") or each["type"] for each in consumers],
    }


def zones(store: Store, account: str) -> dict[str, str]:
    """Names of the account's zones by id."""
    return {each["id"]: each["name"] for each in store.find("zone", "", "account", account)}


def records(store: Store, names: dict[str, str]) -> Document:
    """DNS records."""
    return listing(
        store,
        "dns_record",
        names,
        lambda zone, each: {
            "key": each["id"],
            "zone": names[zone],
            "name": plain(each["name"]),
            "type": each["type"],
            "content": plain(each.get("content", "")),
            "proxied": bool(each.get("proxied")),
            "ttl": each.get("ttl", 1),
        },
    )


def routes(store: Store, names: dict[str, str]) -> Document:
    """Routes to Workers; one without a Worker keeps Workers away."""
    return listing(
        store,
        "worker_route",
        names,
        lambda _, each: {"key": each["id"], "pattern": plain(each["pattern"]), "worker": each.get("script")},
    )


def domains(store: Store, account: str) -> Document:
    """Custom domains of Workers."""
    return listing(
        store,
        "worker_domain",
        [account],
        lambda _, each: {"key": each["id"], "hostname": each["hostname"], "worker": each["service"]},
    )


def certificates(store: Store, names: dict[str, str], now: datetime) -> Document:
    """Certificate packs; where an order is follows from its age."""
    return listing(
        store,
        "certificate_pack",
        names,
        lambda zone, each: {
            "key": each["id"],
            "zone": names[zone],
            "hosts": each["hosts"],
            "status": status_at(each, now),
            "authority": each["certificate_authority"],
            "ordered": each["ordered_on"],
        },
    )


def access(store: Store, account: str, names: dict[str, str]) -> Document:
    """Access applications of the account and its zones."""
    return listing(
        store,
        "access_app",
        [account, *names],
        lambda _, each: {
            "key": each["id"],
            "name": plain(each.get("name", "")),
            "domain": plain(each.get("domain", "")),
            "type": each["type"],
            "policies": len(each.get("policies", [])),
        },
    )
