"""Drives the plugin over gRPC the way the engine does, without an engine: fast enough for hundreds of runs.

`Stack` keeps what the engine would keep in its state: checked inputs, properties and whether the last operation left
the resource incomplete. An `up` checks, compares, then creates, updates, replaces or deletes; what fails is raised.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc
from pulumi.runtime.proto.status_pb2 import Status

from components.pulumi_protocol import encoding, values

PREFIX = "urn:pulumi:test::small::cloudflare-sandbox:index:"
SCRIPT, APPLICATION, IMAGE = "WorkerScript", "ContainerApplication", "RegistryImage"


class CheckFailedError(Exception):
    """Check refused the inputs: property and reason of each failure."""

    def __init__(self, failures: Any) -> None:
        self.failures = [(each.property, each.reason) for each in failures]
        super().__init__("; ".join(reason for _, reason in self.failures))


@dataclass
class Kept:
    """What the state has of a resource."""

    id: str
    inputs: Struct
    properties: Struct
    incomplete: bool = False

    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = values.revealed(encoding.decode(self.properties))
        return found


class Plugin:
    """The plugin at an address."""

    def __init__(self, address: str, config: Mapping[str, Any]) -> None:
        self.channel = grpc.insecure_channel(address)
        self.stub = provider_pb2_grpc.ResourceProviderStub(self.channel)
        self.config = dict(config)

    def configured(self) -> "Plugin":
        self.stub.Handshake(provider_pb2.ProviderHandshakeRequest())
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encoding.encode(self.config), acceptSecrets=True))
        return self

    def check(self, kind: str, name: str, news: Mapping[str, Any], olds: Struct | None = None) -> Struct:
        request = provider_pb2.CheckRequest(urn=urn(kind, name), news=encoding.encode(news), olds=olds)
        answer = self.stub.Check(request)
        if answer.failures:
            raise CheckFailedError(answer.failures)
        return answer.inputs

    def diff(self, kind: str, name: str, kept: Kept, inputs: Struct) -> Any:
        return self.stub.Diff(
            provider_pb2.DiffRequest(
                urn=urn(kind, name), id=kept.id, olds=kept.properties, old_inputs=kept.inputs, news=inputs
            )
        )


def urn(kind: str, name: str) -> str:
    return f"{PREFIX}{kind}::{name}"


def failed(error: grpc.RpcError) -> provider_pb2.ErrorResourceInitFailed | None:
    """What the engine is told exists although the call failed."""
    trailing = dict(error.trailing_metadata() or ())
    if "grpc-status-details-bin" not in trailing:
        return None
    status = Status.FromString(trailing["grpc-status-details-bin"])
    detail = provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(detail)
    return detail


@dataclass
class Stack:
    """A stack of resources, in the order in which they depend on each other."""

    plugin: Plugin
    state: dict[tuple[str, str], Kept] = field(default_factory=dict)
    timeout: float = 20

    def up(self, *program: tuple[str, str, Mapping[str, Any]]) -> list[str]:
        """Bring the resources to what the program says and delete the others; return the operations that were done."""
        done = [self.bring(*each) for each in program]
        wanted = {(kind, name) for kind, name, _ in program}
        for key in [key for key in reversed(list(self.state)) if key not in wanted]:
            self._delete(*key)
            done.append("delete")
        return done

    def bring(self, kind: str, name: str, news: Mapping[str, Any]) -> str:
        """Bring one resource to what the program says; return the operation that was done."""
        kept = self.state.get((kind, name))
        inputs = self.plugin.check(kind, name, news, kept.inputs if kept else None)
        if kept is None:
            self._create(kind, name, inputs)
            return "create"
        difference = self.plugin.diff(kind, name, kept, inputs)
        if difference.replaces:
            assert difference.deleteBeforeReplace or kind in (SCRIPT, IMAGE)
            self._replace(kind, name, inputs, delete_first=difference.deleteBeforeReplace)
            return "replace"
        if difference.changes == provider_pb2.DiffResponse.DIFF_SOME or kept.incomplete:
            self._update(kind, name, kept, inputs)
            return "update"
        kept.inputs = inputs
        return "same"

    def _replace(self, kind: str, name: str, inputs: Struct, *, delete_first: bool) -> None:
        if delete_first:
            self._delete(kind, name)
            self._create(kind, name, inputs)
            return
        old = self.state.pop((kind, name))
        self._create(kind, name, inputs)
        self.state[kind, f"{name} (old)"] = old
        self._delete(kind, f"{name} (old)", real=name)

    def _create(self, kind: str, name: str, inputs: Struct) -> None:
        request = provider_pb2.CreateRequest(urn=urn(kind, name), properties=inputs, timeout=self.timeout)
        try:
            answer = self.plugin.stub.Create(request)
        except grpc.RpcError as error:
            self._keep(kind, name, error)
            raise
        self.state[kind, name] = Kept(answer.id, inputs, answer.properties)

    def _keep(self, kind: str, name: str, error: grpc.RpcError) -> None:
        detail = failed(error)
        if detail is not None:
            self.state[kind, name] = Kept(detail.id, detail.inputs, detail.properties, incomplete=True)

    def _update(self, kind: str, name: str, kept: Kept, inputs: Struct) -> None:
        request = provider_pb2.UpdateRequest(
            urn=urn(kind, name),
            id=kept.id,
            olds=kept.properties,
            old_inputs=kept.inputs,
            news=inputs,
            timeout=self.timeout,
        )
        try:
            answer = self.plugin.stub.Update(request)
        except grpc.RpcError as error:
            self._keep(kind, name, error)
            raise
        self.state[kind, name] = Kept(kept.id, inputs, answer.properties)

    def _delete(self, kind: str, name: str, real: str = "") -> None:
        kept = self.state[kind, name]
        self.plugin.stub.Delete(
            provider_pb2.DeleteRequest(
                urn=urn(kind, real or name),
                id=kept.id,
                properties=kept.properties,
                old_inputs=kept.inputs,
                timeout=self.timeout,
            )
        )
        del self.state[kind, name]

    def destroy(self) -> None:
        for key in reversed(list(self.state)):
            self._delete(*key)

    def refresh(self) -> list[str]:
        """Read everything back; return the paths that differ from the state."""
        found = []
        for (kind, name), kept in list(self.state.items()):
            answer = self.read(kind, name, kept.id, kept)
            if not answer.id:
                found.append(f"{name}: gone")
                del self.state[kind, name]
                continue
            for field_name in ("inputs", "properties"):
                before, after = encoding.decode(getattr(kept, field_name)), encoding.decode(getattr(answer, field_name))
                found += [
                    f"{name}.{field_name}.{key}"
                    for key in before.keys() | after.keys()
                    if before.get(key) != after.get(key)
                ]
            self.state[kind, name] = Kept(kept.id, answer.inputs, answer.properties)
        return sorted(found)

    def read(self, kind: str, name: str, resource_id: str, kept: Kept | None = None) -> Any:
        request = provider_pb2.ReadRequest(urn=urn(kind, name), id=resource_id)
        if kept is not None:
            request.inputs.CopyFrom(kept.inputs)
            request.properties.CopyFrom(kept.properties)
        return self.plugin.stub.Read(request)

    def take(self, kind: str, name: str, resource_id: str) -> None:
        """Import a resource."""
        answer = self.read(kind, name, resource_id)
        assert answer.id == resource_id
        self.state[kind, name] = Kept(answer.id, answer.inputs, answer.properties)

    def outputs(self, kind: str, name: str) -> dict[str, Any]:
        return self.state[kind, name].outputs()

    def text(self) -> str:
        """All that the state holds, as the engine would write it before encryption."""
        from google.protobuf.json_format import MessageToDict  # noqa: PLC0415

        return json.dumps(
            [[MessageToDict(kept.inputs), MessageToDict(kept.properties)] for kept in self.state.values()]
        )
