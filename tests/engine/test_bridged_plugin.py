"""Programs with pulumi_cloudflare on the real engine and the emulator: on the real plugin where there is one."""

import json
import os
import re
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.testing import Running, running
from testbed.account import EmulatedAccount
from testbed.orphans import eventually, processes_with, seconds_until_gone
from testbed.project import MakeProject, Project
from tools.local import bridged
from tools.paths import ROOT

pytestmark = pytest.mark.engine

PLUGIN = bridged.plugin(Path.home())
NAME = "stand-in" if bridged.is_stand_in(PLUGIN) else "real"
PROGRAM = textwrap.dedent(
    """
    import json, pathlib
    import pulumi
    import pulumi_cloudflare as cf

    s = json.loads(pathlib.Path("settings.json").read_text())
    account = s["account"]
    zone = cf.get_zone(filter={"name": "sandbox.example"}).id
    group = cf.get_account_api_token_permission_groups_list(account_id=account, name="Workers R2 Storage Write")

    bucket = cf.R2Bucket("bucket", account_id=account, name="files", storage_class=s["storage"])
    on_bucket = {"account_id": account, "bucket_name": bucket.name}
    cf.R2BucketLifecycle("lifecycle", **on_bucket, rules=[{
        "id": "old", "enabled": True, "conditions": {"prefix": ""},
        "delete_objects_transition": {"condition": {"type": "Age", "max_age": s["days"] * 86400}},
    }])
    cf.R2BucketLock("lock", **on_bucket, rules=[
        {"id": "keep", "enabled": False, "condition": {"type": "Age", "max_age_seconds": s["days"]}}])
    cf.R2BucketCors("cors", **on_bucket, rules=[
        {"allowed": {"methods": ["GET"], "origins": [f"https://{s['host']}.example"]}}])
    cf.R2ManagedDomain("managed", **on_bucket, enabled=s["managed"])
    kv = cf.WorkersKvNamespace("kv", account_id=account, title=s["title"])
    queue = cf.Queue("queue", account_id=account, queue_name="jobs", settings={"delivery_delay": s["days"]})
    cf.DnsRecord("record", zone_id=zone, name="*.box", type="AAAA", content="100::", ttl=1, proxied=True,
                 comment=s["comment"])
    cf.WorkersRoute("route", zone_id=zone, pattern="*.box.sandbox.example/*", script=s["script"])
    cf.WorkersCustomDomain("domain", account_id=account, hostname=f"{s['host']}.sandbox.example", service="small",
                           zone_id=zone)
    cf.CertificatePack("pack", zone_id=zone, type="advanced", hosts=["sandbox.example", "*.box.sandbox.example"],
                       certificate_authority="lets_encrypt", validation_method="txt", validity_days=90)
    cf.WorkersCronTrigger("cron", account_id=account, script_name="small", schedules=[{"cron": s["cron"]}])
    service = cf.ZeroTrustAccessServiceToken("service", account_id=account, name="robots", duration=s["duration"])
    robots = [{"service_token": {"token_id": service.id}}, {"any_valid_service_token": {}}]
    policy = cf.ZeroTrustAccessPolicy("policy", account_id=account, name="robots", decision="non_identity",
                                      includes=robots, session_duration=s["duration"])
    app = cf.ZeroTrustAccessApplication("app", account_id=account, name="box", type="self_hosted",
                                        domain=f"{s['host']}.sandbox.example", policies=[{"id": policy.id}])
    resource = f"com.cloudflare.edge.r2.bucket.{account}_default_files"
    token = cf.AccountToken("token", account_id=account, name=s["title"], policies=[{
        "effect": "allow", "permission_groups": [{"id": group.results[0].id}],
        "resources": json.dumps({resource: "*"}, separators=(",", ":")),
    }])
    pulumi.export("aud", app.aud)
    pulumi.export("client_secret", service.client_secret)
    pulumi.export("queue", queue.queue_id)
    pulumi.export("token", token.value)
    """
)
FIRST = {
    "storage": "Standard", "days": 30, "host": "one", "managed": False, "title": "cache", "comment": "first",
    "script": "small", "cron": "*/5 * * * *", "duration": "24h",
}  # fmt: skip
SECOND = {
    "storage": "InfrequentAccess", "days": 31, "host": "two", "managed": True, "title": "cache2", "comment": None,
    "script": None, "cron": "*/6 * * * *", "duration": "48h",
}  # fmt: skip
RESOURCES = 17  # with the stack itself


class Cloud(EmulatedAccount):
    """An emulated account with a Worker, and the project that deploys to it."""

    def __init__(self, emulator: Running, project: Project) -> None:
        super().__init__(emulator)
        self.project = project
        env: Any = project.pulumi.env
        env.update(self.env)
        metadata = json.dumps({"main_module": "a.js", "compatibility_date": "2026-10-01"})
        files = {
            "metadata": (None, metadata, "application/json"),
            "a.js": ("a.js", "export default {};", "application/javascript+module"),
        }
        self.api("PUT", "/workers/scripts/small", files=files)

    def write(self, settings: dict[str, Any]) -> None:
        values = {"account": self.emulator.account_id, **settings}
        (self.project.folder / "settings.json").write_text(json.dumps(values))
        self.clear_journal()

    def calls(self) -> list[str]:
        """The requests since the last time."""
        entries = self.journal()
        self.clear_journal()
        return sorted(f"{each['method']} {each['operation']}" for each in entries)


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("cloud")) as started:
        yield started


@pytest.fixture(params=[NAME])
def cloud(emulator: Running, make_project: MakeProject) -> Cloud:
    emulator.reset()
    return Cloud(emulator, make_project(PROGRAM))


FUNCTIONS = ["GET tokens.account_permission_groups", "GET zones.get_zone", "GET zones.list_zones"]


@pytest.mark.long
def test_the_whole_life(cloud: Cloud):
    """Preview and a second up call nothing but the functions; destroy leaves only what was there before."""
    project, before = cloud.project, cloud.deployed()
    cloud.write(FIRST)
    assert f"+ {RESOURCES} to create" in project.succeed("preview")
    assert cloud.calls() == FUNCTIONS

    output = project.up()
    assert f"+ {RESOURCES} created" in output
    assert ("a stand-in for pulumi-resource-cloudflare 6.23.1 is used" in output) is (NAME == "stand-in")
    assert len(cloud.calls()) == len(FUNCTIONS) + RESOURCES - 1
    outputs = json.loads(project.succeed("stack", "output", "--json", "--show-secrets"))
    state = project.succeed("stack", "export")
    assert [name for name in ("token", "client_secret") if outputs[name] in state] == []
    kept = [each for each in json.loads(state)["deployment"]["resources"] if each["type"].startswith("cloudflare:")]
    assert [each["type"] for each in kept if {"id", "__meta"} - each["outputs"].keys()] == [], "for the real plugin"

    assert f"{RESOURCES} unchanged" in project.up("--expect-no-changes")
    assert cloud.calls() == FUNCTIONS
    assert f"{RESOURCES} unchanged" in project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    assert len(cloud.calls()) == RESOURCES - 2  # not the stack, and not the managed domain, which is never read

    cloud.write(SECOND)
    output = project.up()
    assert re.findall(r"^ +(.*) (updated|replaced)$", output, re.MULTILINE) == [
        ("~ 14", "updated"),
        ("+-1", "replaced"),
    ]
    assert f"{RESOURCES} unchanged" in project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    assert f"{RESOURCES} unchanged" in project.up("--expect-no-changes")
    again = json.loads(project.succeed("stack", "output", "--json", "--show-secrets"))
    assert again == outputs

    cloud.clear_journal()
    assert f"- {RESOURCES} deleted" in project.succeed("destroy", "--yes", "--skip-preview")
    calls = cloud.calls()
    assert {call.split()[0] for call in calls} == {"DELETE"}
    assert len(calls) == RESOURCES - 5  # lifecycle, lock, managed domain and cron trigger make no call
    assert cloud.deployed() == before


BUCKET = """
import pulumi_cloudflare as cf
cf.R2Bucket("bucket", account_id="{account}", name="files"{more})
"""


def test_drift_import_and_what_is_gone(cloud: Cloud):
    project, account = cloud.project, cloud.emulator.account_id
    program = project.folder / "__main__.py"
    program.write_text(BUCKET.format(account=account, more=""))
    buckets = f"{cloud.emulator.url}/accounts/{account}/r2/buckets"
    assert cloud.http.post(buckets, json={"name": "files"}).status_code == 200
    cloud.clear_journal()
    token, flags = "cloudflare:index/r2Bucket:R2Bucket", ("--generate-code=false", "--yes", "--skip-preview")
    project.succeed("import", token, "bucket", f"{account}/files/default", "--protect=false", *flags)
    assert cloud.calls() == ["GET r2.get_bucket", "GET r2.get_bucket"]
    assert "2 unchanged" in project.up("--expect-no-changes")

    change = {"cf-r2-storage-class": "InfrequentAccess"}
    assert cloud.http.patch(f"{buckets}/files", headers=change).status_code == 200
    assert "~ 1 updated" in project.succeed("refresh", "--yes", "--skip-preview")
    assert "~ 1 updated" in project.up()
    assert cloud.http.get(f"{buckets}/files").json()["result"]["storage_class"] == "Standard"

    assert cloud.http.delete(f"{buckets}/files").status_code == 200
    output = project.succeed("refresh", "--yes", "--skip-preview")
    assert "- 1 deleted" in output
    assert "Resource not found" in output


DOMAIN = textwrap.dedent(
    f"""
    import json, pathlib, sys
    sys.path.insert(0, {str(ROOT)!r})
    from components.domain import DomainArgs, PreviewDomain
    from components.settings.domain import DomainSettings

    settings = json.loads(pathlib.Path("settings.json").read_text())["domain"]
    PreviewDomain("box", DomainArgs(DomainSettings(**settings), "small", ("box", "test")))
    """
)


def test_a_certificate_is_replaced_when_it_needs_fewer_hosts(cloud: Cloud):
    """For the plugin this is no change."""
    (cloud.project.folder / "__main__.py").write_text(DOMAIN)
    wide = {"hostname": "box.sandbox.example", "zone": "sandbox.example", "api_hostname": "api.v1.sandbox.example"}
    cloud.write({"domain": wide})
    cloud.project.up()
    cloud.project.up("--expect-no-changes")
    cloud.write({"domain": {**wide, "api_hostname": "api.sandbox.example"}})
    shown = cloud.project.succeed("preview", "--diff")
    assert "+-cloudflare:index/certificatePack:CertificatePack: (replace)" in shown
    cloud.project.up()
    assert cloud.calls().count("POST certificates.order_pack") == 1
    cloud.project.up("--expect-no-changes")
    cloud.project.succeed("destroy", "--yes", "--skip-preview")


def test_nothing_outlives_a_cli_that_was_killed(cloud: Cloud):
    cloud.write(FIRST)
    rule = {"operation": "kv.create_namespace", "status": 503, "times": 0, "headers": {"retry-after": "1"}}
    cloud.http.post(f"{cloud.emulator.origin}/_emulator/faults", json=rule).raise_for_status()
    with cloud.project.started("up", "--yes", "--skip-preview") as cli:
        assert eventually(lambda: "POST kv.create_namespace" in cloud.calls())
        cli.kill()
        cli.wait()
        assert seconds_until_gone(lambda: processes_with(cloud.emulator.url)) < 40
    cloud.clear_journal()
    time.sleep(2)
    assert cloud.calls() == [], "a plugin without an engine sends nothing more"


def test_a_plugin_of_another_version_on_path_is_not_run(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The engine would take it before the one that set-up has linked, whatever the line at the start says."""
    other, trace = tmp_path / "other", tmp_path / "it-was-run"
    other.mkdir()
    program = other / bridged.PROGRAM
    program.write_text(f'#!/bin/sh\n[ "$1" = -version ] && echo v5.0.0 && exit\ntouch {trace}\nexit 1\n')
    program.chmod(0o755)
    env: Any = cloud.project.pulumi.env
    env["PATH"] = f"{other}{os.pathsep}{env['PATH']}"
    monkeypatch.setenv("PATH", env["PATH"])
    assert bridged.plugin(tmp_path) == bridged.STAND_IN
    cloud.write(FIRST)
    assert f"+ {RESOURCES} created" in cloud.project.up()
    assert not trace.exists()
    cloud.project.succeed("destroy", "--yes", "--skip-preview")


def test_the_stand_in_refuses_a_real_account(cloud: Cloud):
    """Linked in place of whatever plugin there is; nothing is called."""
    project = cloud.project
    link = Path(project.pulumi.env["PULUMI_HOME"]) / "plugins" / f"resource-cloudflare-v{bridged.version()}"
    (link / bridged.PROGRAM).unlink()
    (link / bridged.PROGRAM).symlink_to(bridged.STAND_IN)
    cloud.write(FIRST)
    env: Any = project.pulumi.env
    env["CLOUDFLARE_BASE_URL"] = "https://api.cloudflare.com/client/v4"
    output = project.fail("up", "--yes", "--skip-preview")
    assert output.count("It works on an emulator on this machine and never on a real account") >= 1
    assert "https://api.cloudflare.com/client/v4 is not on loopback" in output
    assert "pulumi plugin install resource cloudflare 6.23.1" in output
    assert cloud.calls() == []
