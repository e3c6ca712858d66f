"""State and rules of Queues.

A queue's name is unique in its account; it has at most one consumer. Producers are found where they are declared:
event notifications of R2 buckets, and documents of kind `queue_producer` that a Worker's bindings leave in the scope of
the queue's id.
"""

import re

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.schema import without_nulls
from emulator.services.r2.rules import notified_buckets
from emulator.store import Document

from . import errors

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_CONSUMER = ("type", "script_name", "environment_name", "dead_letter_queue")
_SETTINGS = {"delivery_delay": 0, "delivery_paused": False, "message_retention_period": 345600}


def create_queue(call: Call, body: Document) -> Document:
    """Make a queue."""
    _check_name(call, body["queue_name"], "")
    now = call.world.clock.stamp()
    queue: Document = {"queue_id": hex_id(), "queue_name": body["queue_name"], "created_on": now, "modified_on": now}
    if body.get("jurisdiction"):
        queue["jurisdiction"] = body["jurisdiction"]
    queue["settings"] = {**_SETTINGS, **without_nulls(body.get("settings"))}
    return _put(call, queue)


def change_queue(call: Call, body: Document, *, whole: bool) -> Document:
    """Change a queue; with `whole`, settings left out go back to their defaults."""
    queue = get_queue(call)
    name = body.get("queue_name") or queue["queue_name"]
    _check_name(call, name, queue["queue_id"])
    settings = {**(_SETTINGS if whole else queue["settings"]), **without_nulls(body.get("settings"))}
    now = call.world.clock.stamp()
    return _put(call, {**queue, "queue_name": name, "settings": settings, "modified_on": now})


def _check_name(call: Call, name: str, own_id: str) -> None:
    if not _NAME.fullmatch(name):
        raise errors.BAD_NAME()
    if any(other["queue_id"] != own_id for other in call.store.find("queue", call.account_id, "name", name)):
        raise errors.NAME_TAKEN(name=name)


def _put(call: Call, queue: Document) -> Document:
    return call.store.put("queue", call.account_id, queue["queue_id"], queue, labels={"name": queue["queue_name"]})


def get_queue(call: Call) -> Document:
    """The path's queue."""
    queue = call.store.get("queue", call.account_id, call.params["queue_id"])
    if queue is None:
        raise errors.NO_QUEUE()
    return queue


def queues(call: Call) -> list[Document] | None:
    """The queues of the names asked for, of which there may be several; None when all are asked for."""
    names = dict.fromkeys(call.query.every("name"))
    if not names:
        return None
    return [queue for name in names for queue in call.store.find("queue", call.account_id, "name", name)]


def queue_view(call: Call, queue: Document) -> Document:
    """A queue with its producers and consumers."""
    queue_id = queue["queue_id"]
    consumers = [consumer_view(queue, each) for each in call.store.select("queue_consumer", queue_id)]
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
    queue = get_queue(call)
    if notified_buckets(call.store, queue["queue_id"]):
        raise errors.NOTIFIED()
    call.store.delete_scope(queue["queue_id"])
    call.store.delete("queue", call.account_id, queue["queue_id"])


def create_consumer(call: Call, body: Document) -> Document:
    """Give the queue its consumer."""
    queue = get_queue(call)
    if call.store.count("queue_consumer", queue["queue_id"]):
        raise errors.CONSUMER_EXISTS()
    return _put_consumer(call, body, {"consumer_id": hex_id(), "created_on": call.world.clock.stamp()})


def replace_consumer(call: Call, body: Document) -> Document:
    """Set a consumer anew."""
    former = get_consumer(call)
    return _put_consumer(call, body, {name: former[name] for name in ("consumer_id", "created_on")})


def _put_consumer(call: Call, body: Document, identity: Document) -> Document:
    settable = {name: body[name] for name in _CONSUMER if body.get(name) is not None}
    consumer = {**settable, **identity, "settings": without_nulls(body.get("settings"))}
    return call.store.put("queue_consumer", call.params["queue_id"], identity["consumer_id"], consumer)


def consumer_view(queue: Document, consumer: Document) -> Document:
    """A consumer with the name its queue has now; a Worker's also under the names wrangler reads."""
    view = {**consumer, "queue_name": queue["queue_name"]}
    if consumer["type"] != "worker":
        return view
    environment = view.pop("environment_name", "")
    if environment:
        return {**view, "service": consumer["script_name"], "environment": environment}
    return {**view, "script": consumer["script_name"]}


def get_consumer(call: Call) -> Document:
    """The path's consumer."""
    consumer = call.store.get("queue_consumer", get_queue(call)["queue_id"], call.params["consumer_id"])
    if consumer is None:
        raise errors.NO_CONSUMER()
    return consumer


def delete_consumer(call: Call) -> None:
    """Take the consumer away."""
    get_consumer(call)
    call.store.delete("queue_consumer", call.params["queue_id"], call.params["consumer_id"])
