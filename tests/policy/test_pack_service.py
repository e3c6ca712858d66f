"""The pack's process: what the engine asks, over the wire, and what it loads."""

import subprocess
import sys
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from components.crossguard.pack import NAME, Pack
from components.crossguard.service import Analyzer
from components.provider.wire import Secret, encode
from components.rules import rules
from tests.policy.examples import TODAY
from tools.paths import ROOT

DOMAIN = "cloudflare:index/r2ManagedDomain:R2ManagedDomain"
URN = f"urn:pulumi:dev::p::{DOMAIN}::open"
SIGNS = [
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58", "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]  # fmt: skip


def asked(properties: Struct) -> Any:
    return analyzer_pb2.AnalyzeRequest(type=DOMAIN, urn=URN, name="open", properties=properties)


def test_a_process_serves_the_pack_on_loopback_and_ends_when_told():
    with subprocess.Popen(
        [sys.executable, "-u", str(ROOT / "policy"), "127.0.0.1:1"], stdout=subprocess.PIPE
    ) as served:
        assert served.stdout
        port = int(served.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            engine = analyzer_pb2_grpc.AnalyzerStub(channel)
            info = engine.GetAnalyzerInfo(empty_pb2.Empty(), timeout=20)
            answer = engine.Analyze(asked(encode({"enabled": True})), timeout=20)
        served.terminate()
        assert served.wait(10) == 0
    assert (info.name, len(info.policies)) == (NAME, len(rules()) + 1)
    (found,) = answer.diagnostics
    assert (found.policyName, found.urn, found.enforcementLevel) == (
        "storage-public-bucket",
        URN,
        analyzer_pb2.MANDATORY,
    )
    assert found.message.startswith("open.enabled: the bucket is open on r2.dev [storage/public-bucket]\n  why: ")


def test_the_process_loads_neither_the_settings_nor_the_sdk_of_cloudflare():
    code = "import sys, components.crossguard.service; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"pydantic", "pulumi_cloudflare", "pulumi_policy", "cloudflare", "jinja2"} & set(loaded.split()) == set()
    assert "grpc" in loaded


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
