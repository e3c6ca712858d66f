"""The stand-in's gRPC service: maps the engine's calls to the table's rows.

Previews and configuration make no call; a creation, an update and a deletion make one; a refresh reads each resource
once and an import twice, as the real plugin does.
"""

import json
import os
import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2

from components.pulumi_protocol.encoding import decode, encode
from components.pulumi_protocol.engine_log import EngineLog
from components.pulumi_protocol.names import type_of
from components.pulumi_protocol.provider_service import ProviderService
from components.pulumi_protocol.values import Secret, is_known, revealed, without_nulls

from . import decisions
from .client import (
    CallError,
    Client,
    DeserializationError,
    RefusedUrlError,
    RetryPolicy,
    SilentError,
    StoppedError,
    checked_url,
)
from .functions import FUNCTIONS
from .kinds import Kind, Reading, Values
from .table import KINDS, VERSION

Result = TypeVar("Result")

STAND_IN: Final = (
    f"a stand-in for pulumi-resource-cloudflare {VERSION} is used; it works on the emulator at {{url}} only"
)
_TOKEN: Final = re.compile(r"[0-9A-Za-z_-]{40,80}")
_SETTINGS: Final = ("apiToken", "baseUrl", "version")
_MALFORMED: Final = (
    'Attribute api_token API tokens must be 40 to 80 characters and only contain "a-z", "A-Z", "0-9", "-" and "_"'
)
_UNCONFIGURED: Final = "no API token is configured: set CLOUDFLARE_API_TOKEN or cloudflare:apiToken"
_GONE: Final = "Resource not found: it was not found on the server and will be removed from state"
_TOLD: Final = (
    CallError,
    DeserializationError,
    RefusedUrlError,
    SilentError,
    StoppedError,
    decisions.RefusedError,
    ValueError,
)
_KINDS: Final = provider_pb2.PropertyDiff.Kind


class Service(ProviderService):
    """Serves one engine."""

    version = VERSION

    def __init__(self, log: EngineLog, retry: RetryPolicy | None = None) -> None:
        super().__init__(log)
        self._retry = retry
        self._client: Client | None = None
        self._introduced = False

    def Handshake(self, request: Any, context: Any) -> Any:
        """Agree on what both sides understand."""
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=False)

    def GetSchema(self, request: Any, context: Any) -> Any:
        """Return a schema without contents: programs use the SDK, which has them."""
        return provider_pb2.GetSchemaResponse(schema=json.dumps({"name": "cloudflare", "version": VERSION}))

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """Take token and address; the token is a secret whatever the program says."""
        given = properties_of(request.news)
        failures = [
            provider_pb2.CheckFailure(property=name, reason=f"the stand-in knows only {', '.join(_SETTINGS[:2])}")
            for name in given
            if name not in _SETTINGS
        ]
        if "apiToken" in given:
            given["apiToken"] = Secret(given["apiToken"])
        return provider_pb2.CheckResponse(inputs=encode(given), failures=failures)

    def Configure(self, request: Any, context: Any) -> Any:
        """Refuse every address but loopback; say once what this is."""
        given = properties_of(request.args)
        token = given.get("apiToken") or os.environ.get("CLOUDFLARE_API_TOKEN", "")
        url = given.get("baseUrl") or os.environ.get("CLOUDFLARE_BASE_URL", "")
        if is_known([token, url]):
            self._client = _reported(context, lambda: self._connected(url, token))
            if not self._introduced:
                self._introduced = True
                self._log.info(STAND_IN.format(url=url))
        return provider_pb2.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def _connected(self, url: str, token: str) -> Client:
        address = checked_url(url, VERSION)
        if not token:
            raise decisions.RefusedError(_UNCONFIGURED)
        if not _TOKEN.fullmatch(token):
            raise decisions.RefusedError(_MALFORMED)
        return Client(address, token, self._retry)

    def stop(self) -> None:
        """End all waits."""
        if self._client is not None:
            self._client.stop()

    def Invoke(self, request: Any, context: Any) -> Any:
        """Run a function, in previews too."""
        if request.tok not in FUNCTIONS:
            context.abort(grpc.StatusCode.NOT_FOUND, f"the stand-in has no function {request.tok}")
        arguments = properties_of(request.args)
        result = _reported(context, lambda: FUNCTIONS[request.tok](self._api(), arguments))
        return provider_pb2.InvokeResponse(**{"return": encode(result)})

    def Check(self, request: Any, context: Any) -> Any:
        """Report what is wrong with the program's values; they are recorded as they are."""
        kind = self._kind(request.urn, context)
        found = decisions.failures(kind, properties_of(request.news))
        failures = [provider_pb2.CheckFailure(property=name, reason=reason) for name, reason in found]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare the state with what the program says."""
        kind = self._kind(request.urn, context)
        changes = decisions.differences(kind, properties_of(request.olds), properties_of(request.news))
        replaces = decisions.replacing(kind, changes)
        response = provider_pb2.DiffResponse
        detailed = {
            name: provider_pb2.PropertyDiff(
                kind=_KINDS.Value(change.upper() + ("_REPLACE" if name in replaces else "")), inputDiff=True
            )
            for name, change in changes.items()
        }
        return response(
            changes=response.DIFF_SOME if changes else response.DIFF_NONE,
            replaces=sorted(replaces),
            diffs=sorted(changes),
            detailedDiff=detailed,
            hasDetailedDiff=True,
        )

    def Create(self, request: Any, context: Any) -> Any:
        """Make a resource with one call, or say what a preview can know of it."""
        kind = self._kind(request.urn, context)
        wanted = decisions.planned(kind, properties_of(request.properties))
        if request.preview:
            return provider_pb2.CreateResponse(properties=encode(decisions.preview(kind, wanted, None)))
        made, state = _reported(context, lambda: self._create(kind, wanted))
        return provider_pb2.CreateResponse(id=made, properties=encode(decisions.recorded(kind, made, state)))

    def _create(self, kind: Kind, wanted: Values) -> tuple[str, Values]:
        method = kind.create[0]
        path = decisions.address(kind.create_path, wanted)
        body = decisions.creation(kind, wanted)
        answer = self._api().call(method, path, decisions.headers(kind, wanted), body).lenient()
        return decisions.identity(kind, wanted, answer), decisions.written(kind, wanted, {}, answer)

    def Update(self, request: Any, context: Any) -> Any:
        """Change a resource with one call, or say what a preview can know of it."""
        kind = self._kind(request.urn, context)
        state, former = properties_of(request.olds), properties_of(request.old_inputs)
        wanted = decisions.planned(kind, properties_of(request.news))
        if request.preview:
            shown = decisions.preview(kind, wanted, state)
        else:
            shown = _reported(context, lambda: self._update(kind, request.id, wanted, state, former))
        return provider_pb2.UpdateResponse(properties=encode(decisions.recorded(kind, request.id, shown)))

    def _update(self, kind: Kind, resource_id: str, wanted: Values, state: Values, former: Values) -> Values:
        path = decisions.address(kind.one_path, wanted, resource_id)
        body = decisions.change(kind, wanted, state, former)
        answer = self._api().call(kind.update, path, decisions.headers(kind, wanted, update=True), body).lenient()
        return decisions.written(kind, wanted, state, answer)

    def Read(self, request: Any, context: Any) -> Any:
        """Read a resource back; an empty id says that it is gone."""
        kind = self._kind(request.urn, context)
        state, former = properties_of(request.properties), properties_of(request.inputs)
        found = _reported(context, lambda: self._read(kind, request.id, state))
        if found is None:
            self._log.warn(request.urn, _GONE)
            return provider_pb2.ReadResponse(id="")
        own, fresh = found
        inputs = decisions.inputs_after_read(kind, fresh, former)
        return provider_pb2.ReadResponse(
            id=own, inputs=encode(inputs), properties=encode(decisions.recorded(kind, own, fresh))
        )

    def _read(self, kind: Kind, given: str, state: Values) -> tuple[str, Values] | None:
        own = given
        known = any(name in state for name in kind.inputs)
        if not known:
            said, own = decisions.imported(kind, given)
            state = decisions.planned(kind, said)
            self._get(kind, own, state)
        if kind.reading is Reading.NOTHING:
            return own, state
        answer = self._get(kind, own, state)
        if answer is None:
            return None
        return own, decisions.read(kind, state, answer) if kind.reading is Reading.WHOLE else state

    def _get(self, kind: Kind, resource_id: str, state: Values) -> Values | None:
        """Read a resource; None when there is none."""
        path = decisions.address(kind.one_path, state, resource_id)
        try:
            found = self._api().get(path, decisions.headers(kind, state)).strict()
        except CallError as error:
            if error.status == 404:
                return None
            raise
        return found if isinstance(found, dict) else {}

    def Delete(self, request: Any, context: Any) -> Any:
        """Take a resource away with one call, or none where the real plugin makes none."""
        kind = self._kind(request.urn, context)
        state = properties_of(request.properties)
        if kind.deletes:
            path = decisions.address(kind.one_path, state, request.id)
            headers = decisions.headers(kind, state)
            _reported(context, lambda: self._api().delete(path, headers, may_be_empty=kind.empty_delete))
        return Empty()

    def _kind(self, urn: str, context: Any) -> Kind:
        token = type_of(urn)
        if token not in KINDS:
            known = ", ".join(sorted(kind.name for kind in KINDS.values()))
            reason = f"this stand-in for pulumi-resource-cloudflare does not know {token}; it knows {known}"
            context.abort(grpc.StatusCode.NOT_FOUND, reason)
        return KINDS[token]

    def _api(self) -> Client:
        if self._client is None:
            raise decisions.RefusedError(_UNCONFIGURED)
        return self._client


def properties_of(properties: Struct) -> Values:
    """Read properties as they are without marks: the engine marks what goes out as secret by what went in."""
    found: Values = without_nulls(revealed(decode(properties)))
    return found


def _reported(context: Any, action: Callable[[], Result]) -> Result:
    """Act; what goes wrong is shown to the user as its text, without a traceback."""
    try:
        return action()
    except _TOLD as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
        raise
