"""The plugin as a process, its schema, the encoding of values and its Python classes."""

import ast
import itertools
import json
import signal
import subprocess
import sys
import typing
import venv
import zipfile
from pathlib import Path

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime.proto import provider_pb2

from components.cloudflare import sandbox
from components.provider import schema
from components.pulumi_protocol import encoding
from components.pulumi_protocol.names import camel
from components.pulumi_protocol.values import UNKNOWN, Secret, hidden, revealed
from components.version import VERSION
from testbed.orphans import seconds_alone
from testbed.plugin.account import Cloud
from testbed.plugin.driver import Plugin, Stack
from tests.components.provider.process import EXECUTABLE, ROOT, Process
from tests.plugins import assert_ends_at_once_and_silently, cpu_seconds


def test_the_schema_that_is_served_is_the_one_that_was_reviewed(plugin: Plugin):
    assert schema.FILE.read_text() == schema.text(), "run `python -m components.provider.schema` and review the change"
    assert plugin.stub.GetSchema(provider_pb2.GetSchemaRequest()).schema == schema.text()
    assert plugin.stub.GetPluginInfo(Empty()).version == VERSION


def test_every_type_the_schema_refers_to_is_in_it():
    text = json.loads(schema.text())
    named = {part.split('"')[0] for part in schema.text().split("#/types/")[1:]}
    assert named == set(text["types"])


@pytest.mark.parametrize(
    ("arguments", "properties"),
    [
        (sandbox.WorkerScriptArgs, sandbox.WorkerScript.declaration.inputs),
        (sandbox.ContainerApplicationArgs, sandbox.ContainerApplication.declaration.inputs),
        (sandbox.RegistryImageArgs, sandbox.RegistryImage.declaration.inputs),
    ],
)
def test_python_arguments_are_those_of_the_schema(arguments: type, properties: typing.Any):
    assert {camel(name) for name in arguments.__annotations__} == set(properties)
    required = arguments.__required_keys__  # type: ignore[attr-defined]
    assert {camel(name) for name in required} == {name for name, each in properties.items() if each.required}


@pytest.mark.parametrize("kind", [sandbox.WorkerScript, sandbox.ContainerApplication, sandbox.RegistryImage])
def test_python_outputs_are_those_of_the_schema(kind: typing.Any):
    own = {camel(name) for name in kind.__annotations__}
    told = {name for name, each in kind.declaration.inputs.items() if each.required}
    assert own >= set(kind.declaration.outputs)
    assert own - set(kind.declaration.outputs) <= told, "beside its outputs a resource has what it must be told"


def test_every_argument_and_output_is_described():
    for kind in ast.walk(ast.parse(Path(sandbox.__file__).read_text())):
        if isinstance(kind, ast.ClassDef) and not kind.name.startswith("_"):
            for each, following in itertools.pairwise(kind.body):
                described = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
                assert described or not isinstance(each, ast.AnnAssign), f"{kind.name}: {ast.unparse(each)}"


@pytest.mark.parametrize("read", [True, False], ids=["after it was started", "while it starts"])
def test_it_leaves_when_who_started_it_is_gone(read: bool):
    """An engine that is killed sends no signal."""
    assert seconds_alone([str(EXECUTABLE), "127.0.0.1:1"], read=read) < 20


values = st.recursive(
    st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=5) | st.just(UNKNOWN),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
        | inner.map(Secret)
    ),
)


@given(st.dictionaries(st.text("abc", min_size=1), values, max_size=3))
def test_values_survive_encoding(properties: dict[str, typing.Any]):
    assert encoding.decode(encoding.encode(properties)) == properties


@given(st.dictionaries(st.text("abc", min_size=1), values, max_size=3))
def test_secrets_stay_secret(properties: dict[str, typing.Any]):
    plain = revealed(properties)
    again = hidden(plain, properties)
    assert revealed(again) == plain
    assert _exposed(again) <= _exposed(properties)


def _exposed(value: typing.Any, path: tuple[typing.Any, ...] = ()) -> set[tuple[typing.Any, ...]]:
    """Paths of values that are not secret."""
    if isinstance(value, Secret):
        return set()
    if isinstance(value, dict):
        return {found for key, each in value.items() for found in _exposed(each, (*path, key))}
    if isinstance(value, list):
        return {found for index, each in enumerate(value) for found in _exposed(each, (*path, index))}
    return {path}


def test_the_plugin_is_ready_in_half_a_second(cloud: Cloud):
    assert cpu_seconds(lambda: Process(cloud).kill()) < 0.5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_plugin_ends_at_once_and_silently(number: int, cloud: Cloud):
    assert_ends_at_once_and_silently(Process(cloud).process, number)


def test_starting_the_plugin_does_not_load_the_sdk():
    probe = "import sys, components.provider.__main__; print('cloudflare' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_importing_the_entry_starts_nothing():
    """The command that a wheel installs imports it and then calls `main`."""
    probe = "from components.provider.__main__ import main; print(main.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
    )
    assert done.stdout == "main\n"


def test_without_a_token_every_call_says_so(cloud: Cloud, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN", raising=False)
    process = Process(cloud)
    process.plugin.stub.Configure(provider_pb2.ConfigureRequest(args=encoding.encode({})))
    with pytest.raises(grpc.RpcError, match="set CLOUDFLARE_API_TOKEN or cloudflare-sandbox:apiToken"):
        Stack(process.plugin).read("WorkerScript", "x", "a/b")
    process.kill()


def test_the_token_is_secret_and_the_configuration_checked(plugin: Plugin):
    request = provider_pb2.CheckRequest(urn="x", news=encoding.encode({"apiToken": "t", "baseUrl": 5, "speed": "high"}))
    answer = plugin.stub.CheckConfig(request)
    assert encoding.decode(answer.inputs)["apiToken"] == Secret("t")
    assert {each.property: each.reason for each in answer.failures} == {
        "baseUrl": "expected a string, got a number",
        "speed": "no such property; known are apiToken, baseUrl",
    }


def test_the_executable_works_from_an_installed_copy(cloud: Cloud, tmp_path: Path):
    """A wheel unpacked below an environment, as pip lays it out."""
    wheels = tmp_path / "wheels"
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    venv.create(tmp_path / "venv", symlinks=True)
    packages = next((tmp_path / "venv/lib").glob("python3*")) / "site-packages"
    (packages / "dependencies.pth").write_text(f"{Path(grpc.__file__).parents[1]}\n")
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
        modes = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
    installed = packages / "pulumi_cloudflare_sandbox/provider/bin" / EXECUTABLE.name
    assert modes[installed.relative_to(packages).as_posix()] & 0o111
    installed.chmod(0o755)
    process = Process(cloud, installed, cwd=tmp_path)
    assert process.plugin.stub.GetSchema(provider_pb2.GetSchemaRequest()).schema == schema.text()
    process.kill()
