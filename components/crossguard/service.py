"""The policy pack as the engine sees it: a gRPC server for the service `Analyzer`.

It stands on that service and not on Pulumi's policy SDK, which decodes every resource anew for every policy: with a
policy for each rule that adds seconds to a preview of 500 resources. Here each is decoded once, if a rule looks at it.
What a call costs besides is gRPC's own work, so nothing is served that need not be.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import methodcaller
from typing import Any, Final

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, plugin_pb2

from ..facts.stack import Stack
from ..pulumi_protocol import serving
from ..pulumi_protocol.encoding import decode
from ..rules import ADVISORY, MANDATORY
from ..rules.finding import OFF
from ..version import VERSION
from . import facts
from .facts import BRIDGED
from .pack import NAME, ConfigError, Pack, Report, Setting, policies
from .resource import Resource

_LEVELS: Final = {
    analyzer_pb2.ADVISORY: ADVISORY,
    analyzer_pb2.MANDATORY: MANDATORY,
    analyzer_pb2.REMEDIATE: MANDATORY,  # nothing is changed on its own: what is wrong stops the run
    analyzer_pb2.DISABLED: OFF,
}
_THREADS: Final = 1  # the engine asks for one resource at a time; more threads only wait for each other
_SERVICE: Final = "pulumirpc.Analyzer"
_TAKES: Final[Mapping[str, Any]] = {
    "GetPluginInfo": empty_pb2.Empty,
    "GetAnalyzerInfo": empty_pb2.Empty,
    "Configure": analyzer_pb2.ConfigureAnalyzerRequest,
    "ConfigureStack": analyzer_pb2.AnalyzerStackConfigureRequest,
    "Analyze": analyzer_pb2.AnalyzeRequest,
    "AnalyzeStack": analyzer_pb2.AnalyzeStackRequest,
    "Cancel": empty_pb2.Empty,
}
"""What is served. `Remediate` is not: the engine asks it of every resource and takes "not implemented" for "nothing to
change", which gRPC says by itself without reading the resource."""
_NOTHING_FOUND: Final = analyzer_pb2.AnalyzeResponse()


class Analyzer:
    """Answers the engine."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:
        info = analyzer_pb2.AnalyzerInfo(name=NAME, version=VERSION, supportsConfig=True)
        for each in policies():
            said = info.policies.add(
                name=each.name,
                displayName=each.title,
                description=each.text,
                enforcementLevel=_wire_level(each.level),
                remediation_steps=each.remedy,
                url=each.link,
            )
            if each.schema:
                said.configSchema.properties.update(each.schema)
        return info

    def Configure(self, request: Any, context: Any) -> Any:
        given = {
            name: Setting(_LEVELS[each.enforcementLevel], decode(each.properties))
            for name, each in request.policyConfig.items()
        }
        try:
            self.pack = Pack(self.pack.today, given, self.pack.ask)
        except ConfigError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the configuration of the policies is wrong:\n{error}")
        return empty_pb2.Empty()

    def ConfigureStack(self, request: Any, context: Any) -> Any:
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: Any, context: Any) -> Any:
        if request.type not in facts.TELLING:
            return _NOTHING_FOUND
        return _answer(self.pack.on_resource(_resource(request, request.options.parent)))

    def AnalyzeStack(self, request: Any, context: Any) -> Any:
        asks = self.pack.asks
        kept = [_resource(each, each.parent) for each in request.resources if _matters(each.type, asks=asks)]
        return _answer(self.pack.on_stack(kept))

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()


def _ask(resources: Sequence[Resource]) -> Callable[[Stack], Stack]:
    from .asking import ask  # noqa: PLC0415 - loads a client that a pack which asks nobody need not have

    return ask(resources, os.environ)


def _matters(type_: str, *, asks: bool) -> bool:
    # Components lead from a resource to the stack it is part of, and an image to the application that runs it. What
    # the token has to be allowed follows from every resource of the account.
    return type_ in facts.TYPES or type_.startswith("cloudflare-sandbox:index:") or (asks and type_.startswith(BRIDGED))


def _resource(said: Any, parent: str) -> Resource:
    dependencies = getattr(said, "propertyDependencies", {})
    return Resource(
        type=said.type,
        name=said.name,
        urn=said.urn,
        properties=decode(said.properties),
        protected=said.options.protect,
        parent=parent,
        dependencies={key: tuple(each.urns) for key, each in dependencies.items()},
    )


def _answer(reports: Iterable[Report]) -> Any:
    response = analyzer_pb2.AnalyzeResponse()
    for each in reports:
        response.diagnostics.add(
            policyName=each.policy,
            policyPackName=NAME,
            policyPackVersion=VERSION,
            description=each.title,
            message=each.text,
            enforcementLevel=_wire_level(each.level),
            urn=each.urn,
        )
    return response


def _wire_level(level: str) -> Any:
    return analyzer_pb2.MANDATORY if level == MANDATORY else analyzer_pb2.ADVISORY


def handlers(analyzer: Analyzer) -> grpc.GenericRpcHandler:
    """Return what a server needs to let this analyzer answer."""
    served = {
        name: grpc.unary_unary_rpc_method_handler(
            getattr(analyzer, name),
            request_deserializer=takes.FromString,
            response_serializer=methodcaller("SerializeToString"),
        )
        for name, takes in _TAKES.items()
    }
    return grpc.method_handlers_generic_handler(_SERVICE, served)


def serve() -> None:
    """Serve until a signal comes."""
    served = handlers(Analyzer(Pack(datetime.now(UTC).date(), ask=_ask)))
    serving.serve(lambda server: server.add_generic_rpc_handlers((served,)), threads=_THREADS)
