"""The pack's process: what the engine asks, over the wire, what it loads, and how much it does for an answer."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2, message_factory
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from components.crossguard import facts, service, workers
from components.crossguard.pack import NAME, Pack, Setting
from components.crossguard.resource import Resource
from components.crossguard.service import Analyzer
from components.pulumi_protocol.encoding import decode, encode
from components.pulumi_protocol.values import Secret
from components.rules import Rule, Stack, check, rules
from testbed.orphans import seconds_alone
from tests.policy.examples import TODAY
from tools.paths import ROOT

DOMAIN = "cloudflare:index/r2ManagedDomain:R2ManagedDomain"
URN = f"urn:pulumi:dev::p::{DOMAIN}::open"
MODULES = 540  # it loads 496, most of them of Pulumi's SDK, which comes with its messages
SIGNS = [
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58", "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]  # fmt: skip


def asked(properties: Struct) -> Any:
    return analyzer_pb2.AnalyzeRequest(type=DOMAIN, urn=URN, name="open", properties=properties)


@contextmanager
def served(*options: str) -> Iterator[tuple[Any, Any]]:
    """Start the pack as the engine does; give the process and what asks it."""
    command = [sys.executable, "-u", *options, str(ROOT / "policy"), "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield process, analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            process.terminate()


def test_the_pack_leaves_when_who_started_it_is_gone():
    assert seconds_alone([sys.executable, "-u", str(ROOT / "policy"), "127.0.0.1:1"]) < 20


def test_a_process_serves_the_pack_on_loopback_and_ends_when_told():
    with served() as (process, engine):
        info = engine.GetAnalyzerInfo(empty_pb2.Empty(), timeout=20)
        answer = engine.Analyze(asked(encode({"enabled": True})), timeout=20)
        process.terminate()
        assert process.wait(10) == 0
    assert (info.name, len(info.policies)) == (NAME, len(rules()) + 2)  # and those about exceptions and the account
    (found,) = answer.diagnostics
    assert (found.policyName, found.urn, found.enforcementLevel) == (
        "storage-public-bucket",
        URN,
        analyzer_pb2.MANDATORY,
    )
    assert found.message.startswith("open.enabled: the bucket is open on r2.dev [storage/public-bucket]\n  why: ")


def test_what_the_engine_may_do_without_is_not_implemented_and_says_nothing():
    with served() as (process, engine):
        for call, request in ((engine.Remediate, asked(Struct())), (engine.Handshake, None)):
            with pytest.raises(grpc.RpcError) as refused:
                call(request or analyzer_pb2.AnalyzerHandshakeRequest(), timeout=20)
            assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED
        process.terminate()
        assert process.stderr.read() == ""


def test_every_other_call_of_the_service_is_answered():
    asked_for = {each.name: each.input_type for each in analyzer_pb2.DESCRIPTOR.services_by_name["Analyzer"].methods}
    del asked_for["Remediate"], asked_for["Handshake"]
    with served() as (_, engine):
        for name, takes in asked_for.items():
            getattr(engine, name)(message_factory.GetMessageClass(takes)(), timeout=20)
    assert len(asked_for) == 7


def test_the_process_loads_only_what_it_needs_to_answer():
    """The engine starts the program when the pack has answered: every module here is time that everybody waits."""
    with served("-X", "importtime") as (process, engine):
        engine.GetAnalyzerInfo(empty_pb2.Empty(), timeout=20)
        engine.Analyze(asked(encode({"enabled": True})), timeout=20)
        process.terminate()
        loaded = {line.rpartition("|")[2].strip() for line in process.stderr.read().splitlines()}
    own = {name for name in loaded if name.startswith("components.")}
    assert {name for name in own if not name.startswith(("components.rules", "components.platform"))} == {
        "components.crossguard.facts",
        "components.crossguard.pack",
        "components.crossguard.resource",
        "components.crossguard.surroundings",
        "components.crossguard.workers",
        "components.errors",
        "components.facts",
        "components.facts.stack",
        "components.pulumi_protocol",
        "components.pulumi_protocol.encoding",
        "components.pulumi_protocol.serving",
        "components.pulumi_protocol.values",
        "components.version",
    }
    assert not loaded & {"google.protobuf.json_format", "pydantic", "cloudflare", "jinja2", "httpx"}
    assert len(loaded) < MODULES


def test_a_resource_that_says_nothing_by_itself_is_not_decoded(monkeypatch: pytest.MonkeyPatch):
    decoded: list[str] = []

    def counted(said: Struct) -> dict[str, Any]:
        decoded.append("properties")
        return decode(said)

    monkeypatch.setattr(service, "decode", counted)
    pack = Analyzer(Pack(TODAY))
    for type_ in sorted(facts.TYPES | {"cloudflare-sandbox:index:RegistryImage", "aws:s3/bucket:Bucket"}):
        decoded.clear()
        request = analyzer_pb2.AnalyzeRequest(type=type_, urn=f"urn:pulumi:dev::p::{type_}::r", name="r")
        pack.Analyze(request, None)
        assert (type_, len(decoded)) == (type_, int(type_ in facts.TELLING))


def test_each_resource_is_judged_once_by_each_rule_and_nothing_is_judged_by_none(monkeypatch: pytest.MonkeyPatch):
    ran: list[str] = []
    judge = Rule.findings

    def counted(rule: Rule, stack: Stack, severity: Any) -> Any:
        ran.append(rule.id)
        return judge(rule, stack, severity)

    monkeypatch.setattr(Rule, "findings", counted)
    pack = Analyzer(Pack(TODAY, {"storage-public-bucket": Setting("off", {})}))
    pack.Analyze(asked(encode({"enabled": True})), None)
    assert ran == [each.id for each in rules() if each.id != "storage/public-bucket"]
    ran.clear()
    for type_ in sorted(facts.TYPES - {DOMAIN, workers.APPLICATION}):
        request = analyzer_pb2.AnalyzeRequest(type=type_, urn=f"urn:pulumi:dev::p::{type_}::r", name="r")
        pack.Analyze(request, None)
    assert ran == []


@pytest.mark.parametrize("day", [date(2020, 1, 1), TODAY, date(2100, 1, 1)])
def test_no_rule_finds_anything_where_nothing_is_said(day: date):
    """Why resources that say nothing need not be judged."""
    assert check(Stack(), today=day) == []


@pytest.mark.parametrize("type_", sorted(facts.TYPES - facts.TELLING))
def test_what_is_not_telling_gives_no_facts_by_itself(type_: str):
    said = {"name": "b", "bucketName": "b", "enabled": True, "pattern": "*.a.example/*", "environment": "lasting"}
    assert facts.alone(Resource(type_, "r", f"urn:pulumi:dev::p::{type_}::r", said)) == (Stack(), {})


@pytest.mark.parametrize("sign", SIGNS)
def test_every_sign_for_an_unknown_value_is_understood(sign: str):
    pack = Analyzer(Pack(TODAY))
    assert len(pack.Analyze(asked(encode({"enabled": True})), None).diagnostics) == 1
    assert len(pack.Analyze(asked(encode({"enabled": sign})), None).diagnostics) == 0
    script = {
        "compatibilityDate": sign,
        "bindings": {"Sandbox": {"type": sign}},
        "classes": {"Sandbox": {"container": {}}},
    }
    for properties in (script, dict.fromkeys(script, sign)):
        request = analyzer_pb2.AnalyzeRequest(
            type="cloudflare-sandbox:index:WorkerScript", urn=URN, name="w", properties=encode(properties)
        )
        found = [each.policyName for each in pack.Analyze(request, None).diagnostics]
        assert set(found) <= {"container-observability"}


def test_secrets_pass_unseen():
    assert len(Analyzer(Pack(TODAY)).Analyze(asked(encode({"enabled": Secret(value=True)})), None).diagnostics) == 0


def test_levels_of_the_engine_are_understood():
    for level, expected in (
        (analyzer_pb2.ADVISORY, [analyzer_pb2.ADVISORY]),
        (analyzer_pb2.MANDATORY, [analyzer_pb2.MANDATORY]),
        (analyzer_pb2.REMEDIATE, [analyzer_pb2.MANDATORY]),
        (analyzer_pb2.DISABLED, []),
    ):
        pack = Analyzer(Pack(TODAY))
        config = {"storage-public-bucket": analyzer_pb2.PolicyConfig(enforcementLevel=level)}
        pack.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig=config), None)
        found = pack.Analyze(asked(encode({"enabled": True})), None).diagnostics
        assert [each.enforcementLevel for each in found] == expected


def test_a_stack_is_judged_with_what_its_resources_say_together():
    parts = {
        "cloudflare:index/r2Bucket:R2Bucket": ("b", {"name": "boxes"}),
        "cloudflare-sandbox:index:WorkerScript": (
            "w",
            {
                "scriptName": "w",
                "compatibilityDate": "2026-10-01",
                "observability": {"enabled": True},
                "classes": {"Sandbox": {"container": {}}},
                "bindings": {
                    "BACKUP_BUCKET": {"type": "r2_bucket", "bucketName": "boxes"},
                    "ENVIRONMENT": {"type": "plain_text", "text": "throw-away"},
                },
                "keepBindings": ["secret_text"],
            },
        ),
        "aws:s3/bucket:Bucket": ("other", {}),
    }
    request = analyzer_pb2.AnalyzeStackRequest(
        resources=[
            analyzer_pb2.AnalyzerResource(
                type=type_, urn=f"urn:pulumi:d::p::{type_}::{name}", name=name, properties=encode(properties)
            )
            for type_, (name, properties) in parts.items()
        ]
    )
    (found,) = Analyzer(Pack(TODAY)).AnalyzeStack(request, None).diagnostics
    assert (found.policyName, found.urn.rpartition("::")[2]) == ("storage-backup-lifecycle", "b")
