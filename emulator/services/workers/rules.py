"""State of Workers: one document per Worker, one per version, one per deployment.

A Worker's document holds what does not belong to a version (tags, observability, triggers) and a digest of the live
version, so that lists need nothing else. Versions and deployments lie in the scope of the Worker's id, which survives a
change of name. Beside this service, the runtime reads `live_version`.
"""

import re

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.services.durable_objects import rules as durable_objects
from emulator.state import State
from emulator.store import Document, Store

from . import assets, errors, references

WORKER = "worker"
VERSION = "worker_version"
DEPLOYMENT = "worker_deployment"
TAIL = "worker_tail"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,254}")
_SOURCES = (("wrangler", "wrangler"), ("terraform", "terraform"))


def find(store: Store, account: str, name: str) -> Document | None:
    """A Worker by its name."""
    return store.get(WORKER, account, name)


def get(call: Call) -> Document:
    """The path's Worker."""
    worker = find(call.store, call.account_id, call.params["script_name"])
    if worker is None:
        raise errors.NO_SCRIPT()
    return worker


def get_script(call: Call) -> Document:
    """The path's Worker, which must have a live version."""
    worker = get(call)
    if worker["live"] is None:
        raise errors.NO_SCRIPT()
    return worker


def create(call: Call, name: str) -> Document:
    """A new Worker, not yet stored."""
    if not _NAME.fullmatch(name):
        raise errors.BAD_NAME(name=name)
    now = call.state.clock.stamp()
    return {
        "id": hex_id(),
        "name": name,
        "created_on": now,
        "modified_on": now,
        "deployed_on": None,
        "tags": [],
        "logpush": False,
        "observability": None,
        "tail_consumers": None,
        "subdomain": {"enabled": False, "previews_enabled": False},
        "schedules": [],
        "previews_base_config": None,
        "migration_tag": None,
        "declared": False,  # its Durable Object classes come from `exports`
        "last_number": 0,
        "lifecycle_number": 0,  # the version that last changed Durable Object classes
        "latest": None,
        "live": None,
    }


def put(call: Call, worker: Document, *, touch: bool = True) -> Document:
    """Write a Worker."""
    if touch:
        worker["modified_on"] = call.state.clock.stamp()
    return call.store.put(WORKER, call.account_id, worker["name"], worker, labels={"id": worker["id"]})


def scope(call: Call, worker: Document) -> str:
    """Where a Worker's versions and deployments are."""
    return f"{call.account_id}/{worker['id']}"


def version(call: Call, worker: Document, version_id: str | None) -> Document | None:
    """A version of a Worker."""
    return call.store.get(VERSION, scope(call, worker), version_id) if version_id else None


def latest_version(call: Call, worker: Document) -> Document | None:
    """The version uploaded last, live or not."""
    return version(call, worker, worker["latest"])


def live_version(store: Store, account: str, worker: Document) -> Document | None:
    """The version that serves (of a split, the larger part): modules by hash, bindings with sealed secrets."""
    live = worker["live"]
    return store.get(VERSION, f"{account}/{worker['id']}", live["version_id"]) if live else None


def serving(call: Call) -> tuple[Document, Document]:
    """The path's Worker and its live version."""
    worker = get_script(call)
    live = live_version(call.store, call.account_id, worker)
    if live is None:
        raise errors.NO_SCRIPT()
    return worker, live


def rename(call: Call, worker: Document, name: str) -> None:
    """Rename a Worker; what it has goes with it."""
    if not _NAME.fullmatch(name):
        raise errors.BAD_NAME(name=name)
    if find(call.store, call.account_id, name):
        raise errors.NAME_TAKEN(name=name)
    old = worker["name"]
    call.store.delete(WORKER, call.account_id, old)
    references.forget(call.store, call.account_id, old)
    worker["name"] = name
    durable_objects.rename_script(call.state, call.account_id, old, name)
    assets.rename(call.store, call.account_id, old, name)
    references.rename_consumer(call.store, call.account_id, old, name)
    for kind, place, label, document in _attached(call.store, call.account_id, old):
        labels: dict[str, str] = {
            each: document[each] for each in ("pattern", "hostname", "zone_id") if each in document
        }
        call.store.put(kind, place, document["id"], {**document, label: name}, labels={**labels, label: name})
    put(call, worker)
    live = live_version(call.store, call.account_id, worker)
    if live:
        references.remember(call.store, call.account_id, name, live["bindings"])


def delete(call: Call, worker: Document, *, force: bool) -> None:
    """Remove a Worker with its versions, Durable Objects, routes and domains, unless others need it."""
    store, account, name = call.store, call.account_id, worker["name"]
    if not force:
        _check_unused(store, account, name)
    for kind in (VERSION, DEPLOYMENT, TAIL):
        store.delete_all(kind, scope(call, worker))
    assets.forget(store, account, name)
    store.delete(WORKER, account, name)
    references.forget(store, account, name)
    durable_objects.delete_script(call.state, account, name)
    for kind, place, _, document in _attached(store, account, name):
        store.delete(kind, place, document["id"])


def _attached(store: Store, account: str, name: str) -> list[tuple[str, str, str, Document]]:
    """Routes and custom domains of a Worker: kind, scope, the field that names the Worker, document."""
    routes = [
        ("worker_route", zone["id"], "script", route)
        for _, zone in store.find_anywhere("zone", "account", account)
        for route in store.find("worker_route", zone["id"], "script", name)
    ]
    domains = store.find("worker_domain", account, "service", name)
    return routes + [("worker_domain", account, "service", domain) for domain in domains]


def _check_unused(store: Store, account: str, name: str) -> None:
    callers = sorted({each["source"] for each in references.services(store, account, name)} - {name})
    if callers:
        raise errors.STILL_CALLED(scripts=", ".join(callers))
    namespaces = durable_objects.namespaces_of(store, account, name)
    users = sorted({user for each in namespaces for user in durable_objects.users_of(store, account, each)})
    if users:
        raise errors.STILL_USED(scripts=", ".join(users))
    queues = [queue["queue_name"] for queue, _ in references.consumers(store, account, name)]
    if queues:
        raise errors.STILL_CONSUMING(queues=", ".join(queues))


def sweep(state: State) -> set[str]:
    """Remove what expired; the blobs that modules and assets still need."""
    store = state.store
    blobs: set[str] = set()
    used: set[tuple[str, str]] = set()
    for place, _, version in store.everywhere(VERSION):
        blobs.update(module["sha256"] for module in version["modules"])
        files = version["assets"]["files"] if version["assets"] else {}
        used |= {(place.partition("/")[0], entry["hash"]) for entry in files.values()}
    now = state.clock.stamp()
    for place, key, tail in store.everywhere(TAIL):
        if tail["expires_at"] <= now:
            store.delete(TAIL, place, key)
    return blobs | assets.sweep(store, used, state.clock.time())


def source(call: Call) -> str:
    """Which client is calling, as versions and deployments record it."""
    agent = call.headers.get("user-agent", "").lower()
    return next((name for word, name in _SOURCES if word in agent), "api")
