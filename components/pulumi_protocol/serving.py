"""A process that the engine starts and asks over gRPC: what the plugin's and the policy pack's have in common."""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Final

import grpc

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # as the engine's own limit
_LOOK_MILLISECONDS: Final = 500


def serve(add: Callable[[grpc.Server], None], *, threads: int, at_end: Callable[[], None] = lambda: None) -> None:
    """Serve on a free port of loopback what `add` adds, say which on the first line, and end when told to."""
    limits = [("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.max_send_message_length", _LARGEST_MESSAGE)]
    server = grpc.server(ThreadPoolExecutor(threads), options=limits)
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    def end(_number: int = 0, _frame: FrameType | None = None) -> None:
        # The engine waits for plugins that take their time, so there is no ceremony: what a call has done, it has
        # done, and the next run goes on from there.
        at_end()
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    threading.Thread(target=_when_alone, args=(os.getppid(), end), daemon=True).start()
    print(port, flush=True)  # noqa: T201 - how the engine learns the port
    server.wait_for_termination()


def _when_alone(parent: int, end: Callable[[], None]) -> None:
    """End with the engine: one that is killed sends no signal, and nobody would learn what is done from here on.

    It has started this process, and reads what it writes until its own end.
    """
    written = select.poll()
    written.register(sys.stdout.fileno(), 0)  # no event is asked for; that nobody reads any more comes by itself
    while os.getppid() == parent and not written.poll(_LOOK_MILLISECONDS):
        pass
    end()
