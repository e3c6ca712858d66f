"""What every resource provider answers the engine alike, whatever its resources are."""

from typing import Any

from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from .engine_log import EngineLog


class ProviderService(provider_pb2_grpc.ResourceProviderServicer):
    """Serves one engine."""

    version: str

    def __init__(self, log: EngineLog) -> None:
        self._log = log

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """Return the version."""
        return plugin_pb2.PluginInfo(version=self.version)

    def Attach(self, request: Any, context: Any) -> Any:
        """Serve an engine that did not start this process."""
        self._log = EngineLog(request.address)
        return Empty()

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Another token or address changes nothing about what exists."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Cancel(self, request: Any, context: Any) -> Any:
        """End all waits."""
        self.stop()
        return Empty()

    def stop(self) -> None:
        """End all waits."""
        raise NotImplementedError
