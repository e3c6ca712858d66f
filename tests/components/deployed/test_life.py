"""The commands about what is deployed, through the life of one stack on the real engine."""

import json
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from components.commands import status
from components.pulumi_cli.project import PulumiProject
from tools.paths import ROOT

from .conftest import KEY, OLD_KEY, WORKER, Deployed

pytestmark = pytest.mark.engine


@pytest.mark.long
@pytest.mark.timeout(900)  # some thirty runs of the engine, one after the other
def test_the_life_of_a_stack(deployed: Deployed, monkeypatch: pytest.MonkeyPatch):
    releases: dict[str, str] = {}
    status_says_what_is_live_and_asks_only(deployed, releases)
    status_waits_for_a_rollout(deployed, monkeypatch)
    the_log_of_a_stack_is_followed(deployed)
    drift_is_listed_without_secrets_and_nothing_is_written(deployed)
    rollback_shows_its_plan_and_asks(deployed, releases)
    a_rollback_that_is_cut_off_is_finished_by_the_same_command(deployed, releases, monkeypatch)
    pulumi_up_of_the_program_of_then_changes_nothing(deployed, releases)
    a_key_is_replaced_while_both_are_let_in(deployed)
    a_rollback_would_bring_back_the_old_key_and_is_refused(deployed)
    what_is_gone_from_the_account_is_named(deployed)
    every_command_of_the_guide_was_run(deployed)


def status_says_what_is_live_and_asks_only(deployed: Deployed, releases: dict[str, str]):
    deployed.first()
    deployed.program.up()
    releases["first"] = deployed.version
    deployed.second()
    deployed.program.up("--message", "the second release")
    releases["second"] = deployed.version
    deployed.cloud.calls()

    found = deployed.document("status")
    assert deployed.cloud.writes() == []
    assert (found["healthy"], found["problems"], found["stack"]) == (True, [], "test")
    (worker,) = found["workers"]
    version = worker["version"]
    assert (version["live"], version["state"], version["number"]) == (releases["second"],) * 2 + (2,)
    (kind,) = worker["kinds"]
    assert kind["image"] == {
        "live": deployed.images[1],
        "state": deployed.images[1],
        "agrees": True,
        "in_registry": True,
    }
    assert (kind["kind"], kind["rollout"], kind["instances"]["active"]) == ("main", None, 0)
    assert worker["sdk_version"] == kind["sdk_version"] == deployed.program.outputs()["sdk_version"]
    assert [(each["id"], each["created"]) for each in found["keys"]] == [("team", "2025-01-01")]
    assert found["last_deployment"]["message"] == "the second release"
    assert found["notes"] == [
        f"key team is {found['keys'][0]['days']} days old; replace it: sandbox-stack key rotate --id team"
    ]

    code, text, _ = deployed.run("status")
    assert (code, text.splitlines()[-1]) == (0, "healthy")
    assert KEY["sha256"] not in text


def status_waits_for_a_rollout(deployed: Deployed, monkeypatch: pytest.MonkeyPatch):
    deployed.cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 600, "preparation": 0})
    body = {"description": "by hand", "strategy": "rolling", "kind": "full_auto", "step_percentage": 100}
    path = f"/containers/applications/{deployed.application['id']}/rollouts"
    deployed.cloud.api("POST", path, json={**body, "target_configuration": {"image": deployed.images[1]}})
    (kind,) = deployed.document("status")["workers"][0]["kinds"]
    assert kind["rollout"]["text"].startswith("pending, step 0 of 1")
    slept: list[float] = []

    def time_passes(seconds: float) -> None:
        slept.append(seconds)
        deployed.cloud.control("POST", "/clock", json={"advance": 700})

    monkeypatch.setattr(status, "time", SimpleNamespace(sleep=time_passes))
    code, text, _ = deployed.run("status", "--watch")
    monkeypatch.undo()
    assert (code, "rollout" in text, len(slept) > 0) == (0, False, True)
    deployed.cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})


def the_log_of_a_stack_is_followed(deployed: Deployed):
    command = [sys.executable, "-m", "components", "logs", "--format", "json", "--project"]
    deployed.ran.append("logs")
    with subprocess.Popen(
        [*command, str(deployed.program.project.folder)],
        cwd=ROOT,
        env=dict(deployed.program.project.pulumi.env) | {"CLOUDFLARE_ACCOUNT_ID": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout
        assert following.stderr
        assert following.stderr.readline() == f"Listening to {WORKER}; Ctrl-C ends it.\n"
        assert deployed.ask("no key") == 401
        event = json.loads(following.stdout.readline())
        following.send_signal(signal.SIGINT)
        assert following.wait(60) == 0
    assert event["event"]["request"]["url"].endswith("/v1/status")
    assert event["event"]["response"]["status"] == 401


def drift_is_listed_without_secrets_and_nothing_is_written(deployed: Deployed):
    assert deployed.run("drift")[:2] == (0, "no drift: the account is what the state says\n")
    path = f"/containers/applications/{deployed.application['id']}"
    deployed.cloud.api("PATCH", path, json={"max_instances": 7})
    deployed.cloud.calls()
    found = deployed.document("drift", code=1)
    (difference,) = found["differences"]
    assert (difference["property"], difference["state"], difference["account"]) == ("maxInstances", 10, 7)
    assert deployed.cloud.writes() == []
    assert KEY["sha256"] not in str(found)

    deployed.cloud.api("PATCH", path, json={"max_instances": 10})
    deployed.cloud.fault(operation="containers.get_application", times=0, status=403, code=10000, message="no")
    code, out, err = deployed.run("drift")
    deployed.cloud.control("DELETE", "/faults")
    assert (code, out) == (2, "")
    assert "Cloudflare refused (403, code 10000)" in err


def rollback_shows_its_plan_and_asks(deployed: Deployed, releases: dict[str, str]):
    deployed.cloud.calls()
    code, plan, err = deployed.run("rollback")
    assert (code, err) == (2, "--yes: is needed where nobody can be asked; nothing was changed\n")
    assert f"version {releases['second']} -> {releases['first']}" in plan
    assert deployed.cloud.writes() == []
    listed = deployed.document("rollback", "--list")["releases"]
    assert [(each["version"], each["live"]) for each in listed] == [
        (releases["second"], True),
        (releases["first"], False),
    ]
    code, text, _ = deployed.run("rollback", "--list")
    assert (code, [line.split()[0] for line in text.splitlines()]) == (0, [each["release"] for each in listed])
    code, _, err = deployed.run("rollback", "--to", "nothing")
    assert (code, "has no such release; the account tells of" in err) == (2, True)


def a_rollback_that_is_cut_off_is_finished_by_the_same_command(
    deployed: Deployed, releases: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    # The Worker is back, the image is not.
    deployed.cloud.fault(operation="containers.create_rollout", times=0, status=403, code=10000, message="no")
    code, _, err = deployed.run("rollback", "--yes")
    deployed.cloud.control("DELETE", "/faults")
    assert (code, "create_rollout" in err or "/rollouts" in err) == (2, True)
    assert (deployed.version, deployed.image) == (releases["first"], 1)
    found = deployed.document("status", code=1)
    assert "somebody deployed beside Pulumi, or a run was cut off" in found["problems"][0]

    # Both are back, the state is not.
    succeed = PulumiProject.succeed

    def cut_off(project: PulumiProject, *arguments: str, **options: float) -> str:
        if arguments[0] == "refresh":
            raise KeyboardInterrupt
        return succeed(project, *arguments, **options)

    monkeypatch.setattr(PulumiProject, "succeed", cut_off)
    assert deployed.run("rollback", "--yes")[0] == 130
    assert (deployed.version, deployed.image) == (releases["first"], 0)
    monkeypatch.undo()

    deployed.cloud.calls()
    code, out, _ = deployed.run("rollback", "--yes")
    assert (code, out.splitlines()[-1].endswith("and the state says so.")) == (0, True)
    assert deployed.cloud.writes() == []
    assert deployed.document("status")["healthy"]
    assert deployed.state("ContainerApplication")["inputs"]["workerVersionId"] == releases["first"]


def pulumi_up_of_the_program_of_then_changes_nothing(deployed: Deployed, releases: dict[str, str]):
    deployed.first()
    deployed.program.up("--expect-no-changes")
    assert (deployed.version, deployed.image) == (releases["first"], 0)
    assert deployed.document("rollback", "--to", releases["first"][:8], "--yes")["changed"] is False


def a_key_is_replaced_while_both_are_let_in(deployed: Deployed):
    comment = "# keys of the team\n"
    deployed.stack_file.write_text(deployed.stack_file.read_text().replace("config:\n", f"config:\n  {comment}"))
    assert deployed.ask(OLD_KEY) == 200
    code, out, err = deployed.run("key", "rotate", "--id", "team", "--overlap", "1d")
    new = out.strip()
    assert (code, re.fullmatch(r"sbx_[\w-]{43}", new) is not None, new in err) == (0, True, False)
    assert new not in deployed.stack_file.read_text()
    assert comment in deployed.stack_file.read_text()
    (kept,) = set(deployed.keys) - {"team"}
    ends = deployed.keys[kept]["not_after"]
    assert deployed.keys[kept] == {**KEY, "not_after": ends}
    assert f"the old one until {ends}." in err
    assert deployed.keys["team"]["sha256"] != KEY["sha256"]
    assert (deployed.ask(OLD_KEY), deployed.ask(new)) == (200, 401)

    deployed.program.up()
    assert (deployed.ask(OLD_KEY), deployed.ask(new)) == (200, 200)
    ages = {each["id"]: each["days"] for each in deployed.document("status")["keys"]}
    assert ages["team"] in (0, 1)
    code, _, err = deployed.run("key", "rotate", "--id", "team")
    assert (code, f"the old key is {kept}" in err) == (2, True)

    code, out, _ = deployed.run("key", "rotate", "--id", "team", "--finish")
    assert (code, out) == (0, f"Took {kept} out of the settings; `pulumi up` tells the Worker.\n")
    deployed.program.up()
    assert (deployed.ask(OLD_KEY), deployed.ask(new)) == (401, 200)


def a_rollback_would_bring_back_the_old_key_and_is_refused(deployed: Deployed):
    before = deployed.version
    deployed.cloud.calls()
    code, _, err = deployed.run("rollback", "--yes")
    assert (code, "going back would bring those back. Nothing was changed" in err) == (2, True)
    assert [each for each in deployed.cloud.writes() if not each.endswith("/deployments")] == []
    assert (deployed.version, deployed.ask(OLD_KEY)) == (before, 401)


def what_is_gone_from_the_account_is_named(deployed: Deployed):
    application = deployed.application["id"]
    deployed.cloud.api("DELETE", f"/containers/applications/{application}")
    found = deployed.document("status", code=1)
    assert found["problems"] == [
        f"{WORKER}/main: its container application is gone; `pulumi up --refresh` makes it anew"
    ]
    (difference,) = deployed.document("drift", code=1)["differences"]
    assert (difference["type"], difference["way"]) == ("cloudflare-sandbox:index:ContainerApplication", "gone")


def every_command_of_the_guide_was_run(deployed: Deployed):
    blocks = re.findall(r"^```bash\n(.*?)^```", (ROOT / "docs" / "operate.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    told = {line.removeprefix("sandbox-stack ") for line in lines if line.startswith("sandbox-stack ")}
    assert len(told) > 8
    assert told - set(deployed.ran) == set()
