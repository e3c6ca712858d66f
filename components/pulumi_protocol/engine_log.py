"""Messages to the person who runs `pulumi up`, through the engine that started the process."""

from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc


class EngineLog:
    """Sends messages; without an engine they go nowhere."""

    def __init__(self, address: str | None) -> None:
        self.address = address
        self._stub: Any = None
        if address:
            self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def status(self, urn: str, text: str) -> None:
        """Show a line of progress beside the resource until the next one."""
        self._send(engine_pb2.INFO, urn, text, ephemeral=True)

    def info(self, text: str) -> None:
        """Show a line that stays and belongs to no resource."""
        self._send(engine_pb2.INFO, "", text)

    def remark(self, urn: str, text: str) -> None:
        """Show a line that stays beside the resource."""
        self._send(engine_pb2.INFO, urn, text)

    def warn(self, urn: str, text: str) -> None:
        """Show a warning that stays."""
        self._send(engine_pb2.WARNING, urn, text)

    def _send(self, severity: Any, urn: str, text: str, *, ephemeral: bool = False) -> None:
        if self._stub is None:
            return
        request = engine_pb2.LogRequest(severity=severity, urn=urn, message=text, ephemeral=ephemeral)
        try:
            self._stub.Log(request, timeout=5)
        except grpc.RpcError:
            return  # a message that cannot be shown is no reason to fail
