"""Makes the component that the engine asks for, and tells it the outputs.

The SDK keeps what it knows of a run in context variables and runs on an event loop, so every component is made on a
thread with a context and a loop of its own: several, even of different runs, do not meet. The thread goes on when the
component is made, as the engine may ask for its hooks until the run ends.
"""

import asyncio
import logging
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from threading import Thread
from typing import Any, Final
from weakref import WeakValueDictionary

import grpc
import pulumi
from pulumi.provider.provider import ConstructResult
from pulumi.provider.server import ProviderServicer
from pulumi.runtime import config, settings
from pulumi.runtime.proto import resource_pb2_grpc
from pulumi.runtime.stack import wait_for_rpcs

from ..credentials import require_token
from ..lookup import is_stopped
from ..platform import api
from ..pulumi_protocol import encoding
from ..pulumi_protocol.names import camel
from ..pulumi_protocol.values import UNKNOWN, Secret
from ..settings import SettingsError
from ..stack import SandboxStack
from . import inputs
from .parts import AFTER, PARTS, Part

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # as the engine's own limit


class RefusedError(Exception):
    """What the user is told, and nothing else."""


class StoppedError(Exception):
    """The engine has stopped the run for another reason, which it tells itself."""


Monitors = WeakValueDictionary[str, Any]
_monitors: Final[Monitors] = WeakValueDictionary()
"""Connections to engines by address; components of one program share one, and are told apart from others by it."""


def construct(request: Any, engine: str | None) -> Any:
    """Make a component; return the response."""
    made: Future[Any] = Future()
    context = copy_context()
    Thread(target=context.run, args=(_serve, request, engine, made), daemon=True).start()
    return made.result()


def _serve(request: Any, engine: str | None, made: "Future[Any]") -> None:
    # What fails is told by the answer; that nobody waits for some part of it tells a user nothing.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    task = loop.create_task(_answered(request, engine))

    def hand_over(done: "asyncio.Task[Any]") -> None:
        error = RuntimeError("cancelled") if done.cancelled() else done.exception()
        if error is None:
            made.set_result(done.result())
        else:
            made.set_exception(error)

    task.add_done_callback(hand_over)
    try:
        loop.run_forever()
    finally:
        # What ends the thread leaves nobody to answer, and the engine would wait for ever.
        if not made.done():
            made.set_exception(RuntimeError("the thread has ended"))


async def _answered(request: Any, engine: str | None) -> Any:
    """Return the response; what the user did wrong is a RefusedError."""
    try:
        return await _constructed(request, engine)
    except SettingsError as error:
        raise RefusedError(str(SettingsError(list(map(inputs.respelled, error.problems))))) from None
    except Exception as error:
        if is_stopped(str(error)):
            raise StoppedError from None
        if isinstance(error, pulumi.RunError):
            raise RefusedError(inputs.in_its_spelling(str(error))) from None
        raise


async def _constructed(request: Any, engine: str | None) -> Any:
    await _enter(request, engine)
    options = ProviderServicer._construct_options(request)  # noqa: SLF001 - the SDK has no other way to read them
    if request.HasField("customTimeouts"):
        given = request.customTimeouts
        # The SDK reads these and forgets them.
        options.custom_timeouts = pulumi.CustomTimeouts(
            given.create or None, given.update or None, given.delete or None
        )
    try:
        result = _made(request, options)
        return await ProviderServicer._construct_response(None, result)  # type: ignore[arg-type]  # noqa: SLF001 - as above
    finally:
        await wait_for_rpcs()


async def _enter(request: Any, engine: str | None) -> None:
    """Tell the SDK, in this context, which run this is."""
    monitor = _monitors.get(request.monitorEndpoint)
    if monitor is None:
        limits = [("grpc.max_receive_message_length", _LARGEST_MESSAGE)]
        channel = grpc.insecure_channel(request.monitorEndpoint, options=limits)
        monitor = _monitors.setdefault(request.monitorEndpoint, resource_pb2_grpc.ResourceMonitorStub(channel))
    settings.ROOT.set(None)
    settings.configure(
        settings.Settings(
            project=request.project,
            stack=request.stack,
            monitor=monitor,
            engine=engine,
            parallel=request.parallel or None,
            dry_run=request.dryRun,
            organization=request.organization or "organization",
        )
    )
    await settings._load_monitor_feature_support()  # type: ignore[no-untyped-call]  # noqa: SLF001 - a program's start too
    config.set_all_config(dict(request.config), list(request.configSecretKeys))


def _made(request: Any, options: pulumi.ResourceOptions) -> ConstructResult:
    if request.type in PARTS:
        return _part(PARTS[request.type], request, options)
    return _sandbox_stack(request, options)


def _sandbox_stack(request: Any, options: pulumi.ResourceOptions) -> ConstructResult:
    given = encoding.decode(request.inputs)
    secrets, build_secrets = (
        _secrets(request, name, given.pop(name, None)) for name in (inputs.SECRETS, inputs.BUILD_SECRETS)
    )
    account_id = os.environ.get(api.ACCOUNT_ID)
    read = inputs.settings(given, sorted(secrets), account_id)
    _require_token(request)
    both = {**build_secrets, **secrets}
    stack = SandboxStack(request.name, read, options, secrets=both)
    return ConstructResult(stack.urn, {camel(name): value for name, value in stack.outputs().items()})


def _part(part: Part, request: Any, options: pulumi.ResourceOptions) -> ConstructResult:
    given = encoding.decode(request.inputs)
    values = {name: given.pop(camel(name), None) for name in part.values}
    if "account_id" in values and values["account_id"] is None:
        values["account_id"] = os.environ.get(api.ACCOUNT_ID)
    wrong: list[str] = []
    found: dict[str, Any] = {}
    for name, value in values.items():
        with _gathered(wrong):
            found[name] = _output(request, camel(name), inputs.text(name, value), secret=isinstance(value, Secret))
    with _gathered(wrong):
        known = inputs.plain(part.plain, given)
        found |= {name: getattr(known, name) for name in part.plain.model_fields}
    if wrong:
        raise SettingsError(wrong)
    _require_token(request)
    after = {AFTER: options.depends_on} if part.waits else {}
    component = part.component(request.name, part.args(**found, **after), options)
    return ConstructResult(component.urn, {camel(name): getattr(component, name) for name in part.outputs})


@contextmanager
def _gathered(wrong: list[str]) -> Iterator[None]:
    """Keep mistakes until all are found."""
    try:
        yield
    except SettingsError as error:
        wrong += error.problems


def _require_token(request: Any) -> None:
    if not request.providers:
        require_token(os.environ)


def _secrets(request: Any, name: str, given: Any) -> dict[str, pulumi.Output[str]]:
    """Return values by name, each secret and with what it depends on; a preview may not know a value yet."""
    found = inputs.secrets(name, given)
    return {key: _output(request, name, value, secret=True) for key, value in found.items()}


def _output(request: Any, name: str, value: Any, *, secret: bool) -> pulumi.Output[str]:
    """Return a value of an input with what the input depends on."""
    urns = request.inputDependencies[name].urns if name in request.inputDependencies else ()
    dependencies: set[pulumi.Resource] = {pulumi.resource.DependencyResource(urn) for urn in urns}
    known = value is not UNKNOWN
    return pulumi.Output(dependencies, _ready(value if known else None), _ready(known), _ready(secret))


def _ready(value: Any) -> "asyncio.Future[Any]":
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future
