"""The plugin's gRPC service: maps the engine's calls to resources, and their values to Pulumi's wire.

Each call runs on a thread of its own, so a rollout that is waited for holds nobody up. A cancellation ends all waits.
"""

import os
from collections.abc import Mapping
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from pulumi.runtime.proto.status_pb2 import Status

from ..version import VERSION
from . import registry_credentials, schema, wire
from .api import DEFAULT_URL, Client, Pace
from .errors import PartialError, ProviderError, told
from .lifecycle.names import path as joined
from .messages import Messages
from .properties import CONFIGURATION
from .resource import Difference, Resource, Run, Values
from .shapes import Problem, Record

_KINDS = provider_pb2.PropertyDiff.Kind
_REPLACING = {"add": _KINDS.ADD_REPLACE, "delete": _KINDS.DELETE_REPLACE, "update": _KINDS.UPDATE_REPLACE}
_CHANGING = {"add": _KINDS.ADD, "delete": _KINDS.DELETE, "update": _KINDS.UPDATE}
_BEFORE_CONFIGURATION = "the plugin has not been configured; set CLOUDFLARE_API_TOKEN or cloudflare-sandbox:apiToken"


class Service(provider_pb2_grpc.ResourceProviderServicer):
    """Serves one engine."""

    def __init__(self, messages: Messages, pace: Pace | None = None) -> None:
        self._messages = messages
        self._pace = pace
        self._resources = _resources()
        self._client: Client | None = None

    def Handshake(self, request: Any, context: Any) -> Any:
        """Agree on what both sides understand."""
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def GetSchema(self, request: Any, context: Any) -> Any:
        """Give the schema."""
        return provider_pb2.GetSchemaResponse(schema=schema.FILE.read_text())

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """Give the version."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def Attach(self, request: Any, context: Any) -> Any:
        """Serve an engine that did not start this process."""
        self._messages = Messages(request.address)
        return Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """Check the configuration; the token is a secret whatever the program says."""
        given = wire.decode(request.news)
        plain = {name: value for name, value in wire.revealed(given).items() if name != "version"}
        problems = list(Record(schema.NAME, CONFIGURATION).problems(plain, ()))
        kept = wire.hidden(wire.revealed(given), given, [("apiToken",)])
        return provider_pb2.CheckResponse(inputs=wire.encode(kept), failures=_failures(problems, given))

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Another token or address changes nothing about what exists."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: Any) -> Any:
        """Take token and address; a run begins, and nothing is asked of the account yet."""
        self._resources = _resources()
        given = wire.revealed(wire.decode(request.args))
        token = given.get("apiToken") or os.environ.get("CLOUDFLARE_API_TOKEN", "")
        base_url = given.get("baseUrl") or os.environ.get("CLOUDFLARE_BASE_URL") or DEFAULT_URL
        known = isinstance(token, str) and token and isinstance(base_url, str)
        self._client = Client(token, base_url, self._pace) if known else None
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Cancel(self, request: Any, context: Any) -> Any:
        """End all waits."""
        self.stop()
        return Empty()

    def stop(self) -> None:
        """End all waits."""
        if self._client is not None:
            self._client.stop()

    def Invoke(self, request: Any, context: Any) -> Any:
        """Run a function."""
        if request.tok == schema.VERSION_TOKEN:
            if self._client is not None and not request.preview:
                self._client.prepare()  # the program is still loading, and a preview makes no requests
            return provider_pb2.InvokeResponse(**{"return": wire.encode({"version": VERSION})})
        if request.tok != registry_credentials.TOKEN:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no such function: {request.tok}")
        given = wire.decode(request.args)
        arguments, problems = registry_credentials.checked(wire.revealed(given))
        if problems:
            return provider_pb2.InvokeResponse(failures=_failures(problems, given))
        result = registry_credentials.previewed(self._client, arguments)
        if not request.preview:
            result = _reported(context, lambda: registry_credentials.mint(self._api(), arguments))
        shown = wire.hidden(result, {}, [("password",)])
        return provider_pb2.InvokeResponse(**{"return": wire.encode(shown)})

    def Check(self, request: Any, context: Any) -> Any:
        """Bring inputs into one form and report all that is wrong with them."""
        kind = self._kind(request.urn, context)
        given = wire.decode(request.news)
        olds = wire.decode(request.olds)
        inputs, problems = _reported(context, lambda: kind.checked(wire.revealed(olds), wire.revealed(given)))
        if problems:
            # As they came: what is wrong counts as unknown by now, of which the engine would complain instead.
            return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(problems, given, olds))
        return provider_pb2.CheckResponse(inputs=wire.encode(wire.hidden(inputs, given, kind.hidden(inputs))))

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare inputs with those of the last run."""
        kind = self._kind(request.urn, context)
        old = wire.revealed(wire.decode(request.old_inputs)) or self._split(kind, request.olds)[0]
        found = _reported(context, lambda: kind.diff(old, wire.revealed(wire.decode(request.news))))
        return _difference(found, list(request.ignoreChanges))

    def Create(self, request: Any, context: Any) -> Any:
        """Make a resource, or say what a preview can know of it."""
        kind = self._kind(request.urn, context)
        given = wire.decode(request.properties)
        inputs = wire.revealed(given)
        if request.preview:
            shown = _reported(context, lambda: kind.preview({}, {}, inputs))
            if inputs.get("adopt") is True and self._client is not None:
                run = self._run(request)
                if words := _reported(context, lambda: kind.foreseen(run, inputs)):
                    run.warn(words)
            return provider_pb2.CreateResponse(properties=self._state(kind, given, inputs, shown))
        made, outputs = self._attempt(context, kind, given, lambda: kind.create(self._run(request), inputs))
        return provider_pb2.CreateResponse(id=made, properties=self._state(kind, given, inputs, outputs))

    def Read(self, request: Any, context: Any) -> Any:
        """Read a resource back; an empty id says that it is gone."""
        kind = self._kind(request.urn, context)
        given = wire.decode(request.inputs)
        inputs, outputs = self._split(kind, request.properties)
        known = wire.revealed(given) or inputs
        found = _reported(context, lambda: kind.read(self._run(request), request.id, known, outputs))
        if found is None:
            return provider_pb2.ReadResponse(id="")
        live, fresh = found
        kept = wire.hidden(live, given or wire.decode(request.properties), kind.hidden(live))
        state = self._state(kind, kept, live, fresh)
        return provider_pb2.ReadResponse(id=request.id, inputs=wire.encode(kept), properties=state)

    def Update(self, request: Any, context: Any) -> Any:
        """Change a resource, or say what a preview can know of it."""
        kind = self._kind(request.urn, context)
        given = wire.decode(request.news)
        new = wire.revealed(given)
        inputs, outputs = self._split(kind, request.olds)
        old = wire.revealed(wire.decode(request.old_inputs)) or inputs
        if request.preview:
            fresh = _reported(context, lambda: kind.preview(old, outputs, new))
        else:
            fresh = self._attempt(context, kind, given, lambda: kind.update(self._run(request), old, outputs, new))
        return provider_pb2.UpdateResponse(properties=self._state(kind, given, new, fresh))

    def Delete(self, request: Any, context: Any) -> Any:
        """Take a resource away."""
        kind = self._kind(request.urn, context)
        inputs, outputs = self._split(kind, request.properties)
        inputs = wire.revealed(wire.decode(request.old_inputs)) or inputs
        _reported(context, lambda: kind.delete(self._run(request), inputs, outputs))
        return Empty()

    def _kind(self, urn: str, context: Any) -> Resource:
        token = urn.split("::")[2].rpartition("$")[2]
        if token not in self._resources:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no such resource: {token}")
        return self._resources[token]

    def _api(self) -> Client:
        if self._client is None:
            raise ProviderError(_BEFORE_CONFIGURATION)
        return self._client

    def _run(self, request: Any) -> Run:
        urn = request.urn
        return Run(
            client=self._api(),
            urn=urn,
            timeout=request.timeout,
            status=lambda text: self._messages.status(urn, text),
            warn=lambda text: self._messages.warn(urn, text),
        )

    def _split(self, kind: Resource, properties: Struct) -> tuple[Values, Values]:
        """Divide a state into inputs and outputs."""
        state = wire.revealed(wire.decode(properties))
        inputs = {name: value for name, value in state.items() if name in kind.properties}
        return inputs, {name: value for name, value in state.items() if name in kind.outputs}

    def _state(self, kind: Resource, given: Values, inputs: Values, outputs: Values) -> Struct:
        return wire.encode({**wire.hidden(kind.shown(inputs), given, kind.hidden(inputs)), **outputs})

    def _attempt(self, context: Any, kind: Resource, given: Values, action: Any) -> Any:
        """Act; when something exists although not all went well, let the engine keep it in its state."""
        try:
            return _reported(context, action)
        except PartialError as error:
            inputs = wire.revealed(given)
            detail = provider_pb2.ErrorResourceInitFailed(
                id=error.id,
                properties=self._state(kind, given, inputs, error.outputs),
                reasons=[error.reason],
                inputs=wire.encode(given),
            )
            status = Status(code=grpc.StatusCode.UNKNOWN.value[0], message=error.reason)
            status.details.add().Pack(detail)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.UNKNOWN, error.reason)
            raise


def _resources() -> Mapping[str, Resource]:
    return {kind.token: kind() for kind in schema.RESOURCES}


def _reported(context: Any, action: Any) -> Any:
    """Act; what goes wrong is shown to the user as its text, without a traceback."""
    try:
        return action()
    except PartialError:
        raise
    except Exception as error:
        context.abort(grpc.StatusCode.UNKNOWN, told(error))
        raise


def _failures(problems: list[Problem], news: Values, olds: Values | None = None) -> list[Any]:
    told = ((path, wire.discreet(text, path, news, olds)) for path, text in problems)
    return [provider_pb2.CheckFailure(property=joined(*path), reason=text) for path, text in told]


def _difference(found: Difference, ignored: list[str]) -> Any:
    shown = {
        joined(*path): (_REPLACING if path in found.replaces else _CHANGING)[kind]
        for path, kind in found.changes.items()
        if str(path[0]) not in ignored and joined(*path) not in ignored
    }
    response = provider_pb2.DiffResponse
    replaces = [name for path in found.replaces if (name := joined(*path)) in shown]
    return response(
        changes=response.DIFF_SOME if shown else response.DIFF_NONE,
        replaces=sorted(replaces),
        diffs=sorted({name.partition(".")[0].partition("[")[0] for name in shown}),
        deleteBeforeReplace=found.delete_first and bool(replaces),
        detailedDiff={name: provider_pb2.PropertyDiff(kind=kind, inputDiff=True) for name, kind in shown.items()},
        hasDetailedDiff=True,
    )
