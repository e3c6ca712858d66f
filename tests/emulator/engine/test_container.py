"""What a container's supervisor hands out has one owner, whoever has given up asking for it; without an engine."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from emulator import server
from emulator.engine import link
from emulator.engine.container import Container
from emulator.engine.images import Image

Ask = Callable[[Container], Coroutine[Any, Any, socket.socket]]
ASKS: dict[str, Ask] = {
    "a port": lambda container: container.connect(8080, 0.0),
    "a way past what is intercepted": lambda container: container.bypass("192.0.2.1", 80),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
@pytest.mark.parametrize("late", [False, True], ids=["with the answer", "before the answer"])
def test_a_connection_that_nobody_waits_for_any_more_is_closed(ask: Ask, late: bool):
    async def give_up(handed_out: socket.socket) -> None:
        container = Container("box", Image("box", "sha256:0", {}, ()), None, internet=True)
        container.started.set_result(None)
        ours, theirs = link.pair()
        container.attach(ours)
        asking = asyncio.ensure_future(ask(container))
        received = await asyncio.to_thread(link.receive, theirs)
        assert received
        if late:
            asking.cancel()
            await asyncio.wait([asking])
        with handed_out:
            link.send(theirs, {"number": received[0]["number"]}, (handed_out.fileno(),))
        container._receive()  # in the same round of the loop as what follows
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        theirs.close()
        await container.unkept.wait()

    kept, handed_out = socket.socketpair()
    with kept, asyncio.Runner(loop_factory=server.new_loop) as runner:
        runner.run(give_up(handed_out))
        kept.settimeout(10)
        assert kept.recv(1) == b"", "the last who had the other end has closed it"
