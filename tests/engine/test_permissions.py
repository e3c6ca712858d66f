"""A whole stack's life with the token that `doctor` makes for it: enough for everything, and nothing of it to spare.

The emulator refuses what a token may not do, and its operations say which permission they need: they are the judge of
the list in `components/platform/permissions.py`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings, cli
from components.account.facts import ask
from components.account.question import question
from components.account.reader import Account as Asked
from components.commands.exits import Exit
from components.platform.sdk import SDK_VERSION
from components.provider.api_client import Client
from components.settings.permissions import needs
from emulator.permissions import satisfies
from emulator.registry import load_services
from emulator.settings import Account
from emulator.testing import running
from testbed.account import EmulatedAccount
from testbed.project import MakeProject, Project
from tests.engine.test_policy_pack import CODE, PLUGIN, WHOLE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load

ZONES = ("example.com", "more.example")
SETTINGS: dict[str, Any] = {
    "name": "box",
    "environment": "throw-away",
    "sdk": {"version": SDK_VERSION},
    "worker": {"bundle": "worker.js", "routes": [{"pattern": "box.more.example/*", "zone": "more.example"}]},
    "domain": {"hostname": "p.example.com", "zone": "example.com", "api_hostname": "api.example.com"}
    | {"shared_zone": "accept"},
    "storage": {"events": {"enabled": True}, "files": {"cors_origins": ["https://a.example"]}},
    "access": {
        "zero_trust": {
            "team_domain": "team.cloudflareaccess.com",
            "emails": ["me@a.example"],
            "service_tokens": ["ci"],
        }
    },
}
"""Every part that needs a permission of its own; building the image needs the one that applications need."""


CREDENTIALS = {"containers.generate_credentials"}
"""By which an image's size is read; they change nothing."""


class Stage:
    """A project with these settings, and the account."""

    def __init__(self, project: Project, account: EmulatedAccount) -> None:
        self.project, self.account = project, account
        env: Any = project.pulumi.env
        env.update(account.env)
        body = {"repository": f"{account.account}/ready", "tags": ["1"], "env": [f"SANDBOX_VERSION={SDK_VERSION}"]}
        made = account.control("POST", "/registry/images", json=body)
        reference = f"{account.emulator.origin.removeprefix('http://')}/{account.account}/ready@{made['digest']}"
        self.document = {**SETTINGS, "account_id": account.account, "image": {"reference": reference}}
        self.settings = SandboxSettings.parse(self.document)
        compared = "async checkVersionCompatibility(){let e=mg,n;}"
        code = f'var mg="{SDK_VERSION}",nr="x";class Compared{{{compared}}}{CODE}'
        (project.folder / "worker.js").write_text(code)
        (project.folder / "settings.json").write_text(json.dumps(self.document))
        stack = {"config": {"small:settings": self.document}}
        (project.folder / "Pulumi.test.yaml").write_text(json.dumps(stack))

    def use(self, token: str) -> None:
        env: Any = self.project.pulumi.env
        env["CLOUDFLARE_API_TOKEN"] = token

    def doctor(self, *arguments: str) -> int:
        return cli.main(["doctor", str(self.project.folder), "--stack", "test", *arguments])


@pytest.fixture
def stage(tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with running(tmp_path / "emulator", accounts=(Account(zones=ZONES),)) as served:
        account = EmulatedAccount(served)
        found = Stage(make_project(WHOLE, extra_yaml=PLUGIN), account)
        for name, value in found.project.pulumi.env.items():
            if name in account.env or name.startswith("PULUMI_") or name == "PATH":
                monkeypatch.setenv(name, value)
        yield found
        account.http.close()


def test_the_token_that_doctor_makes_is_enough_and_nothing_of_it_is_to_spare(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    stage.account.clear_journal()
    assert stage.doctor() == Exit.DONE
    before = capsys.readouterr().out
    assert "0 missing" in before
    assert "ok       engine" in before
    assert "ok       plugins" in before
    assert {each["operation"] for each in stage.account.journal() if each["method"] != "GET"} <= CREDENTIALS

    assert stage.doctor("--create-token", "--expires-in", "7", "--format", "json") == Exit.DONE
    made = json.loads(capsys.readouterr().out)
    stage.use(made["value"])
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", made["value"])
    assert stage.doctor() == Exit.DONE
    told = capsys.readouterr().out
    assert "0 missing, 0 advice, 0 unseen" in told
    assert "not asked: nothing is live yet" in told

    stage.account.clear_journal()
    stage.project.up()
    stage.project.up("--expect-no-changes")
    stage.project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    live = stage.account.journal()

    assert stage.doctor() == Exit.DONE
    deployed = capsys.readouterr().out
    assert f"ok       live                                      Worker {SDK_VERSION}, image {SDK_VERSION}\n" in deployed
    assert "ok       image                                     Sandbox 0 MB, compressed" in deployed
    account = Asked(Client(made["value"], stage.account.url), stage.account.account)
    seen = ask(account, question(stage.settings, "test"))
    assert seen.live.worker_version is not None
    assert seen.live.worker_version.value == SDK_VERSION
    assert seen.unseen == {}

    stage.account.clear_journal()
    stage.project.succeed("destroy", "--yes", "--skip-preview")
    assert "worker" not in stage.account.deployed()

    by_id = {each.id: each for service in load_services() for each in service.operations}
    used = {each["operation"] for each in (*live, *stage.account.journal()) if each["status"] < 400}
    asked_for = [by_id[each].needs for each in used if each in by_id and by_id[each].needs]
    held = frozenset(each.permission.name for each in needs(stage.settings))
    assert [wanted for wanted in asked_for if not any(satisfies(held, one) for one in wanted)] == []
    spare = [name for name in held if all(any(satisfies(held - {name}, one) for one in wanted) for wanted in asked_for)]
    assert spare == []


def test_without_one_permission_the_deployment_itself_is_refused(stage: Stage):
    """What the list says by operations is what a deployment meets, half-way."""
    every = {each["name"]: each["id"] for each in stage.account.api("GET", "/tokens/permission_groups")}
    names = [each.permission.name for each in needs(stage.settings) if not each.zone]
    groups = [{"id": every[name]} for name in names if name != "Workers Containers Write"]
    resources = {f"com.cloudflare.api.account.{stage.account.account}": "*"}
    zones = {"com.cloudflare.api.account.zone.*": "*"}
    policies = [
        {"effect": "allow", "resources": resources, "permission_groups": groups},
        {
            "effect": "allow",
            "resources": {f"com.cloudflare.api.account.{stage.account.account}": zones},
            "permission_groups": [{"id": every[each.permission.name]} for each in needs(stage.settings) if each.zone],
        },
    ]
    made = stage.account.api("POST", "/tokens", json={"name": "less", "policies": policies})
    stage.use(made["value"])
    refused = stage.project.fail("up", "--yes", "--skip-preview")
    assert "Cloudflare refused (403" in refused
    assert "worker" in stage.account.deployed(), "this is why doctor asks first"
    assert "container_application" not in stage.account.deployed()
