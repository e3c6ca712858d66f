"""The messages of one queue, as the API and consumers that are Workers use them alike.

A message is there from the moment its delay is over, and again when a lease ends without an acknowledgement; after as
many tries as the consumer allows it goes to the dead-letter queue, or away. Time is the emulator's.
"""

import base64
from dataclasses import dataclass

from emulator.clock import hex_id
from emulator.state import State
from emulator.store import Document

MESSAGE = "queue_message"
LARGEST = 128 * 1000
"""Bytes of a message."""

_RETRIES = 3
_READABLE = ("text", "json")  # kept as they are; everything else in base64
_CONTENT = ("body", "content_type", "source")


@dataclass(frozen=True)
class Backlog:
    """The messages of a queue of an account."""

    state: State
    account: str
    queue: Document

    @property
    def id(self) -> str:
        """The queue's."""
        return str(self.queue["queue_id"])

    def put(self, content: Document, delay: float | None) -> None:
        """Add a message that is there after the delay, the queue's own unless one is given."""
        now = self.state.clock.time()
        seconds = self.queue["settings"]["delivery_delay"] if delay is None else delay
        message = {"id": hex_id(), **content, "at": now, "visible": now + seconds, "attempts": 0, "lease": ""}
        self._write(message)

    def alive(self) -> list[Document]:
        """The messages that are still kept, oldest first."""
        oldest = self.state.clock.time() - self.queue["settings"]["message_retention_period"]
        return [each for each in self.state.store.select(MESSAGE, self.id) if each["at"] > oldest]

    def lease(self, consumer: Document, size: int, seconds: float) -> list[Document]:
        """Messages for one consumer alone while the lease lasts; those that were tried too often go."""
        now = self.state.clock.time()
        leased: list[Document] = []
        for message in self.alive():
            if message["visible"] > now or len(leased) == size or self.queue["settings"]["delivery_paused"]:
                continue
            if _is_spent(consumer, message):
                self._bury(consumer, message)
                continue
            changed = {**message, "attempts": message["attempts"] + 1, "visible": now + seconds, "lease": hex_id()}
            leased.append(self._write(changed))
        return leased

    def remove(self, message: Document) -> None:
        """Take a message away that was done with."""
        self.state.store.delete(MESSAGE, self.id, message["id"])

    def give_back(self, message: Document, delay: float) -> None:
        """Let a leased message be there again, unless it has gone meanwhile."""
        if self.state.store.has(MESSAGE, self.id, message["id"]):
            self._write({**message, "lease": "", "visible": self.state.clock.time() + delay})

    def try_again(self, consumer: Document, message: Document, delay: float) -> None:
        """Put a message back that its consumer failed on, or let it go if that was the last try."""
        if not _is_spent(consumer, message):
            self.give_back(message, delay)
        elif self.state.store.has(MESSAGE, self.id, message["id"]):
            self._bury(consumer, message)

    def _bury(self, consumer: Document, message: Document) -> None:
        self.remove(message)
        name = consumer.get("dead_letter_queue")
        for other in self.state.store.find("queue", self.account, "name", name) if name else ():
            Backlog(self.state, self.account, other).put({field: message[field] for field in _CONTENT}, 0)

    def _write(self, message: Document) -> Document:
        return self.state.store.put(MESSAGE, self.id, message["id"], message)

    def metrics(self) -> Document:
        """How much waits."""
        waiting = self.alive()
        return {
            "backlog_bytes": sum(_size(each) for each in waiting),
            "backlog_count": len(waiting),
            "oldest_message_timestamp_ms": int(waiting[0]["at"] * 1000) if waiting else 0,
        }


def _is_spent(consumer: Document, message: Document) -> bool:
    return bool(message["attempts"] > consumer["settings"].get("max_retries", _RETRIES))


def _size(message: Document) -> int:
    body = message["body"]
    return len(body.encode() if message["content_type"] in _READABLE else base64.b64decode(body))
