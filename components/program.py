"""What a program calls at its top: to have the plugin start early, and to end with a message of its own.

Nothing depends on either. Both are for a program and not for components, which may run inside another process.
"""

import sys
import warnings
from typing import Any, Final, Never

import pulumi
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

_QUESTION: Final = "cloudflare-sandbox:index:getPluginVersion"
_ALREADY_TOLD: Final = 32
"""Exit code by which the SDK tells the language host that the user knows already."""
_under_way: Final[list[Any]] = []
"""Calls that are not waited for; gRPC gives up a call that nobody holds."""


def fast_start() -> None:
    """Ask the plugin for its version and do not wait, so that it starts while the program still loads.

    The engine starts a plugin for the first resource that needs it, and a program's resources reach the engine only
    after all of its code ran: otherwise the two would take their time one after the other.
    """
    monitor = pulumi.runtime.settings.get_monitor()
    if isinstance(monitor, resource_pb2_grpc.ResourceMonitorStub):  # in unit tests it is something else
        _under_way.append(monitor.Invoke.future(resource_pb2.ResourceInvokeRequest(tok=_QUESTION)))


def end(message: str) -> Never:
    """End a program with a message for its user, and nothing after it.

    After a RunError the engine says in a second message that an unhandled error occurred.
    """
    pulumi.log.error(message)
    sys.exit(_ALREADY_TOLD)


def end_plainly() -> None:
    """Do nothing: questions to the account that fail end a program plainly by themselves. To be removed."""
    warnings.warn(
        "end_plainly() has no effect any more; remove the call from the program", DeprecationWarning, stacklevel=2
    )
