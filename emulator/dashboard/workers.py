"""Workers with versions and bindings, and their Durable Object classes. No value of a binding is ever read."""

from emulator.services.containers.rules import KIND as APPLICATION
from emulator.services.durable_objects.rules import NAMESPACE
from emulator.services.workers.rules import DEPLOYMENT, VERSION, WORKER, live_version
from emulator.store import Document, Store

from .listing import listing

# Of a binding only its name and type are shown, and for these types the name of what it leads to.
_TARGETS = {"r2_bucket": "bucket_name", "service": "service"}


def workers(store: Store, account: str) -> Document:
    """The account's Workers by name."""
    return listing(store, WORKER, [account], lambda _, each: _worker(store, account, each), order="key")


def _worker(store: Store, account: str, worker: Document) -> Document:
    scope = f"{account}/{worker['id']}"
    live = live_version(store, account, worker)
    deployment = store.get(DEPLOYMENT, scope, worker["live"]["deployment_id"]) if worker["live"] else None
    bindings = [_binding(store, account, each) for each in live["bindings"]] if live else []
    return {
        "key": worker["id"],
        "name": worker["name"],
        "latest": worker["last_number"],
        "versions": store.count(VERSION, scope),
        "traffic": [_share(store, scope, each) for each in deployment["versions"]] if deployment else [],
        "compatibility_date": live.get("compatibility_date") if live else None,
        "migration_tag": worker["migration_tag"],
        "deployed": worker["deployed_on"],
        "bindings": sorted(bindings, key=lambda binding: str(binding["name"])),
    }


def _share(store: Store, scope: str, share: Document) -> Document:
    version = store.get(VERSION, scope, share["version_id"])
    return {"version": version["number"] if version else None, "percentage": share["percentage"]}


def _binding(store: Store, account: str, binding: Document) -> Document:
    return {"name": binding["name"], "type": binding["type"], "target": _target(store, account, binding)}


def _target(store: Store, account: str, binding: Document) -> str | None:
    kind = binding["type"]
    if kind == "durable_object_namespace":
        name, script = binding.get("class_name"), binding.get("script_name")
        return f"{script}/{name}" if script else name
    if kind == "kv_namespace":
        namespace = store.get("kv_namespace", account, binding["namespace_id"])
        return namespace["title"] if namespace else None
    if kind == "queue":
        queue = store.get("queue", account, binding["queue_id"]) if "queue_id" in binding else None
        return str(queue["queue_name"] if queue else binding["queue_name"])
    return binding[_TARGETS[kind]] if kind in _TARGETS else None


def classes(store: Store, account: str) -> Document:
    """Durable Object classes with their namespaces and, of containers, the application."""
    return listing(store, NAMESPACE, [account], lambda _, each: _class(store, account, each))


def _class(store: Store, account: str, namespace: Document) -> Document:
    applications = store.find(APPLICATION, account, "namespace", namespace["id"])
    return {
        "key": namespace["id"],
        "class": namespace["class"],
        "worker": namespace["script"],
        "namespace": namespace["id"],
        "storage": "SQLite" if namespace["use_sqlite"] else "key-value",
        "container": namespace["container"],
        "application": applications[0]["name"] if applications else None,
    }
