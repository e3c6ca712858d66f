"""What the stand-in for the bridged plugin is tested with: a recorder before the emulator, and a driver over gRPC.

The recorder keeps every request with its body and passes it on; answers that the emulator would never give are put in
`canned`. The driver does what the engine does with one resource and keeps what the engine would keep.
"""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from components.pulumi_protocol.encoding import encode
from emulator.bridged_plugin.service import properties_of
from emulator.bridged_plugin.table import KINDS
from emulator.testing import Running

_LENGTHS = ("content-length", "transfer-encoding", "connection", "host")


@dataclass
class Request:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def call(self) -> tuple[str, str, Any]:
        return self.method, self.path, self.body


@dataclass
class Canned:
    """An answer that does not come from the emulator; status 0 drops the connection."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class Recorder:
    """Keeps requests and passes them on."""

    def __init__(self, emulator: Running) -> None:
        self.emulator = emulator
        self.requests: list[Request] = []
        self.canned: list[Canned] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                recorder.serve(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class's names

            def log_message(self, *_arguments: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/client/v4"

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        path = handler.path.removeprefix("/client/v4")
        self.requests.append(Request(handler.command, path, headers, json.loads(content) if content else None))
        if self.canned:
            self._answer(handler, self.canned.pop(0))
            return
        connection = http.client.HTTPConnection(self.emulator.origin.removeprefix("http://"), timeout=20)
        passed = {name: value for name, value in headers.items() if name not in _LENGTHS}
        connection.request(handler.command, handler.path, body=content or None, headers=passed)
        response = connection.getresponse()
        answer = Canned(response.status, response.read(), dict(response.headers.items()))
        connection.close()
        self._answer(handler, answer)

    def _answer(self, handler: BaseHTTPRequestHandler, answer: Canned) -> None:
        if not answer.status:
            handler.close_connection = True
            return
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in (*_LENGTHS, "date", "server"):
                handler.send_header(name, value)
        handler.send_header("content-length", str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)

    def say(self, result: Any, status: int = 200, **headers: str) -> None:
        """Answer the next request with a result."""
        body = json.dumps({"success": status < 400, "errors": [], "messages": [], "result": result}).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.canned.append(Canned(status, body, {"content-type": "application/json", **named}))

    def take(self) -> list[Request]:
        """Return the requests since the last time."""
        found, self.requests = self.requests, []
        return found

    def calls(self) -> list[tuple[str, str, Any]]:
        return [request.call for request in self.take()]


@contextmanager
def recording(emulator: Running) -> Iterator[Recorder]:
    recorder = Recorder(emulator)
    thread = threading.Thread(target=recorder.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield recorder
    recorder.server.shutdown()
    recorder.server.server_close()


class CheckFailedError(Exception):
    """Check refused the inputs."""

    def __init__(self, failures: Any) -> None:
        self.failures = {each.property: each.reason for each in failures}
        super().__init__(str(self.failures))


class Resource:
    """One resource as the engine handles it."""

    def __init__(self, stub: Any, kind: str) -> None:
        self.stub = stub
        token = next(token for token, row in KINDS.items() if row.name == kind)
        self.urn = f"urn:pulumi:test::small::{token}::it"
        self.id = ""
        self.inputs, self.properties = Struct(), Struct()

    @property
    def state(self) -> dict[str, Any]:
        return properties_of(self.properties)

    def check(self, inputs: dict[str, Any]) -> Struct:
        answer = self.stub.Check(provider_pb2.CheckRequest(urn=self.urn, news=encode(inputs)))
        if answer.failures:
            raise CheckFailedError(answer.failures)
        return answer.inputs

    def create(self, inputs: dict[str, Any]) -> "Resource":
        self.inputs = self.check(inputs)
        answer = self.stub.Create(provider_pb2.CreateRequest(urn=self.urn, properties=self.inputs))
        self.id, self.properties = answer.id, answer.properties
        return self

    def preview(self, inputs: dict[str, Any]) -> dict[str, Any]:
        news = self.check(inputs)
        if not self.id:
            request = provider_pb2.CreateRequest(urn=self.urn, properties=news, preview=True)
            return properties_of(self.stub.Create(request).properties)
        known = {"olds": self.properties, "old_inputs": self.inputs, "news": news}
        answer = self.stub.Update(provider_pb2.UpdateRequest(urn=self.urn, id=self.id, preview=True, **known))
        return properties_of(answer.properties)

    def diff(self, inputs: dict[str, Any] | None = None) -> dict[str, str]:
        """The properties that differ, each with its kind of change."""
        news = self.inputs if inputs is None else self.check(inputs)
        known = {"olds": self.properties, "old_inputs": self.inputs, "news": news}
        answer = self.stub.Diff(provider_pb2.DiffRequest(urn=self.urn, id=self.id, **known))
        kinds = provider_pb2.PropertyDiff.Kind
        found = {name: kinds.Name(each.kind) for name, each in answer.detailedDiff.items()}
        assert (answer.changes == provider_pb2.DiffResponse.DIFF_SOME) is bool(found)
        assert list(answer.replaces) == sorted(name for name, kind in found.items() if kind.endswith("_REPLACE"))
        assert not answer.deleteBeforeReplace
        return found

    def update(self, inputs: dict[str, Any]) -> None:
        news = self.check(inputs)
        known = {"olds": self.properties, "old_inputs": self.inputs, "news": news}
        answer = self.stub.Update(provider_pb2.UpdateRequest(urn=self.urn, id=self.id, **known))
        self.inputs, self.properties = news, answer.properties

    def refresh(self) -> bool:
        """Read it back; whether it still exists."""
        request = provider_pb2.ReadRequest(urn=self.urn, id=self.id, properties=self.properties, inputs=self.inputs)
        answer = self.stub.Read(request)
        if answer.id:
            assert answer.id == self.id
            self.inputs, self.properties = answer.inputs, answer.properties
        return bool(answer.id)

    def imported(self, import_id: str) -> "Resource":
        answer = self.stub.Read(provider_pb2.ReadRequest(urn=self.urn, id=import_id))
        self.id, self.inputs, self.properties = answer.id, answer.inputs, answer.properties
        return self

    def delete(self) -> None:
        self.stub.Delete(provider_pb2.DeleteRequest(urn=self.urn, id=self.id, properties=self.properties))


def connect(address: str) -> Any:
    return provider_pb2_grpc.ResourceProviderStub(grpc.insecure_channel(address))


def configure(stub: Any, **config: Any) -> Any:
    return stub.Configure(provider_pb2.ConfigureRequest(args=encode(config)))


def is_secret(properties: Struct, name: str) -> bool:
    """Whether a property is marked as a secret in Pulumi's protocol."""
    mark = properties.fields[name].struct_value.fields["4dabf18193072939515e22adb298388d"]
    return bool(mark.string_value == "1b47061264138c4ac30d75fd1eb44270")
