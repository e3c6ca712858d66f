"""What a program can do in its first lines to be over sooner (docs/performance.md has the numbers), and to end plainly.

Nothing depends on it: a program that leaves it out, and a plugin that cannot start, end as they would have. It is for
the program to call and not for a component, because it is about the whole process.
"""

import atexit
import gc
import os
import sys
from typing import Any, Final, Never

import pulumi
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

from . import lookup

KEEP_DEBUG: Final = "SANDBOX_STACK_DEBUG"
"""Variable of the environment that, if set, leaves the SDK its messages for `pulumi up --debug`."""
_QUESTION: Final = "cloudflare-sandbox:index:getPluginVersion"
_ALREADY_TOLD: Final = 32
"""Exit code by which the SDK tells the language host that the user knows already."""
_under_way: Final[list[Any]] = []
"""Calls that are not waited for; gRPC gives up a call that nobody holds."""


def fast_start() -> None:
    """Spare a program work that only takes time, and let the plugin start while the program still loads."""
    _collect_nothing()
    if not os.environ.get(KEEP_DEBUG):
        _drop_debug_messages()
    _start_plugin()


def end(message: str) -> Never:
    """End a program with a message for its user, and nothing after it.

    After a RunError the engine says in a second message that an unhandled error occurred. For a program to call at its
    top, and not for components: those may run inside another process, which should live on.
    """
    pulumi.log.error(message)
    sys.exit(_ALREADY_TOLD)


def end_plainly() -> None:
    """Let a program whose question to the account fails end with that message, and nothing after it.

    The SDK shows the message when all resources are done, long after the program's own lines, and ends the process with
    a code that has the engine add that an unhandled error occurred.
    """
    atexit.register(_end_as_told)


def _end_as_told() -> None:
    if lookup.unanswered:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_ALREADY_TOLD)


def _collect_nothing() -> None:
    """Do without the garbage collector: a program lives for seconds, and most of what it makes stays to its end."""
    gc.disable()
    atexit.register(gc.freeze)  # or Python would look through everything once more before it ends


def _drop_debug_messages() -> None:
    """Send no debug messages: the SDK waits for each of several per resource, and the engine throws them away."""
    pulumi.log.debug = _dropped


def _dropped(*_: Any, **__: Any) -> None:
    pass


def _start_plugin() -> None:
    """Ask the plugin for its version, so that the engine starts it, and do not wait.

    The engine starts a plugin for the first resource that needs it, and a program's resources reach the engine only
    after all of its code ran: otherwise the two would take their time one after the other.
    """
    monitor = pulumi.runtime.settings.get_monitor()
    if isinstance(monitor, resource_pb2_grpc.ResourceMonitorStub):  # in unit tests it is something else
        _under_way.append(monitor.Invoke.future(resource_pb2.ResourceInvokeRequest(tok=_QUESTION)))
