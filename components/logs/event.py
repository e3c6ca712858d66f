"""How an event of a Worker is shown: what it was called for and how that ended, then what it logged and threw."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..errors import visible


def as_json(event: Mapping[str, Any]) -> str:
    """Return the event as it came, on one line."""
    return f"{json.dumps(event, separators=(',', ':'))}\n"


def as_text(event: Mapping[str, Any]) -> str:
    """Return lines for people."""
    lines = [_first(event)]
    for each in event.get("logs") or ():
        lines += _indented(f"{each.get('level', 'log')}: {_words(each.get('message'))}")
    for each in event.get("exceptions") or ():
        lines += _indented(f"{each.get('name', 'Error')}: {each.get('message', '')}")
        lines += [f"  {line}" for line in _indented(str(each.get("stack") or "").partition("\n")[2])]
    return "".join(f"{line}\n" for line in lines)


FORMATS = {"text": as_text, "json": as_json}


def _first(event: Mapping[str, Any]) -> str:
    stamp = event.get("eventTimestamp")
    moment = datetime.fromtimestamp(stamp / 1000, UTC) if isinstance(stamp, int | float) else None
    entrypoint = event.get("entrypoint")
    parts = (
        moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else "",
        str(event.get("outcome", "")),
        _occasion(event.get("event") or {}),
        f"in {entrypoint}" if entrypoint and entrypoint != "default" else "",
    )
    return " ".join(_visible(each) for each in parts if each)


def _occasion(event: Mapping[str, Any]) -> str:
    request = event.get("request") or {}
    if request:
        status = (event.get("response") or {}).get("status", "")
        return f"{request.get('method', '')} {request.get('url', '')} {status}".rstrip()
    for name, told in {"cron": "cron", "queue": "queue", "rpcMethod": "call of", "rcptTo": "mail to"}.items():
        if event.get(name):
            return f"{told} {event[name]}"
    return "alarm" if event.get("scheduledTime") else ""


def _words(message: Any) -> str:
    values = message if isinstance(message, list) else [message]
    return " ".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in values)


def _indented(text: str) -> Iterator[str]:
    return (f"  {_visible(line.strip())}" for line in text.splitlines())


def _visible(text: str) -> str:
    """Write what could steer a terminal, or begin a line, as an escape."""
    return visible(text.expandtabs()).replace("\n", r"\n")
