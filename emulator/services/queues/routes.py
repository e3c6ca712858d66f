"""Operations of Queues."""

from emulator.registry import PARTIAL, Service

from . import bodies, errors, messages, rules

api = Service(
    "queues",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)

READ, WRITE = "Queues Read", "Queues Write"
_QUEUES = "/accounts/{account_id}/queues"
_QUEUE = _QUEUES + "/{queue_id}"
_CONSUMERS = _QUEUE + "/consumers"
_CONSUMER = _CONSUMERS + "/{consumer_id}"

_DELIVERED = "waits for whoever pulls, or goes to the Worker that consumes the queue, one batch at a time"
_CONSUMED = (
    "the script need not be there yet; `max_concurrency` has no effect; "
    "what goes to a dead-letter queue that is not there is lost"
)
_CREATE_QUEUE = "takes `settings` too, which the provider sends"

api.get(_QUEUES, rules.list_queues, READ, view=rules.queue_view, note="filter name, which may be repeated")
api.post(_QUEUES, rules.create_queue, WRITE, body=bodies.CREATE, view=rules.queue_view, note=_CREATE_QUEUE)
api.get(_QUEUE, rules.QUEUES.get, READ, view=rules.queue_view, name="get_queue")
api.put(_QUEUE, rules.replace_queue, WRITE, body=bodies.CHANGE, view=rules.queue_view)
api.patch(_QUEUE, rules.edit_queue, WRITE, body=bodies.CHANGE, view=rules.queue_view)
api.delete(_QUEUE, rules.delete_queue, WRITE, PARTIAL, note="bindings of Workers do not hold it")
api.get(_QUEUE + "/metrics", messages.get_metrics, READ)
api.post(_QUEUE + "/messages", messages.push_message, WRITE, body=bodies.MESSAGE, note=_DELIVERED)
api.post(_QUEUE + "/messages/batch", messages.push_messages, WRITE, body=bodies.MESSAGES, note=_DELIVERED)
api.post(_QUEUE + "/messages/pull", messages.pull_messages, WRITE, body=bodies.PULL)
api.post(_QUEUE + "/messages/ack", messages.acknowledge_messages, WRITE, body=bodies.ACKS)
api.post(_QUEUE + "/purge", messages.purge_queue, WRITE, body=bodies.PURGE, view=rules.queue_view, note="done at once")
api.get(_QUEUE + "/purge", messages.get_purge, READ)
api.get(_CONSUMERS, rules.list_consumers, READ, view=rules.consumer_view)
api.post(_CONSUMERS, rules.create_consumer, WRITE, PARTIAL, view=rules.consumer_view, note=_CONSUMED)
api.get(_CONSUMER, rules.CONSUMERS.get, READ, view=rules.consumer_view, name="get_consumer")
api.put(_CONSUMER, rules.replace_consumer, WRITE, PARTIAL, view=rules.consumer_view, note=_CONSUMED)
api.delete(_CONSUMER, rules.delete_consumer, WRITE)
