"""Components that the engine asks for: the same resources as in Python, and several at a time that do not meet."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pulumi
import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2

from components import ApplicationArgs, SandboxApplication, access, application, domain, storage
from components.construct import answer
from components.platform.sdk import SDK_VERSION, Generation
from components.pulumi_protocol import encoding
from components.pulumi_protocol.names import camel
from components.pulumi_protocol.values import UNKNOWN, Secret
from components.settings.container import ContainerSettings
from components.stack import TYPE
from tests.components.monitor import UNKNOWN as NOT_KNOWN
from tests.components.monitor import Monitor, Recorded, deploy
from tests.components.stacks import ACCOUNT, ANSWERS, DIGEST, FULL, SECRETS, Run

TOKEN = "t" * 40


@pytest.fixture(autouse=True)
def _program(bundle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine gives a plugin: the program's folder, and the environment."""
    assert (tmp_path / bundle).exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", TOKEN)
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", ACCOUNT)


class Engine:
    """An engine at an address of its own."""

    def __init__(self, answers: dict[str, Any] | None = None, *, preview: bool = False, stack: str = "test") -> None:
        self.recorded, self.preview, self.stack = Recorded(), preview, stack
        self.monitor = Monitor(self.recorded, {**ANSWERS, **(answers or {})}, preview=preview)
        self.address = f"test-{id(self)}"
        answer._monitors[self.address] = self.monitor

    def construct(self, given: dict[str, Any], name: str = "box", kind: str = TYPE, **options: Any) -> dict[str, Any]:
        request = provider_pb2.ConstructRequest(
            project="project",
            stack=self.stack,
            dryRun=self.preview,
            monitorEndpoint=self.address,
            type=kind,
            name=name,
            inputs=struct(given),
            **options,
        )
        response = answer.construct(request, None)
        assert response.urn == self.recorded.one(kind.rpartition(":")[2], name).urn
        return encoding.decode(response.state)


def struct(given: dict[str, Any]) -> Struct:
    return encoding.encode(given)


LEAST = {"image": {"reference": DIGEST}, "worker": {"bundle": "worker.js"}, "sdk": {"version": SDK_VERSION}}


def camel_cased(value: Any) -> Any:
    """FULL in the other spelling: none of its maps has keys with underscores."""
    if isinstance(value, dict):
        return {camel(key): camel_cased(each) for key, each in value.items()}
    return [camel_cased(each) for each in value] if isinstance(value, list) else value


def test_the_same_resources_as_in_python(run: Run):
    """Names, parents, inputs, options and order."""
    ours = run(FULL, secrets=SECRETS)
    given = camel_cased({name: each for name, each in FULL.items() if name != "secrets"})
    secrets = {"secrets": {"MODEL_API_KEY": "model-secret"}, "buildSecrets": {"PIP_TOKEN": "pip-secret"}}
    engine = Engine()
    root = engine.monitor.make_urn("", "pulumi:pulumi:Stack", "project-test")
    worker = {"bundle": "worker.js"}
    state = engine.construct({**given, **secrets, "worker": worker, "sdk": LEAST["sdk"]}, parent=root)
    theirs = {each.urn: each for each in engine.recorded.resources}
    expected = {each.urn: each for each in ours.resources if each.type != "pulumi:pulumi:Stack"}
    assert set(theirs) == set(expected)
    for urn, each in expected.items():
        other = theirs[urn]
        assert (other.inputs, other.secret_inputs, other.parent, other.protect, other.options) == (
            _with_paths_here(each.inputs),
            each.secret_inputs,
            each.parent,
            each.protect,
            each.options,
        ), urn
        assert (other.dependencies, other.input_dependencies) == (each.dependencies, each.input_dependencies), urn
        assert other.outputs == each.outputs
    (outputs,) = ours.one("SandboxStack").outputs
    assert {name: _plain(value) for name, value in state.items()} == {
        camel(name): value for name, value in outputs.items() if value is not None
    }


def _with_paths_here(value: Any) -> Any:
    """In the test of Python classes the folder is another one than the working directory."""
    here = f"{Path.cwd()}/"
    return json.loads(json.dumps(value).replace(here, ""))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Secret) else value


def test_options_are_passed_on():
    parent = "urn:pulumi:test::project::test:index:Team::team"
    provider = "urn:pulumi:test::project::pulumi:providers:cloudflare::mine"
    found = {"urn": provider, "id": "id", "state": {}}
    engine = Engine({"pulumi:pulumi:getResource": lambda _: found})
    engine.construct(
        LEAST,
        parent=parent,
        protect=True,
        dependencies=[f"{parent}-other"],
        providers={"cloudflare": f"{provider}::id"},
        aliases=[{"spec": {"name": "former"}}],
        customTimeouts={"create": "5m"},
        retainOnDelete=True,
    )
    stack = engine.recorded.one("SandboxStack")
    assert (stack.request.parent, stack.protect, stack.dependencies) == (parent, True, {"team-other"})
    assert stack.request.aliases[0].spec.name == "former"
    assert stack.request.customTimeouts.create == "5m"
    assert stack.request.retainOnDelete
    bucket = engine.recorded.one("R2Bucket", "box-storage-files")
    assert (bucket.request.provider, bucket.protect) == (f"{provider}::id", True)


def test_a_preview_knows_what_can_be_known():
    engine = Engine(preview=True)
    other = "urn:pulumi:test::project::test:index:Database::db"
    state = engine.construct(
        {**LEAST, "secrets": Secret({"URL": UNKNOWN, "KEY": "word"})},
        inputDependencies={"secrets": provider_pb2.ConstructRequest.PropertyDependencies(urns=[other])},
    )
    script = engine.recorded.one("WorkerScript")
    assert script.inputs["bindings"]["URL"]["text"] == NOT_KNOWN
    assert script.inputs["bindings"]["KEY"]["text"] == "word"
    assert "bindings" in script.secret_inputs
    assert "db" in script.dependencies
    assert (state["workerVersionId"], state["environment"]) == (UNKNOWN, "lasting")


def test_two_runs_at_a_time_do_not_meet():
    """One previews, one deploys, to stacks of other names; each waits in the middle until the other is there too."""
    both = threading.Barrier(2)

    def meet(given: dict[str, Any]) -> dict[str, Any]:
        both.wait(30)
        return {"zoneId": f"the id of {given['filter']['name']}"}

    answers = {"cloudflare:index/getZone:getZone": meet}
    engines = [Engine(answers, stack="one"), Engine(answers, preview=True, stack="two")]
    given = {**LEAST, "domain": {"hostname": "box.example.com", "zone": "example.com"}}
    with ThreadPoolExecutor(2) as pool:
        states = list(pool.map(lambda engine: engine.construct(given), engines))
    for engine in engines:
        script = engine.recorded.one("WorkerScript")
        assert script.inputs["scriptName"] == f"sandbox-{engine.stack}"
        assert len(engine.recorded.of("SandboxStack")) == 1
    assert [state["workerVersionId"] for state in states] == ["v1", UNKNOWN]
    assert not {each.urn for each in engines[0].recorded.resources} & set(engines[1].monitor.by_urn) - set(
        engines[0].monitor.by_urn
    )


def test_two_stacks_of_a_program_share_what_they_must():
    engine = Engine()
    given = {**LEAST, "domain": {"hostname": "box.example.com", "zone": "example.com"}}
    engine.construct(given, "one")
    with pytest.raises(answer.RefusedError, match=r"box.example.com belongs to the stack one too"):
        engine.construct({**given, "name": "other"}, "two")
    Engine().construct(given, "two")  # of another program


def test_mistakes_are_one_message_in_the_spelling_of_the_program():
    with pytest.raises(answer.RefusedError) as refused:
        Engine().construct({**LEAST, "container": {"instanceTyp": "lite"}, "worker": {"entry": "a", "bundle": "b"}})
    assert str(refused.value) == (
        "2 mistakes in the sandbox settings:\n"
        "  worker: entry and bundle exclude each other; remove one\n"
        "  container.instanceTyp: no such setting; did you mean instanceType?"
    )


def test_a_part_takes_values_that_wait_and_are_secret():
    """They go on as they came, with what they depend on; `dependsOn` is what people are not sent before."""
    engine = Engine(preview=True)
    other = "urn:pulumi:test::project::test:index:Worker::mine"
    given = {"settings": {"hostname": "box.example.com", "zone": "example.com", "certificate": "own"}, "prefix": ["a"]}
    waits = {"scriptName": provider_pb2.ConstructRequest.PropertyDependencies(urns=[other])}
    engine.construct(
        {**given, "scriptName": UNKNOWN}, "hosts", domain.TYPE, inputDependencies=waits, dependencies=[f"{other}-too"]
    )
    route = engine.recorded.one("WorkersRoute")
    assert (route.inputs["script"], route.dependencies) == (NOT_KNOWN, {"mine", "mine-too"})
    assert engine.recorded.one("DnsRecord").dependencies == frozenset()
    engine = Engine()
    state = engine.construct({"settings": {}, "prefix": ["a"], "accountId": Secret(ACCOUNT)}, "kept", storage.TYPE)
    bucket = engine.recorded.one("R2Bucket", "kept-files")
    assert (bucket.inputs["accountId"], bucket.secret_inputs, bucket.protect) == (ACCOUNT, {"accountId"}, True)
    assert state["bindings"]["BACKUP_BUCKET_NAME"]["text"] == state["bucketNames"]["backups"] == "a-backups"
    assert isinstance(state["bindings"]["CLOUDFLARE_ACCOUNT_ID"]["text"], Secret)


@pytest.mark.parametrize("generation", ["0.12", "1.x"])
def test_an_application_is_the_one_of_its_class(generation: Generation):
    settings = {
        "max_instances": 7,
        "regions": ["WEUR"],
        "rollout": {"kind": "immediate"},
        "environment": {"my_key": "a"},
    }
    names = {"class_name": "Sandbox", "application_name": "box", "generation": generation}
    values = {"account_id": ACCOUNT, "script_name": "box", "image": DIGEST, "worker_version_id": "v1"}

    def program() -> None:
        read = ContainerSettings.parse(settings)
        SandboxApplication("box-containers", ApplicationArgs(settings=read, **names, **values))

    ours = deploy(program, answers=ANSWERS).one("ContainerApplication")
    engine = Engine()
    given = {camel(name): value for name, value in {**names, **values}.items()}
    told = {camel(name): value for name, value in settings.items()}
    state = engine.construct({"settings": told, **given}, "box-containers", application.TYPE)
    theirs = engine.recorded.one("ContainerApplication")
    assert (theirs.inputs, theirs.parent, theirs.options) == (ours.inputs, ours.parent, ours.options)
    assert set(state) == {"applicationId", "namespaceId"}


def test_mistakes_in_a_part_are_told_at_once():
    given = {"settings": {"zeroTrust": {"teamDomain": "x"}, "apiKey": {}}, "domain": {}, "prefix": ["a", ""]}
    engine = Engine()
    with pytest.raises(answer.RefusedError) as refused:
        engine.construct({**given, "accountId": 3}, "gate", access.TYPE)
    assert str(refused.value).splitlines() == [
        "5 mistakes in the sandbox settings:",
        "  accountId: expected text",
        "  settings.zeroTrust.teamDomain: give the team's domain alone, such as team.cloudflareaccess.com",
        "  settings.apiKey: no such setting; did you mean apiKeys?",
        "  domain.hostname: is required; add it",
        "  prefix: give at least one name, and none that is empty; names in the account begin with them",
    ]
    with pytest.raises(answer.RefusedError, match=r"prefix\[0\]: is a secret, .*; give a value that is none"):
        engine.construct({"settings": {}, "prefix": [Secret("word")]}, "gate", access.TYPE)
    with pytest.raises(answer.RefusedError, match="scriptName: is required; add it"):
        engine.construct({"settings": {"hostname": "a.example"}, "prefix": ["a"]}, "hosts", domain.TYPE)
    assert engine.recorded.resources == []


def test_without_a_token_or_an_account_nothing_is_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "")
    monkeypatch.delenv("CLOUDFLARE_ACCOUNT_ID")
    engine = Engine()
    with pytest.raises(answer.RefusedError, match="CLOUDFLARE_API_TOKEN: is empty"):
        engine.construct(LEAST)
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", TOKEN)
    with pytest.raises(answer.RefusedError, match="accountId: is required; add it, or set CLOUDFLARE_ACCOUNT_ID"):
        engine.construct(LEAST)
    assert engine.recorded.resources == []


def test_what_a_stopped_engine_leaves_undone_is_not_told_again():
    def stopped(_: dict[str, Any]) -> dict[str, Any]:
        raise pulumi.RunError("Resource monitor has terminated, shutting down")

    with pytest.raises(answer.StoppedError):
        Engine({"cloudflare-sandbox:index:WorkerScript": stopped}).construct(LEAST)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("end", [SystemExit, asyncio.CancelledError])
def test_what_ends_the_thread_is_an_answer_too(end: type[BaseException], monkeypatch: pytest.MonkeyPatch):
    async def ended(*_: Any) -> None:
        raise end

    monkeypatch.setattr(answer, "_answered", ended)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(answer.construct, None, None)
        assert isinstance(asked.exception(60), RuntimeError)
