"""Messages to the person who runs `pulumi up`, through the engine that started the plugin."""

from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc


class Messages:
    """Sends messages; without an engine they go nowhere."""

    def __init__(self, address: str | None) -> None:
        self._stub: Any = None
        if address:
            self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def status(self, urn: str, text: str) -> None:
        """Show a line of progress beside the resource until the next one."""
        self._send(engine_pb2.INFO, urn, text, ephemeral=True)

    def warn(self, urn: str, text: str) -> None:
        """Show a warning that stays."""
        self._send(engine_pb2.WARNING, urn, text, ephemeral=False)

    def _send(self, severity: Any, urn: str, text: str, *, ephemeral: bool) -> None:
        if self._stub is None:
            return
        request = engine_pb2.LogRequest(severity=severity, urn=urn, message=text, ephemeral=ephemeral)
        try:
            self._stub.Log(request, timeout=5)
        except grpc.RpcError:
            return  # progress that cannot be shown is no reason to fail
