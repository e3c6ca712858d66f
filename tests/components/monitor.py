"""Runs a program without an engine and gives back everything it registered.

`deploy(program)` returns a `Recorded`: every resource with its exact inputs, options and dependencies as they went over
the wire, the outputs that components registered, the functions called and the messages logged. Each run has a context
of its own, so that one test never sees the stack of another. A function nobody gave an answer for fails the run.
"""

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
from google.protobuf import empty_pb2
from pulumi import _types
from pulumi.runtime import rpc, settings
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.proto import engine_pb2, resource_pb2
from pulumi.runtime.stack import run_in_stack

STACK_TYPE = "pulumi:pulumi:Stack"
UNKNOWN = "<unknown>"
Properties = dict[str, Any]
Answer = Callable[[Properties], Properties]


@dataclass
class Registered:
    """One resource as it was registered."""

    urn: str
    type: str
    name: str
    parent: str
    """Name of the parent."""
    custom: bool
    inputs: Properties
    """In wire names, secrets revealed, unknown values as `UNKNOWN`."""
    secret_inputs: frozenset[str]
    """Inputs that are secret or hold a secret."""
    protect: bool
    dependencies: frozenset[str]
    """Names of the resources it waits for, through values or `depends_on`."""
    input_dependencies: dict[str, frozenset[str]]
    """By input: names of the resources whose values are in it."""
    options: Properties
    """Other options that were set, by their wire name."""
    request: Any
    """As it went over the wire."""
    outputs: list[Properties] = field(default_factory=list)
    """What a component registered as outputs, once per call."""
    secret_outputs: frozenset[str] = frozenset()


@dataclass
class Recorded:
    """Everything a program did."""

    resources: list[Registered] = field(default_factory=list)
    calls: list[tuple[str, Properties]] = field(default_factory=list)
    invokes: list[Any] = field(default_factory=list)
    """The calls as they went over the wire."""
    warnings: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[Registered]:
        """Resources whose type is, or ends in, this one: `R2Bucket` finds `cloudflare:index/r2Bucket:R2Bucket`."""
        return [each for each in self.resources if each.type == kind or each.type.endswith(f":{kind}")]

    def one(self, kind: str, name: str | None = None) -> Registered:
        """The only resource of a type, or the one of this name; fails if there is not exactly one."""
        found = [each for each in self.of(kind) if name in (None, each.name)]
        assert len(found) == 1, f"{len(found)} of {kind} {name or ''} among {self.names()}"
        return found[0]

    def names(self) -> list[str]:
        """Short type and name of every resource but the stack, sorted."""
        kept = [each for each in self.resources if each.type != STACK_TYPE]
        return sorted(f"{each.type.rpartition(':')[2]} {each.name}" for each in kept)

    @property
    def exports(self) -> Properties:
        """What the program exported."""
        return self.one(STACK_TYPE).outputs[-1]


def deploy(
    program: Callable[[], object],
    *,
    answers: Mapping[str, Answer] | None = None,
    stack: str = "test",
    preview: bool = False,
) -> Recorded:
    """Run a program.

    `answers` gives, by type or function token, what the provider adds to the inputs. In a preview resources have
    neither id nor computed outputs, as on the real engine. An exception in the program is raised here.
    """
    recorded = Recorded()
    monitor = Monitor(recorded, answers or {}, preview=preview)

    def run() -> None:
        settings.ROOT.set(None)
        settings.configure(
            settings.Settings(project="project", stack=stack, monitor=monitor, engine=Engine(recorded), dry_run=preview)
        )
        with asyncio.Runner() as runner:
            # The first exception ends the run and is raised; what else failed because of it is only noise.
            runner.get_loop().set_exception_handler(lambda _loop, _context: None)
            runner.run(run_in_stack(lambda: (program(), None)[1]))

    contextvars.copy_context().run(run)
    return recorded


def unknown_inputs(resource: Registered, package: Any) -> list[str]:
    """Paths of inputs that the SDK's own `Args` class of the type does not have; mocks accept anything."""
    args = getattr(package, f"{resource.type.rpartition(':')[2]}Args")
    return list(_strange(resource.inputs, args, ""))


class Monitor(MockMonitor):
    """Takes registrations and keeps them whole."""

    def __init__(self, recorded: Recorded, answers: Mapping[str, Answer], *, preview: bool) -> None:
        super().__init__(None)
        self.recorded = recorded
        self.answers = answers
        self.preview = preview
        self.by_urn: dict[str, Registered] = {}

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        registered = self._registered(request)
        assert registered.urn not in self.by_urn, f"{registered.urn} is registered twice"
        self.by_urn[registered.urn] = registered
        self.recorded.resources.append(registered)
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=registered.urn)
        state = rpc.deserialize_properties(request.object, keep_unknowns=True)
        if not self.preview:
            state |= self.answers.get(request.type, lambda _: {})(registered.inputs)
            state |= {key: rpc.wrap_rpc_secret(state[key]) for key in request.additionalSecretOutputs if key in state}
        return resource_pb2.RegisterResourceResponse(
            urn=registered.urn, id="" if self.preview else f"{request.name}-id", object=_encoded(state)
        )

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        outputs = rpc.deserialize_properties(request.outputs, keep_unknowns=True)
        registered = self.by_urn[request.urn]
        registered.outputs.append({key: _revealed(value) for key, value in outputs.items()})
        registered.secret_outputs = _secret_keys(outputs)
        return empty_pb2.Empty()

    def Invoke(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        args = rpc.deserialize_properties(request.args)
        self.recorded.calls.append((request.tok, args))
        self.recorded.invokes.append(request)
        assert request.tok in self.answers, f"no answer for the function {request.tok}"
        return resource_pb2.ResourceInvokeResponse(**{"return": _encoded(self.answers[request.tok](args))})

    def _registered(self, request: Any) -> Registered:
        inputs = rpc.deserialize_properties(request.object, keep_unknowns=True)
        plain = (
            "replaceOnChanges",
            "ignoreChanges",
            "deletedWith",
            "retainOnDelete",
            "additionalSecretOutputs",
            "importId",
        )
        options = {key: _plain(getattr(request, key)) for key in plain if getattr(request, key)}
        if request.deleteBeforeReplaceDefined:
            options["deleteBeforeReplace"] = request.deleteBeforeReplace
        if request.aliases:
            options["aliases"] = [str(alias) for alias in request.aliases]
        return Registered(
            urn=self.make_urn(request.parent, request.type, request.name),
            type=request.type,
            name=request.name,
            parent=_name(request.parent),
            custom=request.custom,
            inputs={key: _revealed(value) for key, value in inputs.items()},
            secret_inputs=_secret_keys(inputs),
            protect=bool(request.protect),
            dependencies=frozenset(map(_name, request.dependencies)),
            input_dependencies={
                key: frozenset(map(_name, each.urns)) for key, each in request.propertyDependencies.items() if each.urns
            },
            options=options,
            request=request,
        )


class Engine:
    """Takes log messages."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded

    def Log(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        if request.severity == engine_pb2.WARNING:
            self.recorded.warnings.append(request.message)
        return empty_pb2.Empty()


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, bool)) else list(value)


def _encoded(properties: Properties) -> Any:
    async def encode() -> Any:
        return await rpc.serialize_properties(properties, {})

    return asyncio.run(encode())


def _secret_keys(properties: Properties) -> frozenset[str]:
    # The SDK moves the mark of a nested secret up to the property that holds it.
    return frozenset(key for key, value in properties.items() if rpc.is_rpc_secret(value))


def _revealed(value: Any) -> Any:
    if rpc.is_rpc_secret(value):
        return _revealed(rpc.unwrap_rpc_secret(value))
    if isinstance(value, pulumi.output.Unknown):
        return UNKNOWN
    if isinstance(value, dict):
        return {key: _revealed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_revealed(item) for item in value]
    return value


def _strange(value: Any, kind: Any, path: str) -> Iterator[str]:
    if isinstance(value, list):
        inner = _types.unwrap_type(getattr(kind, "__args__", (object,))[0])
        for index, item in enumerate(value):
            yield from _strange(item, inner, f"{path}[{index}]")
    elif isinstance(value, dict) and isinstance(kind, type) and _types.is_input_type(kind):
        known = _types.input_type_types(kind)
        for key, item in value.items():
            where = f"{path}.{key}".lstrip(".")
            yield from _strange(item, known[key], where) if key in known else (where,)
