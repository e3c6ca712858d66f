"""Bodies the Queues API takes."""

from emulator.schema import anything, either, fields, flag, items, nullable, number, options, text

_WHOLE = nullable(number(least=0, most=10**9, whole=True))
_SETTINGS = nullable(
    options(
        delivery_delay=nullable(number(least=0, most=86400, whole=True)),
        delivery_paused=nullable(flag()),
        message_retention_period=nullable(number(least=60, most=1209600, whole=True)),
    )
)
_OPTIONAL = {"settings": _SETTINGS, "jurisdiction": nullable(text(choices=["eu", "us", "fedramp"]))}
CREATE = fields({"queue_name": text()}, _OPTIONAL)
CHANGE = options(queue_name=text(), **_OPTIONAL)
_RETRY = {"batch_size": _WHOLE, "max_retries": _WHOLE, "retry_delay": _WHOLE}
_READ_BACK = dict.fromkeys(("consumer_id", "created_on", "queue_name"), anything())
NEW_CONSUMER = either(
    fields(
        {"type": text(choices=["http_pull"])},
        {
            **_READ_BACK,
            "dead_letter_queue": nullable(text()),
            "settings": nullable(options(**_RETRY, visibility_timeout_ms=_WHOLE)),
        },
    ),
    fields(
        {"type": text(choices=["worker"]), "script_name": text(least=1)},
        {
            **_READ_BACK,
            "environment_name": nullable(text()),
            **dict.fromkeys(("script", "service", "environment"), anything()),
            "dead_letter_queue": nullable(text()),
            "settings": nullable(options(**_RETRY, max_concurrency=_WHOLE, max_wait_time_ms=_WHOLE)),
        },
    ),
)
_DELAY = nullable(number(least=0, most=86400))
MESSAGE = fields(
    {"body": anything()}, {"content_type": nullable(text(choices=["text", "json"])), "delay_seconds": _DELAY}
)
MESSAGES = fields({"messages": items(MESSAGE, least=1, most=100)}, {"delay_seconds": _DELAY})
PULL = nullable(
    options(
        batch_size=nullable(number(least=1, most=100, whole=True)),
        visibility_timeout_ms=nullable(number(least=0, most=43_200_000)),
    )
)
_LEASE = {"lease_id": text(least=1)}
ACKS = options(acks=nullable(items(fields(_LEASE))), retries=nullable(items(fields(_LEASE, {"delay_seconds": _DELAY}))))
PURGE = nullable(options(delete_messages_permanently=nullable(flag())))
