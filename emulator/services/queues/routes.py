"""Operations of Queues."""

from emulator.calls import Call, Result
from emulator.paging import page_of_kind
from emulator.registry import Fidelity, Service
from emulator.schema import anything, either, fields, flag, nullable, number, text

from . import errors, rules

api = Service(
    "queues",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ, WRITE = "Queues Read", "Queues Write"
_QUEUES = "/accounts/{account_id}/queues"
_QUEUE = _QUEUES + "/{queue_id}"
_CONSUMER = _QUEUE + "/consumers/{consumer_id}"

_WHOLE = nullable(number(least=0, most=10**9, whole=True))
_SETTINGS = nullable(
    fields(
        {},
        {
            "delivery_delay": nullable(number(least=0, most=86400, whole=True)),
            "delivery_paused": nullable(flag()),
            "message_retention_period": nullable(number(least=60, most=1209600, whole=True)),
        },
    )
)
_OPTIONAL = {"settings": _SETTINGS, "jurisdiction": nullable(text(choices=["eu", "us", "fedramp"]))}
_CREATE = fields({"queue_name": text()}, _OPTIONAL)
_CHANGE = fields({}, {"queue_name": text(), **_OPTIONAL})
_RETRY = {"batch_size": _WHOLE, "max_retries": _WHOLE, "retry_delay": _WHOLE}
_READ_BACK = dict.fromkeys(("consumer_id", "created_on", "queue_name"), anything())
_CONSUMERS = either(
    fields(
        {"type": text(choices=["http_pull"])},
        {
            **_READ_BACK,
            "dead_letter_queue": nullable(text()),
            "settings": nullable(fields({}, {**_RETRY, "visibility_timeout_ms": _WHOLE})),
        },
    ),
    fields(
        {"type": text(choices=["worker"]), "script_name": text(least=1)},
        {
            **_READ_BACK,
            "dead_letter_queue": nullable(text()),
            "settings": nullable(fields({}, {**_RETRY, "max_concurrency": _WHOLE, "max_wait_time_ms": _WHOLE})),
        },
    ),
)


@api.operation("GET", _QUEUES, needs=READ)
def list_queues(call: Call) -> Result:
    """List queues."""
    listed = page_of_kind(call, "queue", call.account_id, default=100, most=1000)
    listed.result = [rules.queue_view(call, queue) for queue in listed.result]
    return listed


@api.operation("POST", _QUEUES, needs=WRITE, note="takes `settings` too, which the provider sends")
def create_queue(call: Call) -> Result:
    """Create a queue."""
    return Result(rules.queue_view(call, rules.create_queue(call, call.body(_CREATE, errors.INVALID))))


@api.operation("GET", _QUEUE, needs=READ)
def get_queue(call: Call) -> Result:
    """Read a queue."""
    return Result(rules.queue_view(call, rules.get_queue(call)))


@api.operation("PUT", _QUEUE, needs=WRITE)
def replace_queue(call: Call) -> Result:
    """Replace a queue's settings."""
    queue = rules.change_queue(call, call.body(_CHANGE, errors.INVALID), whole=True)
    return Result(rules.queue_view(call, queue))


@api.operation("PATCH", _QUEUE, needs=WRITE)
def edit_queue(call: Call) -> Result:
    """Change some of a queue's settings."""
    queue = rules.change_queue(call, call.body(_CHANGE, errors.INVALID), whole=False)
    return Result(rules.queue_view(call, queue))


@api.operation("DELETE", _QUEUE, needs=WRITE, fidelity=Fidelity.PARTIAL, note="bindings of Workers do not hold it")
def delete_queue(call: Call) -> Result:
    """Delete a queue."""
    rules.delete_queue(call)
    return Result(None)


@api.operation("GET", _QUEUE + "/metrics", needs=READ, fidelity=Fidelity.PARTIAL, note="always empty")
def get_metrics(call: Call) -> Result:
    """Read a queue's backlog."""
    rules.get_queue(call)
    return Result({"backlog_bytes": 0, "backlog_count": 0, "oldest_message_timestamp_ms": 0})


@api.operation("GET", _QUEUE + "/consumers", needs=READ)
def list_consumers(call: Call) -> Result:
    """List consumers."""
    queue = rules.get_queue(call)
    listed = page_of_kind(call, "queue_consumer", queue["queue_id"])
    listed.result = [rules.consumer_view(queue, each) for each in listed.result]
    return listed


@api.operation("POST", _QUEUE + "/consumers", needs=WRITE, fidelity=Fidelity.STORED, note="the script is not looked at")
def create_consumer(call: Call) -> Result:
    """Add a consumer."""
    return Result(
        rules.consumer_view(rules.get_queue(call), rules.create_consumer(call, call.body(_CONSUMERS, errors.INVALID)))
    )


@api.operation("GET", _CONSUMER, needs=READ)
def get_consumer(call: Call) -> Result:
    """Read a consumer."""
    return Result(rules.consumer_view(rules.get_queue(call), rules.get_consumer(call)))


@api.operation("PUT", _CONSUMER, needs=WRITE, fidelity=Fidelity.STORED)
def replace_consumer(call: Call) -> Result:
    """Replace a consumer."""
    return Result(
        rules.consumer_view(rules.get_queue(call), rules.replace_consumer(call, call.body(_CONSUMERS, errors.INVALID)))
    )


@api.operation("DELETE", _CONSUMER, needs=WRITE)
def delete_consumer(call: Call) -> Result:
    """Remove a consumer."""
    rules.delete_consumer(call)
    return Result(None)
