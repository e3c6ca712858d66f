"""Starts the stand-in; it serves until a signal comes or the engine is gone."""

import sys
from functools import partial

from pulumi.runtime.proto import provider_pb2_grpc

from components.pulumi_protocol import serving
from components.pulumi_protocol.engine_log import EngineLog

from .service import Service

_THREADS = 64

service = Service(EngineLog(sys.argv[1] if len(sys.argv) > 1 else None))
serving.serve(partial(provider_pb2_grpc.add_ResourceProviderServicer_to_server, service), threads=_THREADS)
