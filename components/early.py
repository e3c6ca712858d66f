"""Lets the plugin start while the program still loads.

The engine starts a plugin for the first resource that needs it, and a program's resources reach the engine only after
all of its code ran; without this the two take their time one after the other. Nothing depends on it: a program that
leaves it out, and a plugin that cannot start, end as they would have.
"""

from typing import Any, Final

import pulumi
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

_QUESTION: Final = "cloudflare-sandbox:index:getPluginVersion"
_under_way: Final[list[Any]] = []
"""Calls that are not waited for; gRPC gives up a call that nobody holds."""


def start_plugin() -> None:
    """Ask the plugin for its version and do not wait, so that the engine starts it. Call it before other imports."""
    monitor = pulumi.runtime.settings.get_monitor()
    if isinstance(monitor, resource_pb2_grpc.ResourceMonitorStub):  # in unit tests it is something else
        _under_way.append(monitor.Invoke.future(resource_pb2.ResourceInvokeRequest(tok=_QUESTION)))
