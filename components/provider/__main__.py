"""Starts the plugin; it serves until a signal ends it."""

import sys
from functools import partial
from typing import Final

from pulumi.runtime.proto import provider_pb2_grpc

from ..pulumi_protocol import serving
from ..pulumi_protocol.engine_log import EngineLog
from .service import Service

_THREADS: Final = 1024
"""The engine's own default is far below this; `--parallel` may ask for more. They are begun as they are needed.

A call that makes a component lasts until its resources are made, by further calls of this process: programs in other
languages than Python ask for all their components at once, whatever `--parallel` says.
"""


def main() -> None:
    """Serve until a signal comes."""
    service = Service(EngineLog(sys.argv[1] if len(sys.argv) > 1 else None))
    add = partial(provider_pb2_grpc.add_ResourceProviderServicer_to_server, service)
    serving.serve(add, threads=_THREADS, at_end=service.stop)


if __name__ == "__main__":
    main()
