"""Credentials for the registry: how a program ends when they cannot be minted."""

from typing import Any

import grpc
import pulumi
import pytest

from components.cloudflare.registry_credentials import get_registry_credentials
from tests.components.monitor import deploy

FUNCTION = "cloudflare-sandbox:index:getRegistryCredentials"
STOPPED = "registry credentials could not be looked up, as another error stopped the run"


class Failed(grpc.RpcError):
    """How a call of the engine fails."""

    def __init__(self, code: grpc.StatusCode, why: str) -> None:
        super().__init__()
        self.status, self.why = code, why

    def code(self) -> grpc.StatusCode:
        return self.status

    def details(self) -> str:
        return self.why


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (Failed(grpc.StatusCode.UNKNOWN, "grpc: the client connection is closing"), pulumi.RunError, STOPPED),
        (Failed(grpc.StatusCode.UNAVAILABLE, "gone"), pulumi.RunError, STOPPED),
        (Failed(grpc.StatusCode.UNKNOWN, "forbidden"), pulumi.RunError, f"invoke of {FUNCTION} failed: forbidden"),
    ],
)
def test_a_run_that_is_stopped_is_no_fault_of_the_program(error: Exception, kind: type[Exception], message: str):
    """The engine prints a RunError as one line, and anything else with its traceback."""

    def refuse(_: Any) -> Any:
        raise error

    with pytest.raises(Exception, match=f"^{message}$") as caught:
        deploy(
            lambda: pulumi.export("host", get_registry_credentials("a" * 32).apply(lambda found: found["host"])),
            answers={FUNCTION: refuse},
        )
    assert caught.type is kind
