"""Who is bound to whom, by the bindings of live versions.

Kept as documents with labels for what they point to, so that neither a deletion nor a namespace's users need a search
through all Workers. Queues learn their producers the same way.
"""

from collections.abc import Iterable

from emulator.store import Document, Store

REFERENCE = "worker_reference"
_PRODUCER = "queue_producer"
_CONSUMER = "queue_consumer"


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
        if "queue" in labels and store.has("queue", account, labels["queue"]):
            store.put(_PRODUCER, labels["queue"], script, {"type": "worker", "script": script})


def _labels(binding: Document) -> dict[str, str]:
    kind = binding["type"]
    if kind == "service":
        return {"service": binding["service"]}
    if kind == "durable_object_namespace" and binding.get("namespace_id"):
        return {"namespace": binding["namespace_id"]}
    if kind == "queue" and binding.get("queue_id"):
        return {"queue": binding["queue_id"]}
    return {}


def forget(store: Store, account: str, script: str) -> None:
    """Remove what a script points to."""
    for each in store.find(REFERENCE, account, "source", script):
        store.delete(REFERENCE, account, f"{script}/{each['binding']}")
        if "queue" in each:
            store.delete(_PRODUCER, each["queue"], script)


def services(store: Store, account: str, script: str) -> list[Document]:
    """Service bindings whose target is a script."""
    return store.find(REFERENCE, account, "service", script)


def consumers(store: Store, account: str, script: str) -> list[tuple[Document, Document]]:
    """The account's queues that a script consumes, each with the consumer."""
    return [
        (queue, each)
        for queue_id in store.scopes(_CONSUMER)
        if (queue := store.get("queue", account, queue_id)) is not None
        for each in store.select(_CONSUMER, queue_id)
        if each.get("script_name") == script
    ]


def rename_consumer(store: Store, account: str, old: str, name: str) -> None:
    """Let queues be consumed by a script under its new name."""
    for queue, each in consumers(store, account, old):
        store.put(_CONSUMER, queue["queue_id"], each["consumer_id"], {**each, "script_name": name})


def tail_producers(store: Store, account: str, script: str) -> list[str]:
    """Scripts that send their logs to this one."""
    return [
        worker["name"]
        for worker in store.select("worker", account)
        if any(each["service"] == script for each in worker["tail_consumers"] or ())
    ]
