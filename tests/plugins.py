"""What holds for every plugin that the engine starts, ours and the stand-in alike."""

import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
from pulumi.runtime.proto import provider_pb2_grpc


@contextmanager
def served(service: provider_pb2_grpc.ResourceProviderServicer, threads: int) -> Iterator[str]:
    """Serve a plugin on threads of the test process; the address is yielded."""
    server = grpc.server(ThreadPoolExecutor(threads))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0)


def cpu_seconds(start_and_end: Callable[[], object]) -> float:
    """CPU time of a process, best of several: other work on the machine must not fail a test."""
    times = []
    for _ in range(4):
        before = _used()
        start_and_end()
        times.append(_used() - before)
    return min(times)


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def assert_ends_at_once_and_silently(process: subprocess.Popen[str], number: int) -> None:
    process.send_signal(number)
    started = time.monotonic()
    written, complaints = process.communicate(timeout=60)
    assert time.monotonic() - started < 20
    assert (written, complaints, process.returncode) == ("", "", 0)
