"""Batches of queue messages on their way to the Workers that consume them.

A batch is due when as many messages wait as the consumer takes at once, or when the oldest has waited as long as it
may; one batch of a queue is under way at a time. What its handler makes of each message decides whether that goes, is
tried again, or ends in the dead-letter queue. All of it is in the state: an emulator that is killed delivers again.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from emulator.services.queues.backlog import Backlog
from emulator.state import State
from emulator.store import Document

_SIZE, _WAIT = 10, 5.0  # a consumer's batch and patience in seconds unless it says otherwise
_LEASE = 15 * 60.0  # seconds a handler may take
_AGAIN = 5.0  # seconds until a Worker that does not run is asked again

HandOver = Callable[[Backlog, Document, list[Document]], Awaitable[Document | None]]


@dataclass(frozen=True)
class Consumed:
    """A queue and the Worker that consumes it."""

    backlog: Backlog
    consumer: Document

    @property
    def size(self) -> int:
        """How many messages it takes at once."""
        return int(self.consumer["settings"].get("batch_size") or _SIZE)

    @property
    def wait(self) -> float:
        """Seconds it waits for a batch to fill."""
        return float(self.consumer["settings"].get("max_wait_time_ms", _WAIT * 1000)) / 1000


class Deliveries:
    """All queues of one emulator whose consumers are Workers."""

    def __init__(self, state: State, runs: Callable[[str, str], bool], hand_over: HandOver) -> None:
        self._state = state
        self._runs = runs  # whether a script of an account is to be served at all
        self._hand_over = hand_over  # None: the Worker does not run
        self._under_way: dict[str, asyncio.Task[None]] = {}  # by the queue's id
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def recover(self) -> None:
        """Give back what an emulator that ended had under way."""
        with self._state.store.transaction():
            for each in self._consumed():
                for message in each.backlog.alive():
                    if message["lease"]:
                        each.backlog.give_back(message, 0)

    def look(self) -> None:
        """Begin the batches that are due, and come back when the next one is."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        now, soonest = self._state.clock.time(), math.inf
        for each in self._consumed():
            if each.backlog.id in self._under_way or each.backlog.queue["settings"]["delivery_paused"]:
                continue
            moment = due([message["visible"] for message in each.backlog.alive()], each.size, each.wait)
            if moment > now:
                soonest = min(soonest, moment)
            elif self._runs(each.backlog.account, each.consumer["script_name"]):
                self._begin(each)
        if soonest < math.inf:
            self._timer = asyncio.get_running_loop().call_later(soonest - now, self.look)

    def _consumed(self) -> list[Consumed]:
        store = self._state.store
        accounts = store.keys("account", "")
        return [
            Consumed(Backlog(self._state, account, queue), consumer)
            for queue_id, _, consumer in store.everywhere("queue_consumer")
            if consumer["type"] == "worker"
            for account in accounts
            if (queue := store.get("queue", account, queue_id)) is not None
        ]

    def _begin(self, consumed: Consumed) -> None:
        task = asyncio.ensure_future(self._deliver(consumed))
        self._under_way[consumed.backlog.id] = task
        task.add_done_callback(lambda _: self._end(consumed.backlog.id))

    def _end(self, queue_id: str) -> None:
        del self._under_way[queue_id]
        if not self._stopped:
            self.look()

    async def _deliver(self, consumed: Consumed) -> None:
        backlog, consumer = consumed.backlog, consumed.consumer
        with self._state.store.transaction():
            batch = backlog.lease(consumer, consumed.size, _LEASE)
        if not batch:
            return
        told = await self._hand_over(backlog, consumer, batch)
        with self._state.store.transaction():
            if told is None:
                for message in batch:
                    backlog.give_back({**message, "attempts": message["attempts"] - 1}, _AGAIN)
                return
            for message in batch:
                delay = verdict(told, message["id"], consumer["settings"].get("retry_delay") or 0)
                if delay is None:
                    backlog.remove(message)
                else:
                    backlog.try_again(consumer, message, delay)

    async def stop(self) -> None:
        """Leave the rest to the next start."""
        self._stopped = True
        if self._timer:
            self._timer.cancel()
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def due(moments: list[float], size: int, wait: float) -> float:
    """When the next batch is to go, from when each message is there; never, without messages."""
    if not moments:
        return math.inf
    moments = sorted(moments)
    full = moments[size - 1] if len(moments) >= size else math.inf
    return min(moments[0] + wait, full)


def verdict(told: Document, message_id: str, own_delay: float) -> float | None:
    """Seconds until a message is tried again, by what its handler's run came to; None when it was done with."""
    retries = {each["msgId"]: each.get("delaySeconds") for each in told.get("retryMessages") or ()}
    batch = told.get("retryBatch") or {}
    general = batch.get("delaySeconds")
    if message_id in retries:
        own = retries[message_id]
        return float(own if own is not None else own_delay)
    if message_id in (told.get("explicitAcks") or ()) or told.get("ackAll"):
        return None
    if batch.get("retry") or told["outcome"] != "ok":
        return float(general if general is not None else own_delay)
    return None
