"""State and rules of Queues.

A queue's name is unique in its account; it has at most one consumer. Producers are found where they are declared:
event notifications of R2 buckets, and documents of kind `queue_producer` that a Worker's bindings leave in the scope of
the queue's id.
"""

import re

from emulator.calls import Call, Result
from emulator.clock import hex_id
from emulator.collection import Collection
from emulator.paging import page_of, page_of_kind
from emulator.schema import without_nulls
from emulator.services.r2.rules import notified_buckets
from emulator.store import Document, pick

from . import bodies, errors

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_CONSUMER = ("type", "script_name", "environment_name", "dead_letter_queue")
QUEUES = Collection("queue", "queue_id", errors.NO_QUEUE, key="queue_id", labels={"name": "queue_name"})
CONSUMERS = Collection(
    "queue_consumer",
    "consumer_id",
    errors.NO_CONSUMER,
    key="consumer_id",
    scope=lambda call: str(QUEUES.get(call)["queue_id"]),
)
_SETTINGS = {"delivery_delay": 0, "delivery_paused": False, "message_retention_period": 345600}


def create_queue(call: Call, body: Document) -> Document:
    """Make a queue."""
    _check_name(call, body["queue_name"])
    now = call.state.clock.stamp()
    queue: Document = {"queue_id": hex_id(), "queue_name": body["queue_name"], "created_on": now, "modified_on": now}
    if body.get("jurisdiction"):
        queue["jurisdiction"] = body["jurisdiction"]
    queue["settings"] = {**_SETTINGS, **without_nulls(body.get("settings"))}
    return QUEUES.put(call, queue)


def replace_queue(call: Call, body: Document) -> Document:
    """Replace a queue's settings: those left out go back to their defaults."""
    return _change(call, body, _SETTINGS)


def edit_queue(call: Call, body: Document) -> Document:
    """Change some of a queue's settings."""
    return _change(call, body, QUEUES.get(call)["settings"])


def _change(call: Call, body: Document, base: Document) -> Document:
    queue = QUEUES.get(call)
    name = body.get("queue_name") or queue["queue_name"]
    _check_name(call, name, queue["queue_id"])
    settings = {**base, **without_nulls(body.get("settings"))}
    now = call.state.clock.stamp()
    return QUEUES.put(call, {**queue, "queue_name": name, "settings": settings, "modified_on": now})


def _check_name(call: Call, name: str, own_id: str = "") -> None:
    if not _NAME.fullmatch(name):
        raise errors.BAD_NAME()
    if QUEUES.is_taken(call, "name", name, own_id):
        raise errors.NAME_TAKEN(name=name)


def list_queues(call: Call) -> Result:
    """List queues, or those of the names asked for, of which there may be several."""
    names = dict.fromkeys(call.query.every("name"))
    if not names:
        return page_of_kind(call, QUEUES.kind, call.account_id, default=100, most=1000)
    return page_of(call, [each for name in names for each in QUEUES.find(call, "name", name)], default=100, most=1000)


def queue_view(call: Call, queue: Document) -> Document:
    """A queue with its producers and consumers."""
    queue_id = queue["queue_id"]
    consumers = [_named(queue, each) for each in call.store.select(CONSUMERS.kind, queue_id)]
    producers = call.store.select("queue_producer", queue_id)
    for scope in notified_buckets(call.store, queue_id):
        producers.append({"type": "r2_bucket", "bucket_name": scope.rpartition("/")[2]})
    return {
        **queue,
        "producers": producers,
        "producers_total_count": len(producers),
        "consumers": consumers,
        "consumers_total_count": len(consumers),
    }


def delete_queue(call: Call) -> None:
    """Remove a queue that no bucket sends events to."""
    queue = QUEUES.get(call)
    if notified_buckets(call.store, queue["queue_id"]):
        raise errors.NOTIFIED()
    call.store.delete_scope(queue["queue_id"])
    call.store.delete(QUEUES.kind, call.account_id, queue["queue_id"])


def list_consumers(call: Call) -> Result:
    """List consumers."""
    return page_of_kind(call, CONSUMERS.kind, CONSUMERS.scope(call))


def create_consumer(call: Call) -> Document:
    """Add the queue's consumer."""
    body = _consumer_body(call)
    if CONSUMERS.all(call):
        raise errors.CONSUMER_EXISTS()
    return _put_consumer(call, body, {"consumer_id": hex_id(), "created_on": call.state.clock.stamp()})


def replace_consumer(call: Call) -> Document:
    """Set a consumer anew."""
    body = _consumer_body(call)
    return _put_consumer(call, body, pick(CONSUMERS.get(call), "consumer_id", "created_on"))


def _consumer_body(call: Call) -> Document:
    """A consumer as it was sent; that the queue is missing is told before anything about the body."""
    QUEUES.get(call)
    body: Document = call.body(bodies.NEW_CONSUMER, errors.INVALID)
    return body


def _put_consumer(call: Call, body: Document, identity: Document) -> Document:
    settable = {name: body[name] for name in _CONSUMER if body.get(name) is not None}
    consumer = {**settable, **identity, "settings": without_nulls(body.get("settings"))}
    return CONSUMERS.put(call, consumer)


def consumer_view(call: Call, consumer: Document) -> Document:
    """A consumer with the name its queue has now; a Worker's also under the names wrangler reads."""
    return _named(QUEUES.get(call), consumer)


def _named(queue: Document, consumer: Document) -> Document:
    view = {**consumer, "queue_name": queue["queue_name"]}
    if consumer["type"] != "worker":
        return view
    environment = view.pop("environment_name", "")
    if environment:
        return {**view, "service": consumer["script_name"], "environment": environment}
    return {**view, "script": consumer["script_name"]}


def delete_consumer(call: Call) -> None:
    """Take the consumer away."""
    CONSUMERS.delete(call)
