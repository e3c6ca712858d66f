"""Who is bound to whom, by the bindings of live versions.

Kept as documents with labels for what they point to, so that neither a deletion nor a namespace's users need a search
through all Workers. Queues learn their producers the same way.
"""

from collections.abc import Iterable

from emulator.store import Document, Store

REFERENCE = "worker_reference"
_PRODUCER = "queue_producer"


def remember(store: Store, account: str, script: str, bindings: Iterable[Document]) -> None:
    """Replace what a script's live version points to."""
    forget(store, account, script)
    for binding in bindings:
        labels = _labels(binding)
        if not labels:
            continue
        body = {"source": script, "binding": binding["name"], "type": binding["type"], **labels}
        key = f"{script}/{binding['name']}"
        store.put(REFERENCE, account, key, body, labels={**labels, "source": script})
        for queue in store.find("queue", account, "name", labels["queue"]) if "queue" in labels else ():
            store.put(_PRODUCER, queue["queue_id"], script, {"type": "worker", "script": script})


def _labels(binding: Document) -> dict[str, str]:
    kind = binding["type"]
    if kind == "service":
        return {"service": binding["service"]}
    if kind == "durable_object_namespace" and binding.get("namespace_id"):
        return {"namespace": binding["namespace_id"]}
    if kind == "queue":
        return {"queue": binding["queue_name"]}
    return {}


def forget(store: Store, account: str, script: str) -> None:
    """Remove what a script points to."""
    for each in store.find(REFERENCE, account, "source", script):
        store.delete(REFERENCE, account, f"{script}/{each['binding']}")
        for queue in store.find("queue", account, "name", each["queue"]) if "queue" in each else ():
            store.delete(_PRODUCER, queue["queue_id"], script)


def services(store: Store, account: str, script: str) -> list[Document]:
    """Service bindings whose target is a script."""
    return store.find(REFERENCE, account, "service", script)


def consumers(store: Store, account: str, script: str) -> list[Document]:
    """Consumers of the account's queues that are this script, each with its queue's id."""
    return [
        {**each, "queue_id": queue_id}
        for queue_id in store.scopes("queue_consumer")
        if store.has("queue", account, queue_id)
        for each in store.select("queue_consumer", queue_id)
        if each.get("script_name") == script
    ]


def tail_producers(store: Store, account: str, script: str) -> list[str]:
    """Scripts that send their logs to this one."""
    return [
        worker["name"]
        for worker in store.select("worker", account)
        if any(each["service"] == script for each in worker["tail_consumers"] or ())
    ]
