"""Messages over the API: pushed, pulled under a lease, acknowledged, purged."""

import base64
import json
from typing import Any

from emulator.calls import Call
from emulator.store import Document

from . import errors, rules
from .backlog import LARGEST, MESSAGE, Backlog

_LEASE_MS, _BATCH = 30_000, 5


def backlog(call: Call) -> Backlog:
    """The messages of the path's queue."""
    return Backlog(call.state, call.account_id, rules.QUEUES.get(call))


def push_message(call: Call, message: Document) -> Document:
    """Send a message."""
    return push_messages(call, {"messages": [message]})


def push_messages(call: Call, body: Document) -> Document:
    """Send messages."""
    waiting = backlog(call)
    for each in body["messages"]:
        waiting.put(_content(each), each.get("delay_seconds", body.get("delay_seconds")))
    return {"metadata": {"metrics": waiting.metrics()}}


def _content(message: Document) -> Document:
    kind = message.get("content_type") or "json"
    body: Any = message.get("body")
    if kind == "text" and not isinstance(body, str):
        raise errors.INVALID(problem="the body of a text message must be a string")
    encoded = body if kind == "text" else json.dumps(body, separators=(",", ":"))
    if len(encoded.encode()) > LARGEST:
        raise errors.TOO_LARGE()
    return {"body": encoded, "content_type": kind, "source": "api"}


def pull_messages(call: Call, asked: Document | None) -> Document:
    """Lease messages to whoever asks; the queue must have a consumer that pulls."""
    body, waiting, consumers = asked or {}, backlog(call), rules.CONSUMERS.all(call)
    if not consumers or consumers[0]["type"] != "http_pull":
        raise errors.NO_PULL()
    settings = consumers[0]["settings"]
    size = int(body.get("batch_size") or settings.get("batch_size") or _BATCH)
    milliseconds = body.get("visibility_timeout_ms") or settings.get("visibility_timeout_ms") or _LEASE_MS
    pulled = [_view(each) for each in waiting.lease(consumers[0], size, milliseconds / 1000)]
    metrics = waiting.metrics()
    return {"messages": pulled, "message_backlog_count": metrics["backlog_count"], "metadata": {"metrics": metrics}}


def _view(message: Document) -> Document:
    """A message as whoever pulls sees it; what is no text arrives in base64."""
    body = message["body"]
    return {
        "id": message["id"],
        "body": base64.b64encode(body.encode()).decode() if message["content_type"] == "json" else body,
        "attempts": message["attempts"],
        "timestamp_ms": int(message["at"] * 1000),
        "metadata": {"CF-Content-Type": message["content_type"], "CF-sourceMessageSource": message["source"]},
        "lease_id": message["lease"],
    }


def acknowledge_messages(call: Call, body: Document) -> Document:
    """Take away what was done with, and give back what is to be tried again."""
    waiting = backlog(call)
    leases = {each["lease"]: each for each in waiting.alive() if each["lease"]}
    warnings: dict[str, str] = {}
    counts = {"ackCount": 0, "retryCount": 0}
    for name, part in (("ackCount", body.get("acks") or ()), ("retryCount", body.get("retries") or ())):
        for each in part:
            message = leases.get(each["lease_id"])
            if message is None:
                warnings[each["lease_id"]] = "There is no message with this lease."
                continue
            counts[name] += 1
            if name == "ackCount":
                waiting.remove(message)
            else:
                waiting.give_back(message, each.get("delay_seconds") or 0)
    return {**counts, "warnings": warnings}


def get_metrics(call: Call) -> Document:
    """The backlog of the path's queue."""
    return backlog(call).metrics()


def purge_queue(call: Call, body: Document | None) -> Document:
    """Take all messages away, at once."""
    if not (body or {}).get("delete_messages_permanently"):
        raise errors.INVALID(problem="delete_messages_permanently must be true")
    queue = rules.QUEUES.get(call)
    call.store.delete_all(MESSAGE, queue["queue_id"])
    started = call.state.clock.stamp()
    call.store.put("queue_purge", queue["queue_id"], "last", {"started_at": started, "completed": "true"})
    return queue


def get_purge(call: Call) -> Document:
    """When the queue was last purged."""
    found = call.store.get("queue_purge", rules.QUEUES.get(call)["queue_id"], "last")
    return found or {"started_at": "", "completed": ""}
