"""The plugin's process, until a signal ends it."""

import sys
from functools import partial

from pulumi.runtime.proto import provider_pb2_grpc

from .. import serving
from .messages import Messages
from .service import Service

# The engine's own default is far below this; `--parallel` may ask for more.
_THREADS = 128


def serve() -> None:
    """Serve until a signal comes."""
    service = Service(Messages(sys.argv[1] if len(sys.argv) > 1 else None))
    add = partial(provider_pb2_grpc.add_ResourceProviderServicer_to_server, service)
    serving.serve(add, threads=_THREADS, at_end=service.stop)
