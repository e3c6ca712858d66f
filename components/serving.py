"""A process that the engine starts and asks over gRPC: what the plugin's and the policy pack's have in common."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Final

import grpc

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # as the engine's own limit


def serve(add: Callable[[grpc.Server], None], *, threads: int, at_end: Callable[[], None] = lambda: None) -> None:
    """Serve on a free port of loopback what `add` adds, say which on the first line, and end when told to."""
    limits = [("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.max_send_message_length", _LARGEST_MESSAGE)]
    server = grpc.server(ThreadPoolExecutor(threads), options=limits)
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    def end(_number: int, _frame: FrameType | None) -> None:
        # The engine waits for plugins that take their time, so there is no ceremony: what a call has done, it has
        # done, and the next run goes on from there.
        at_end()
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    print(port, flush=True)  # noqa: T201 - how the engine learns the port
    server.wait_for_termination()
