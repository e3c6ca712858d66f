"""The plugin's gRPC service: maps the engine's calls to resources, and values to messages and back.

Each call runs on a thread of its own, so a rollout that is waited for holds nobody up. A cancellation ends all waits.
"""

import os
import threading
from collections.abc import Mapping
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2
from pulumi.runtime.proto.status_pb2 import Status

from ..platform import api
from ..pulumi_protocol import encoding, values
from ..pulumi_protocol.engine_log import EngineLog
from ..pulumi_protocol.names import path as joined
from ..pulumi_protocol.names import type_of
from ..pulumi_protocol.provider_service import ProviderService
from ..version import VERSION
from . import schema
from .api_client import Client, WaitTimes
from .container_application.effects import ContainerApplication
from .errors import PartialError, ProviderError, told
from .property_types import PLUGIN, Problem, Record
from .registry_credentials import effects as registry_credentials
from .registry_credentials.declaration import DECLARATION as REGISTRY_CREDENTIALS
from .registry_image.effects import RegistryImage
from .resource import Difference, Resource, Run, Values
from .worker_script.effects import WorkerScript

_KINDS = provider_pb2.PropertyDiff.Kind
_REPLACING = {"add": _KINDS.ADD_REPLACE, "delete": _KINDS.DELETE_REPLACE, "update": _KINDS.UPDATE_REPLACE}
_CHANGING = {"add": _KINDS.ADD, "delete": _KINDS.DELETE, "update": _KINDS.UPDATE}
_BEFORE_CONFIGURATION = "the plugin has not been configured; set CLOUDFLARE_API_TOKEN or cloudflare-sandbox:apiToken"


class Service(ProviderService):
    """Serves one engine."""

    version = VERSION

    def __init__(self, log: EngineLog, waits: WaitTimes | None = None) -> None:
        super().__init__(log)
        self._waits = waits
        self._resources = _resources()
        self._client: Client | None = None

    def Handshake(self, request: Any, context: Any) -> Any:
        """Agree on what both sides understand."""
        # Outputs come as such in calls that make components, and nowhere else.
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_outputs=True)

    def GetSchema(self, request: Any, context: Any) -> Any:
        """Return the schema."""
        return provider_pb2.GetSchemaResponse(schema=schema.FILE.read_text())

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """Check the configuration; the token is a secret whatever the program says."""
        given = encoding.decode(request.news)
        plain = {name: value for name, value in values.revealed(given).items() if name != "version"}
        problems = list(Record(PLUGIN, schema.CONFIGURATION).problems(plain, ()))
        kept = values.hidden(values.revealed(given), given, [("apiToken",)])
        return provider_pb2.CheckResponse(inputs=encoding.encode(kept), failures=_failures(problems, given))

    def Configure(self, request: Any, context: Any) -> Any:
        """Take token and address; a run begins, and nothing is asked of the account yet."""
        self._resources = _resources()
        given = values.revealed(encoding.decode(request.args))
        token = given.get("apiToken") or os.environ.get(api.TOKEN, "")
        base_url = given.get("baseUrl") or os.environ.get(api.BASE_URL) or api.URL
        known = isinstance(token, str) and token and isinstance(base_url, str)
        self._client = Client(token, base_url, self._waits) if known else None
        return provider_pb2.ConfigureResponse(acceptSecrets=True, acceptOutputs=True, supportsPreview=True)

    def stop(self) -> None:
        """End all waits."""
        if self._client is not None:
            self._client.stop()

    def Invoke(self, request: Any, context: Any) -> Any:
        """Run a function."""
        if request.tok == schema.PLUGIN_VERSION.token:
            if self._client is not None and not request.preview:
                self._client.prepare()  # the program is still loading, and a preview makes no requests
            return provider_pb2.InvokeResponse(**{"return": encoding.encode({"version": VERSION})})
        if request.tok != REGISTRY_CREDENTIALS.token:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no such function: {request.tok}")
        given = encoding.decode(request.args)
        arguments, problems = registry_credentials.checked(values.revealed(given))
        if problems:
            return provider_pb2.InvokeResponse(failures=_failures(problems, given))
        result = registry_credentials.previewed(self._client, arguments)
        if not request.preview:
            result = _reported(context, lambda: registry_credentials.mint(self._api(), arguments))
        shown = values.hidden(result, {}, [("password",)])
        return provider_pb2.InvokeResponse(**{"return": encoding.encode(shown)})

    def Construct(self, request: Any, context: Any) -> Any:
        """Make a component of this package for a program in another language."""
        from ..construct import answer  # noqa: PLC0415 - a second that programs in Python need not pay here

        try:
            return answer.construct(request, self._log.address)
        except answer.RefusedError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except answer.StoppedError:
            # The engine would tell any answer as one more error; it ends this process instead.
            ended = threading.Event()
            context.add_callback(ended.set)
            ended.wait()
            raise
        except Exception as error:
            context.abort(grpc.StatusCode.UNKNOWN, told(error))
            raise

    def Check(self, request: Any, context: Any) -> Any:
        """Bring inputs into one form and report all that is wrong with them."""
        kind = self._kind(request.urn, context)
        given = encoding.decode(request.news)
        olds = encoding.decode(request.olds)
        inputs, problems = _reported(context, lambda: kind.checked(values.revealed(olds), values.revealed(given)))
        if problems:
            # As they came: what is wrong counts as unknown by now, of which the engine would complain instead.
            return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(problems, given, olds))
        return provider_pb2.CheckResponse(inputs=encoding.encode(values.hidden(inputs, given, kind.hidden(inputs))))

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare inputs with those of the last run."""
        kind = self._kind(request.urn, context)
        old = values.revealed(encoding.decode(request.old_inputs)) or self._split(kind, request.olds)[0]
        found = _reported(context, lambda: kind.diff(old, values.revealed(encoding.decode(request.news))))
        return _difference(found, list(request.ignoreChanges))

    def Create(self, request: Any, context: Any) -> Any:
        """Make a resource, or say what a preview can know of it."""
        kind = self._kind(request.urn, context)
        given = encoding.decode(request.properties)
        inputs = values.revealed(given)
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
        given = encoding.decode(request.inputs)
        inputs, outputs = self._split(kind, request.properties)
        known = values.revealed(given) or inputs
        found = _reported(context, lambda: kind.read(self._run(request), request.id, known, outputs))
        if found is None:
            return provider_pb2.ReadResponse(id="")
        live, fresh = found
        kept = values.hidden(live, given or encoding.decode(request.properties), kind.hidden(live))
        state = self._state(kind, kept, live, fresh)
        return provider_pb2.ReadResponse(id=request.id, inputs=encoding.encode(kept), properties=state)

    def Update(self, request: Any, context: Any) -> Any:
        """Change a resource, or say what a preview can know of it."""
        kind = self._kind(request.urn, context)
        given = encoding.decode(request.news)
        new = values.revealed(given)
        inputs, outputs = self._split(kind, request.olds)
        old = values.revealed(encoding.decode(request.old_inputs)) or inputs
        if request.preview:
            fresh = _reported(context, lambda: kind.preview(old, outputs, new))
            if words := _reported(context, lambda: kind.remark(old, new)):
                self._log.remark(request.urn, words)
        else:
            fresh = self._attempt(context, kind, given, lambda: kind.update(self._run(request), old, outputs, new))
        return provider_pb2.UpdateResponse(properties=self._state(kind, given, new, fresh))

    def Delete(self, request: Any, context: Any) -> Any:
        """Take a resource away."""
        kind = self._kind(request.urn, context)
        inputs, outputs = self._split(kind, request.properties)
        inputs = values.revealed(encoding.decode(request.old_inputs)) or inputs
        _reported(context, lambda: kind.delete(self._run(request), inputs, outputs))
        return Empty()

    def _kind(self, urn: str, context: Any) -> Resource:
        token = type_of(urn)
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
            status=lambda text: self._log.status(urn, text),
            warn=lambda text: self._log.warn(urn, text),
        )

    def _split(self, kind: Resource, properties: Struct) -> tuple[Values, Values]:
        """Divide a state into inputs and outputs."""
        state = values.revealed(encoding.decode(properties))
        inputs = {name: value for name, value in state.items() if name in kind.declaration.inputs}
        return inputs, {name: value for name, value in state.items() if name in kind.declaration.outputs}

    def _state(self, kind: Resource, given: Values, inputs: Values, outputs: Values) -> Struct:
        return encoding.encode({**values.hidden(kind.shown(inputs), given, kind.hidden(inputs)), **outputs})

    def _attempt(self, context: Any, kind: Resource, given: Values, action: Any) -> Any:
        """Act; when something exists although not all went well, let the engine keep it in its state."""
        try:
            return _reported(context, action)
        except PartialError as error:
            inputs = values.revealed(given)
            detail = provider_pb2.ErrorResourceInitFailed(
                id=error.id,
                properties=self._state(kind, given, inputs, error.outputs),
                reasons=[error.reason],
                inputs=encoding.encode(given),
            )
            status = Status(code=grpc.StatusCode.UNKNOWN.value[0], message=error.reason)
            status.details.add().Pack(detail)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.UNKNOWN, error.reason)
            raise


def _resources() -> Mapping[str, Resource]:
    kinds = (WorkerScript, ContainerApplication, RegistryImage)
    return {kind.declaration.token: kind() for kind in kinds}


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
    told = ((path, values.discreet(text, path, news, olds)) for path, text in problems)
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
