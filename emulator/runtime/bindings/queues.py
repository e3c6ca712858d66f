"""Queue bindings: what a Worker sends, put where the API puts messages."""

import base64
from binascii import Error as NoBase64Error

from emulator.calls import Call, Raw, dump, parse_json
from emulator.errors import ApiError
from emulator.schema import fields, items, nullable, number, problems, text
from emulator.services.queues import errors, rules
from emulator.services.queues.backlog import LARGEST, Backlog
from emulator.store import Document

_KINDS = ["text", "json", "bytes", "v8"]
_DELAY = nullable(number(least=0, most=86400, whole=True))
_MESSAGE = fields({"body": text()}, {"contentType": nullable(text(choices=_KINDS)), "delaySecs": _DELAY})
_BATCH = fields({"messages": items(_MESSAGE, least=1, most=100)})


def answer(call: Call, queue_id: str, own_delay: str, content: bytes) -> Raw:
    """One call of a binding: a message, a batch, or how much waits."""
    call.params["queue_id"] = queue_id
    try:
        backlog = Backlog(call.state, call.account_id, rules.QUEUES.get(call))
        if call.method == "GET":
            return Raw(dump(_metrics(backlog)))
        delay = _delay(call.headers.get("x-msg-delay-secs") or own_delay)
        given = _batch(content) if call.raw_path == "/batch" else [_single(call, content)]
        with call.store.transaction():
            for message, its_delay in given:
                backlog.put(message, delay if its_delay is None else its_delay)
        call.state.runtime.notice()
        return Raw(dump({"metadata": {"metrics": _metrics(backlog)}}))
    except ApiError as error:
        return Raw(error.errors[0]["message"].encode(), "text/plain", error.status)


def _delay(given: str) -> float | None:
    if not given:
        return None
    if not given.isdecimal() or int(given) > 86400:
        raise errors.INVALID(problem="a delay must be 0 to 86400 seconds")
    return float(given)


def _single(call: Call, content: bytes) -> tuple[Document, None]:
    kind = call.headers.get("x-msg-fmt") or "v8"
    if kind not in _KINDS:
        raise errors.INVALID(problem=f"the content type {kind} is not one of {', '.join(_KINDS)}")
    return _message(kind, content), None


def _batch(content: bytes) -> list[tuple[Document, float | None]]:
    body = parse_json(content)
    if found := problems(_BATCH, body):
        raise errors.INVALID(problem=found[0])
    try:
        return [
            (_message(each.get("contentType") or "v8", base64.b64decode(each["body"])), each.get("delaySecs"))
            for each in body["messages"]
        ]
    except NoBase64Error as error:
        raise errors.INVALID(problem="the body of a message is no base64") from error


def _message(kind: str, content: bytes) -> Document:
    if len(content) > LARGEST:
        raise errors.TOO_LARGE()
    readable = kind in ("text", "json")
    body = content.decode(errors="replace") if readable else base64.b64encode(content).decode()
    return {"body": body, "content_type": kind, "source": "worker"}


def _metrics(backlog: Backlog) -> Document:
    found = backlog.metrics()
    return {
        "backlogCount": found["backlog_count"],
        "backlogBytes": found["backlog_bytes"],
        "oldestMessageTimestamp": found["oldest_message_timestamp_ms"],
    }
