"""Tails: what Workers log and throw, as workerd tells it, to whoever listens.

Every Worker has a tail Worker of ours beside it, which stays silent until somebody listens. Clients hold a WebSocket
here and not in workerd, so that it outlives the deployments it is there to watch.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from emulator.calls import Call
from emulator.store import Document

from .proxy.websocket import WebSocket

PROTOCOL = "trace-v1"
Script = tuple[str, str]  # account and name


@dataclass(frozen=True, eq=False)
class _Listener:
    socket: WebSocket
    filters: list[Document]


class Tails:
    """Everybody who listens to Workers of one emulator."""

    def __init__(self, tell: Callable[[Script], Awaitable[None]]) -> None:
        self._tell = tell  # lets the process of a script know whether anybody listens
        self._asked: Counter[Script] = Counter()
        self._listeners: dict[Script, set[_Listener]] = defaultdict(set)

    def wanted(self, script: Script) -> bool:
        """Whether anybody listens to a script."""
        return self._asked[script] > 0

    async def serve(self, call: Call, script: Script, filters: list[Document]) -> None:
        """Send a client what a script logs, until either ends it."""
        self._asked[script] += 1  # from now on a process that starts knows it
        try:
            await self._tell(script)  # before the client is told that it listens
            listener = _Listener(WebSocket(call, PROTOCOL), filters)
            self._listeners[script].add(listener)
            try:
                await listener.socket.last()
            finally:
                self._listeners[script].discard(listener)
        finally:
            self._asked[script] -= 1
            await self._tell(script)

    def receive(self, script: Script, events: list[Document], version: str) -> None:
        """Pass on what a script's tail Worker tells."""
        for event in events:
            told = {**event, "scriptName": script[1], "scriptVersion": {"id": version}}
            text = json.dumps(told, separators=(",", ":"))
            for listener in list(self._listeners.get(script, ())):
                if all(passes(told, each) for each in listener.filters):
                    listener.socket.send(text)


def passes(event: Document, rule: Document) -> bool:
    """Whether an event passes one filter of a tail."""
    return all(_FILTERS[name](event, wanted) for name, wanted in rule.items())


def _request(event: Document) -> Document:
    found: Document = (event.get("event") or {}).get("request") or {}
    return found


def _by_header(event: Document, wanted: Document) -> bool:
    headers = _request(event).get("headers") or {}
    value = headers.get(wanted["key"].lower())
    return value is not None and wanted.get("query", "") in value


def _by_address(event: Document, wanted: list[str]) -> bool:
    """Everybody is on this machine, which is also what `self` means."""
    return any(each in ("self", "127.0.0.1", "::1") for each in wanted) and bool(_request(event))


def _by_text(event: Document, wanted: str) -> bool:
    return any(wanted in json.dumps(line["message"], ensure_ascii=False) for line in event.get("logs", ()))


_FILTERS: dict[str, Callable[[Document, Any], bool]] = {
    "sampling_rate": lambda _event, rate: random.random() < rate,  # noqa: S311 - a sample, no secret
    "outcome": lambda event, outcomes: event.get("outcome") in outcomes,
    "method": lambda event, methods: _request(event).get("method", "") in [each.upper() for each in methods],
    "header": _by_header,
    "client_ip": _by_address,
    "query": _by_text,
    "scriptVersion": lambda event, version: event["scriptVersion"]["id"] == version,
}
