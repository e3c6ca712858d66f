"""Operations of Queues."""

from emulator.calls import Call, Result
from emulator.paging import page_of, page_of_kind
from emulator.registry import Fidelity, Service
from emulator.schema import anything, either, fields, flag, items, nullable, number, text

from . import errors, messages, rules

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
            "environment_name": nullable(text()),
            **dict.fromkeys(("script", "service", "environment"), anything()),
            "dead_letter_queue": nullable(text()),
            "settings": nullable(fields({}, {**_RETRY, "max_concurrency": _WHOLE, "max_wait_time_ms": _WHOLE})),
        },
    ),
)
_DELIVERED = "waits for whoever pulls, or goes to the Worker that consumes the queue, one batch at a time"
_CONSUMED = (
    "the script need not be there yet; `max_concurrency` has no effect; "
    "what goes to a dead-letter queue that is not there is lost"
)
_DELAY = nullable(number(least=0, most=86400))
_MESSAGE = fields(
    {"body": anything()}, {"content_type": nullable(text(choices=["text", "json"])), "delay_seconds": _DELAY}
)
_MESSAGES = fields({"messages": items(_MESSAGE, least=1, most=100)}, {"delay_seconds": _DELAY})
_PULL = nullable(
    fields(
        {},
        {
            "batch_size": nullable(number(least=1, most=100, whole=True)),
            "visibility_timeout_ms": nullable(number(least=0, most=43_200_000)),
        },
    )
)
_LEASE = {"lease_id": text(least=1)}
_ACKS = fields(
    {}, {"acks": nullable(items(fields(_LEASE))), "retries": nullable(items(fields(_LEASE, {"delay_seconds": _DELAY})))}
)
_PURGE = nullable(fields({}, {"delete_messages_permanently": nullable(flag())}))


@api.operation("GET", _QUEUES, needs=READ, note="filter name, which may be repeated")
def list_queues(call: Call) -> Result:
    """List queues."""
    found = rules.queues(call)
    if found is None:
        listed = page_of_kind(call, "queue", call.account_id, default=100, most=1000)
    else:
        listed = page_of(call, found, default=100, most=1000)
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


@api.operation("GET", _QUEUE + "/metrics", needs=READ)
def get_metrics(call: Call) -> Result:
    """Read a queue's backlog."""
    return Result(messages.metrics(call))


@api.operation("POST", _QUEUE + "/messages", needs=WRITE, note=_DELIVERED)
def push_message(call: Call) -> Result:
    """Send a message."""
    messages.push(call, [call.body(_MESSAGE, errors.INVALID)], None)
    return Result({"metadata": {"metrics": messages.metrics(call)}})


@api.operation("POST", _QUEUE + "/messages/batch", needs=WRITE, note=_DELIVERED, name="push_messages")
def push_messages(call: Call) -> Result:
    """Send messages."""
    body = call.body(_MESSAGES, errors.INVALID)
    messages.push(call, body["messages"], body.get("delay_seconds"))
    return Result({"metadata": {"metrics": messages.metrics(call)}})


@api.operation("POST", _QUEUE + "/messages/pull", needs=WRITE)
def pull_messages(call: Call) -> Result:
    """Lease messages."""
    pulled = messages.pull(call, call.body(_PULL, errors.INVALID) or {})
    metrics = messages.metrics(call)
    count = metrics["backlog_count"]
    return Result({"messages": pulled, "message_backlog_count": count, "metadata": {"metrics": metrics}})


@api.operation("POST", _QUEUE + "/messages/ack", needs=WRITE)
def acknowledge_messages(call: Call) -> Result:
    """Say what became of leased messages."""
    return Result(messages.acknowledge(call, call.body(_ACKS, errors.INVALID)))


@api.operation("POST", _QUEUE + "/purge", needs=WRITE, note="done at once")
def purge_queue(call: Call) -> Result:
    """Delete all messages."""
    if not (call.body(_PURGE, errors.INVALID) or {}).get("delete_messages_permanently"):
        raise errors.INVALID(problem="delete_messages_permanently must be true")
    return Result(messages.purge(call))


@api.operation("GET", _QUEUE + "/purge", needs=READ)
def get_purge(call: Call) -> Result:
    """Read about the last purge."""
    return Result(messages.last_purge(call))


@api.operation("GET", _QUEUE + "/consumers", needs=READ)
def list_consumers(call: Call) -> Result:
    """List consumers."""
    queue = rules.get_queue(call)
    listed = page_of_kind(call, "queue_consumer", queue["queue_id"])
    listed.result = [rules.consumer_view(queue, each) for each in listed.result]
    return listed


@api.operation("POST", _QUEUE + "/consumers", needs=WRITE, fidelity=Fidelity.PARTIAL, note=_CONSUMED)
def create_consumer(call: Call) -> Result:
    """Add a consumer."""
    return Result(
        rules.consumer_view(rules.get_queue(call), rules.create_consumer(call, call.body(_CONSUMERS, errors.INVALID)))
    )


@api.operation("GET", _CONSUMER, needs=READ)
def get_consumer(call: Call) -> Result:
    """Read a consumer."""
    return Result(rules.consumer_view(rules.get_queue(call), rules.get_consumer(call)))


@api.operation("PUT", _CONSUMER, needs=WRITE, fidelity=Fidelity.PARTIAL, note=_CONSUMED)
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
