"""The plugin's process: serves on a free port of loopback, says which on the first line, and ends when told to."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from .messages import Messages
from .service import Service

# The engine's own default is far below this; `--parallel` may ask for more.
_THREADS = 128
_LARGEST_MESSAGE = 400 * 1024 * 1024  # as the engine's own limit


def serve() -> None:
    """Serve until a signal comes."""
    service = Service(Messages(sys.argv[1] if len(sys.argv) > 1 else None))
    limits = [("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.max_send_message_length", _LARGEST_MESSAGE)]
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=limits)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    def end(_number: int, _frame: FrameType | None) -> None:
        # The engine waits for plugins that take their time, so there is no ceremony: what a call has done, it has
        # done, and the next run goes on from there.
        service.stop()
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    print(port, flush=True)  # noqa: T201 - how the engine learns the port
    server.wait_for_termination()
