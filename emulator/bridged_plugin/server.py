"""The stand-in's process: serves on a free port of loopback, says which on the first line, and ends with the engine."""

import os
import select
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from .service import Service

_THREADS = 64
_LOOK_MILLISECONDS = 500


def main() -> None:
    """Serve until a signal comes or the engine is gone."""
    server = grpc.server(ThreadPoolExecutor(_THREADS))
    service = Service(sys.argv[1] if len(sys.argv) > 1 else None)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    print(port, flush=True)  # noqa: T201 - how the engine learns the port
    server.wait_for_termination()


def _end(_number: int, _frame: FrameType | None) -> None:
    # The engine waits for plugins that take their time, so there is no ceremony.
    os._exit(0)


def _end_with(parent: int) -> None:
    """End when the process that started this one, and reads what it writes, is gone: when killed it sends no signal."""
    written = select.poll()
    written.register(sys.stdout.fileno(), 0)  # no event is asked for; that nobody reads any more comes by itself
    while os.getppid() == parent and not written.poll(_LOOK_MILLISECONDS):
        pass
    os._exit(0)
