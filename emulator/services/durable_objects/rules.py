"""State of Durable Object namespaces.

Other services ask here: `namespace_by_id`, `namespace_of` and `container_enabled` are what Containers needs.
An upload's lifecycle is planned by `migrations.py` or `exports.py` and written by `apply`; data that is given up is
recorded, as nothing else would tell that it is gone.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from emulator.calls import Call, Result
from emulator.clock import hex_id
from emulator.paging import page_of_kind, whole_query
from emulator.state import State
from emulator.store import Document, Store, pick

from . import errors
from .containers import Wiring, check_containers
from .exports import check_entries, durable_objects, reconcile
from .migrations import check_shape, migrate
from .model import ALLOWED, Exported, Namespace, Outcome, Pending, Situation, mark_containers

NAMESPACE = "do_namespace"
TRANSFER = "do_transfer"
REFERENCE = "worker_reference"  # written by the Workers service
_LOSSES = "durable_objects.data_loss"
_MOST_LOSSES = 1000
_KEY_VALUE = "durable_objects.key_value"


@dataclass(frozen=True)
class Lifecycle:
    """What an upload says about its Durable Object classes."""

    script: str
    exported: Exported
    bound: frozenset[str] = frozenset()
    migrations: dict[str, Any] | None = None
    exports: dict[str, Any] | None = None  # None: the upload says nothing
    containers: list[dict[str, Any]] | None = None
    tag: str | None = None
    declared: bool = False  # the script has been deployed with `exports` before


def namespace_by_id(store: Store, account: str, namespace_id: str) -> Document | None:
    """A namespace of the account: id, name, script, class, use_sqlite, container."""
    return store.get(NAMESPACE, account, namespace_id)


def namespace_of(store: Store, account: str, script: str, class_name: str) -> Document | None:
    """The namespace of a class of a script."""
    found = store.find(NAMESPACE, account, "class", f"{script}/{class_name}")
    return found[0] if found else None


def namespaces_of(store: Store, account: str, script: str) -> list[Document]:
    """All namespaces of a script."""
    return store.find(NAMESPACE, account, "script", script)


def container_enabled(namespace: Document) -> bool:
    """Whether the live version of the Worker names the class in its `containers`."""
    return bool(namespace["container"])


def users_of(store: Store, account: str, namespace: Document) -> list[str]:
    """Other scripts whose live version is bound to a namespace."""
    found = store.find(REFERENCE, account, "namespace", namespace["id"])
    return sorted({each["source"] for each in found} - {namespace["script"]})


def check(migrations: dict[str, Any] | None, exports: dict[str, Any] | None) -> None:
    """Refuse what is malformed whatever the state is."""
    if migrations:
        check_shape(migrations)
    check_entries(exports or {})


def plan(store: Store, account: str, lifecycle: Lifecycle) -> tuple[Situation, Outcome]:
    """Work out what a well-formed upload does to the namespaces; nothing is written."""
    situation = _situation(store, account, lifecycle)
    wiring = Wiring.of(lifecycle.containers, lifecycle.exports)
    declares = bool(durable_objects(lifecycle.exports or {}))
    if lifecycle.migrations and declares:
        raise errors.BOTH_FLOWS()
    if lifecycle.migrations and lifecycle.declared:
        raise errors.ONE_WAY()
    if declares or (lifecycle.declared and lifecycle.exports is not None):
        planned = reconcile(situation, lifecycle.exports or {}, wiring)
    elif lifecycle.migrations:
        planned = migrate(situation, lifecycle.migrations)
    else:
        planned = Outcome(situation.namespaces, (), situation.tag, situation.pending)
    check_exported(planned, situation)
    check_containers(planned, lifecycle.script, wiring.classes(), declared=planned.reconciliation is not None)
    marked = mark_containers(planned.namespaces, lifecycle.script, wiring.classes())
    return situation, Outcome(marked, planned.lost, planned.tag, planned.pending, planned.reconciliation)


def check_exported(planned: Outcome, situation: Situation) -> None:
    """Every class that keeps its objects must be in the code."""
    for name in planned.own(situation.script):
        if situation.exported.lacks(name):
            raise errors.NOT_EXPORTED(name=name)


def _situation(store: Store, account: str, lifecycle: Lifecycle) -> Situation:
    named = _scripts_named(lifecycle)
    pending = tuple(Pending(each["target"], each["class"], each["source"]) for each in store.select(TRANSFER, account))
    documents = [each for script in sorted(named) for each in namespaces_of(store, account, script)]
    return Situation(
        script=lifecycle.script,
        namespaces=tuple(_value(each) for each in documents),
        exported=lifecycle.exported,
        bound=lifecycle.bound,
        users={each["id"]: tuple(users_of(store, account, each)) for each in documents},
        scripts=frozenset(script for script in named if store.has("worker", account, script)) | {lifecycle.script},
        pending=pending,
        tag=lifecycle.tag,
        key_value=key_value(store, account),
    )


def _scripts_named(lifecycle: Lifecycle) -> set[str]:
    """The script, and those its migrations or exports speak of."""
    named = {lifecycle.script}
    migrations = lifecycle.migrations or {}
    for step in (migrations, *(migrations.get("steps") or ())):
        named |= {item["from_script"] for item in step.get("transferred_classes") or ()}
    for entry in durable_objects(lifecycle.exports or {}).values():
        named |= {entry[key] for key in ("transfer_from", "transferred_to") if key in entry}
    return named


def _value(document: Document) -> Namespace:
    return Namespace(
        script=document["script"],
        class_name=document["class"],
        sqlite=document["use_sqlite"],
        id=document["id"],
        container=document["container"],
        received_from=document["received_from"],
    )


def apply(state: State, account: str, before: Situation, planned: Outcome, cause: str) -> None:
    """Write an outcome."""
    store = state.store
    known = {each.id: each for each in before.namespaces}
    for namespace in planned.namespaces:
        if known.get(namespace.id) != namespace:
            _put(state, account, namespace)
    for namespace in planned.lost:
        store.delete(NAMESPACE, account, namespace.id)
        _record_loss(state, account, namespace, cause)
    if planned.pending != before.pending:
        store.delete_all(TRANSFER, account)
        for each in planned.pending:
            body = {"target": each.target, "class": each.class_name, "source": each.source}
            store.put(TRANSFER, account, f"{each.target}/{each.class_name}", body)


def mark(state: State, account: str, lifecycle: Lifecycle) -> None:
    """Container-enable the classes a version names, and no other of its script: a version may come back."""
    classes = Wiring.of(lifecycle.containers, lifecycle.exports).classes()
    for document in namespaces_of(state.store, account, lifecycle.script):
        if document["container"] != (document["class"] in classes):
            _put(state, account, replace(_value(document), container=document["class"] in classes))


def _put(state: State, account: str, namespace: Namespace) -> None:
    former = state.store.get(NAMESPACE, account, namespace.id) if namespace.id else None
    document: Document = {
        "id": namespace.id or hex_id(),
        "name": f"{namespace.script}_{namespace.class_name}",
        "script": namespace.script,
        "class": namespace.class_name,
        "use_sqlite": namespace.sqlite,
        "container": namespace.container,
        "received_from": namespace.received_from,
        "created_on": former["created_on"] if former else state.clock.stamp(),
    }
    labels = {"script": namespace.script, "class": f"{namespace.script}/{namespace.class_name}"}
    state.store.put(NAMESPACE, account, document["id"], document, labels=labels)


def rename_script(state: State, account: str, old: str, new: str) -> None:
    """Follow a Worker that changes its name."""
    for document in namespaces_of(state.store, account, old):
        _put(state, account, replace(_value(document), script=new))


def delete_script(state: State, account: str, script: str) -> None:
    """Delete a script's namespaces with all their objects, and the transfers it expects."""
    store = state.store
    for document in namespaces_of(store, account, script):
        store.delete(NAMESPACE, account, document["id"])
        _record_loss(state, account, _value(document), "script deleted")
    for each in store.select(TRANSFER, account):
        if each["target"] == script:
            store.delete(TRANSFER, account, f"{script}/{each['class']}")


def _record_loss(state: State, account: str, namespace: Namespace, cause: str) -> None:
    """Remember that objects were given up. Kept beside the documents: an account can be empty and still have losses."""
    loss = {
        "time": state.clock.stamp(),
        "account_id": account,
        "script": namespace.script,
        "class": namespace.class_name,
        "namespace_id": namespace.id,
        "cause": cause,
    }
    state.store.set_setting(_LOSSES, json.dumps([*data_losses(state.store), loss][-_MOST_LOSSES:]))


def read_data_loss(call: Call) -> list[Document]:
    """Tell which namespaces were deleted with their objects, when and why."""
    return data_losses(call.store)


def data_losses(store: Store) -> list[Document]:
    """The last thousand losses, oldest first."""
    found: list[Document] = json.loads(store.setting(_LOSSES) or "[]")
    return found


def key_value(store: Store, account: str) -> str:
    """Whether the account may create namespaces on key-value storage."""
    return store.setting(f"{_KEY_VALUE}.{account}") or ALLOWED


def set_key_value(call: Call, body: Document) -> Document:
    """Say whether an account may create namespaces on key-value storage."""
    call.store.set_setting(f"{_KEY_VALUE}.{call.params['account_id']}", body["value"])
    return body


def list_namespaces(call: Call) -> Result:
    """List namespaces."""
    return page_of_kind(call, NAMESPACE, call.account_id, default=20, most=1000)


def get_namespace(call: Call) -> Document:
    """The path's namespace."""
    namespace = namespace_by_id(call.store, call.account_id, call.params["namespace_id"])
    if namespace is None:
        raise errors.NO_NAMESPACE()
    return namespace


def list_objects(call: Call) -> Result:
    """List the objects of a namespace."""
    get_namespace(call)
    size = whole_query(call, "limit", 1000, 1, 10000)
    call.query.has_no_effect("cursor")  # an empty list has one page
    return Result([], {"count": 0, "per_page": size, "cursors": {"after": ""}, "cursor": ""})


def view(_call: Call, namespace: Document) -> Document:
    """A namespace as the API shows it."""
    return pick(namespace, "id", "name", "script", "class", "use_sqlite")
