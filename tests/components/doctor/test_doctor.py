"""What doctor says of tokens, accounts and machines; `tests/engine/test_permissions.py` judges what tokens need."""

import http.server
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from components import cli
from components.account import facts
from components.account.facts import ask
from components.commands.exits import Exit
from components.doctor import examine, machine
from components.platform import permissions
from components.platform.engine import OLDEST
from components.platform.sdk import SDK_VERSION, bundled_version
from components.rules import check
from components.settings.facts import facts as facts_of
from components.settings.permissions import Need
from testbed.worker_build import packages
from tests.components.doctor.conftest import NEEDS, SETTINGS, Office
from tools import pins

Doctor = Callable[..., tuple[int, dict[str, Any]]]
TOKENS = permissions.TOKENS.name
BY_LABEL = pytest.mark.parametrize("missing", NEEDS, ids=lambda need: need.label)


def of(report: dict[str, Any], status: str) -> list[str]:
    return [each["about"] for each in report["lines"] if each["status"] == status]


def named(report: dict[str, Any], status: str) -> set[str]:
    return set(of(report, status)) & {need.label for need in NEEDS}


def exactly(*but: Need) -> list[tuple[Need, str]]:
    return [(need, need.permission.name) for need in NEEDS if need not in but]


def test_a_token_with_exactly_what_is_needed_lacks_nothing(office: Office, doctor: Doctor):
    office.mint(office.policies(exactly()))
    code, report = doctor()
    assert named(report, "ok") == {need.label for need in NEEDS}
    assert of(report, "unseen") == []
    assert [each["about"] for each in report["lines"] if each["about"] == "token"] == ["token"]
    assert set(of(report, "missing")) <= {"engine"}, "where no pulumi is on PATH"
    assert code == (Exit.NO if report["missing"] else Exit.DONE)


@BY_LABEL
def test_each_missing_permission_is_named_and_nothing_is_written(office: Office, doctor: Doctor, missing: Need):
    office.mint(office.policies(exactly(missing)))
    code, report = doctor()
    assert code == Exit.NO
    assert named(report, "missing") == {missing.label}
    (line,) = (each for each in report["lines"] if each["about"] == missing.label)
    assert line["rule"] == "auth/token-lacks"
    assert line["remedy"] == f"Add to the token: {missing.label}."
    assert office.writes() == []


@BY_LABEL
def test_a_token_that_may_not_read_itself_is_probed(office: Office, doctor: Doctor, missing: Need):
    """What it certainly lacks is named; whether it may write is not claimed."""
    blind = next(need for need in NEEDS if need.permission.name == TOKENS)
    office.mint(office.policies(exactly(missing, blind)))
    code, report = doctor()
    assert code == Exit.NO
    lookup = missing.permission == permissions.ZONE_READ
    assert named(report, "missing") == {blind.label} | ({missing.label} - {missing.label if lookup else ""})
    if lookup:
        assert {each for each in of(report, "missing") if each == "zone"} == {"zone"}
    assert named(report, "ok") <= {need.label for need in NEEDS if need.permission.right == permissions.READ}
    assert named(report, "missing") | named(report, "unseen") | named(report, "ok") == {need.label for need in NEEDS}
    assert office.writes() == []


def test_reading_is_not_taken_for_writing(office: Office, doctor: Doctor):
    lesser = [(need, f"{need.permission.product.name} {permissions.READ}") for need in NEEDS]
    written = {need.label for need in NEEDS if need.permission.right == permissions.WRITE}
    office.mint(office.policies(lesser))
    assert named(doctor()[1], "missing") == written
    office.mint(office.policies([each for each in lesser if each[0].permission.name != TOKENS]))
    report = doctor()[1]
    assert named(report, "missing") == {TOKENS}
    assert named(report, "unseen") == written - {TOKENS}
    told = {each["told"].partition(": ")[2] for each in report["lines"] if each["about"] in written - {TOKENS}}
    assert told == {"reading is allowed; writing is not visible, as the token may not read itself"}


def test_what_a_token_has_too_much_of_is_named(office: Office, doctor: Doctor):
    zone = next(need for need in NEEDS if need.zone)
    account = next(need for need in NEEDS if not need.zone)
    more = office.policies([(account, "D1 Write"), (account, "Account Settings Write"), (zone, "Zone WAF Write")])
    office.mint([*office.policies(exactly()), *more])
    report = doctor()[1]
    told = {each["rule"]: each for each in report["lines"] if each["about"] == "token"}
    surplus = "Account Settings Write, D1 Write, Zone WAF Write (example.com)"
    assert told["auth/token-surplus"]["remedy"] == f"Remove from the token: {surplus}."
    assert told["auth/token-scope"]["status"] == "missing"
    assert told["auth/token-scope"]["remedy"] == "Remove from the token: Account Settings Write."


def test_a_policy_for_another_zone_and_one_that_denies_allow_nothing_here(office: Office, doctor: Doctor):
    dns = next(need for need in NEEDS if need.permission == permissions.DNS)
    other = {f"{permissions.ZONE}.{office.zones['more.example']}": "*"}
    denied = office.policies([(NEEDS[0], NEEDS[0].permission.name)])[0] | {"effect": "deny"}
    elsewhere = office.policies([(dns, "DNS Write")])[0] | {"resources": other}
    office.mint([*office.policies(exactly(dns)), elsewhere, denied])
    assert named(doctor()[1], "missing") == {dns.label, NEEDS[0].label}


@pytest.mark.parametrize("nested", [True, False])
def test_a_policy_for_every_zone_of_the_account_is_enough(office: Office, doctor: Doctor, nested: bool):
    account = f"{permissions.ACCOUNT}.{office.account.account}"
    resources: Any = {account: {f"{permissions.ZONE}.*": "*"}} if nested else {account: "*"}
    zone = {**SETTINGS, "worker": {}}
    office.settings(zone)
    needed = [each for each in exactly() if each[0].zone != "more.example"]
    of_zones = [each | {"resources": resources} for each in office.policies([one for one in needed if one[0].zone])]
    office.mint([*office.policies([one for one in needed if not one[0].zone]), *of_zones])
    report = doctor()[1]
    assert named(report, "ok") == {need.label for need, _ in needed}
    assert of(report, "advice") == []


def test_tokens_that_cannot_be_used_are_told_apart(office: Office, doctor: Doctor):
    office.use("x" * 40)
    code, report = doctor()
    (line,) = (each for each in report["lines"] if each["about"] == "token")
    assert (code, line["rule"]) == (Exit.NO, "auth/token-valid")
    assert line["told"].endswith("the token is refused as mistyped, revoked or another account's")
    assert named(report, "unseen") == {need.label for need in NEEDS}

    office.mint(office.policies(exactly()), days=2)
    office.account.control("POST", "/clock", json={"advance": 3 * 86_400})
    report = doctor()[1]
    told = {each["rule"]: each["told"] for each in report["lines"] if each["about"] == "token"}
    assert told["auth/token-valid"].endswith("the token is expired")


def test_a_token_without_an_end_is_advised_against(doctor: Doctor):
    report = doctor()[1]
    (line,) = (each for each in report["lines"] if each["about"] == "token")
    assert (line["status"], line["rule"]) == ("advice", "auth/token-expires")


def test_zones_that_are_not_there_or_not_active_are_named(office: Office, doctor: Doctor):
    office.settings({**SETTINGS, "domain": {"hostname": "absent.example"}, "access": {}})
    lines = {each["about"]: each for each in doctor()[1]["lines"]}
    assert "the account has no zone absent.example that this token can see" in lines["zone"]["told"]
    body = {"name": "pending.org", "account": {"id": office.account.account}}
    assert office.account.http.post(f"{office.account.url}/zones", json=body).status_code == 200
    office.settings(
        {**SETTINGS, "domain": {"hostname": "pending.org", "api_hostname": "api.pending.org"}, "access": {}}
    )
    lines = {each["about"]: each for each in doctor()[1]["lines"]}
    assert "the zone pending.org is pending" in lines["zone"]["told"]


def test_a_certificate_of_ones_own_that_is_not_there_is_named(office: Office, doctor: Doctor):
    office.settings({**SETTINGS, "domain": {**SETTINGS["domain"], "certificate": "own"}})
    lines = [each for each in doctor()[1]["lines"] if each["about"] == "certificate"]
    assert [each["told"] for each in lines] == ["domain.hostname: no active certificate covers *.p.example.com"]


def test_more_instances_than_the_account_allows_are_named(office: Office, doctor: Doctor):
    kinds = {
        f"kind{number}": {"class_name": f"Sandbox{number}", "container": {"instance_type": "standard-4"} | most}
        for number, most in enumerate([{"max_instances": 300}, {"max_instances": 200}])
    }
    office.settings({**SETTINGS, "further_sandboxes": kinds})
    lines = {each["rule"]: each for each in doctor()[1]["lines"] if each["about"] == "limits"}
    assert lines["account/limits"]["status"] == "missing"


def test_an_account_without_containers_is_told_from_a_token_without_permission(office: Office, doctor: Doctor):
    office.mint(office.policies(exactly()))
    body = {"success": False, "errors": [{"code": 1000, "message": "no such product"}], "messages": [], "result": None}
    office.account.fault(operation="containers.get_me", status=403, body=body, times=1)
    lines = {each["about"]: each for each in doctor()[1]["lines"]}
    assert lines["containers"]["rule"] == "account/containers"


def test_the_size_and_the_version_of_an_image_are_read(office: Office, monkeypatch: pytest.MonkeyPatch):
    body = {"repository": f"{office.account.account}/ready", "tags": ["1"], "labels": {"x": "y" * 4000}}
    made = office.account.control("POST", "/registry/images", json=body)
    host = office.account.emulator.origin.removeprefix("http://")
    image = {"reference": f"{host}/{office.account.account}/ready@{made['digest']}"}
    office.settings({**SETTINGS, "image": image, "container": {"instance_type": "lite"}})
    monkeypatch.setattr(facts, "_MB", 0.001)
    told = ask(*office.asked)
    assert told.sizes["Sandbox"].value > 2000
    found = check(told.onto(facts_of(office.parsed)), today=datetime.now(UTC).date())
    assert "image/fits-disk" in {each.rule for each in found}
    assert office.writes() == []


def test_a_clock_that_is_wrong_is_noticed(office: Office):
    for ahead in (-90, 90):
        account, asked = office.asked
        told = ask(account, asked, now=lambda ahead=ahead: datetime.now(UTC).timestamp() + ahead)
        assert told.account.clock_ahead is not None
        assert abs(told.account.clock_ahead.value - ahead) <= 2


def test_what_is_missing_here_is_said(tmp_path: Path):
    empty = machine.tools({"PATH": str(tmp_path)}, {"buildkit"})
    assert empty.engine is not None
    assert empty.engine.value is None
    assert pins.PULUMI == OLDEST
    program = tmp_path / "pulumi"
    program.write_text('#!/bin/sh\n[ "$1" = version ] && echo v3.1.0 && exit\necho "[]"\n')
    program.chmod(0o755)
    found = machine.tools({"PATH": f"{tmp_path}:/usr/bin:/bin"}, {"buildkit"})
    assert found.engine is not None
    assert (found.engine.value, [each.value.split()[0] for each in found.lacking or ()]) == (
        "3.1.0",
        ["cloudflare", "docker-build"],
    )
    program.write_text("#!/bin/sh\nexit 1\n")
    broken = machine.tools({"PATH": f"{tmp_path}:/usr/bin:/bin"}, ())
    assert (broken.engine, broken.lacking) == (None, None)


def test_hosts_are_asked_for_any_answer():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    asked, unreached = machine.reach({"domain.hostname": "doctor.p.localhost"}, port, local=True)
    assert (asked, unreached) == ((f"GET http://doctor.p.localhost:{port}/",), ())
    server.shutdown()
    server.server_close()
    _, unreached = machine.reach({"domain.hostname": "doctor.p.localhost"}, port, local=True)
    assert unreached is not None
    assert [each.where for each in unreached] == ["domain.hostname"]
    assert "no answer" in unreached[0].value
    assert machine.reach({"domain.hostname": "a.example"}, None, local=True) == ((), None)


def test_it_can_be_asked_from_python(office: Office):
    account, _ = office.asked
    report = examine(office.parsed, "dev", account, folder=office.folder)
    assert report.document()["lines"]
    assert report.text().splitlines()[-1].endswith("unseen")


def test_the_new_token_is_the_least_and_is_printed_once(office: Office, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["doctor", str(office.folder), "--create-token", "--expires-in", "3"]) == Exit.DONE
    shown = capsys.readouterr()
    value = shown.out.strip()
    assert shown.out == f"{value}\n"
    assert value not in shown.err
    for need in NEEDS:
        assert f"  {need.label}\n" in shown.err
    (made,) = office.account.api("GET", "/tokens")
    assert made["name"] == "sandbox-stack box dev"
    day = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    assert made["expires_on"].startswith(day)
    resources = {name for policy in made["policies"] for name in policy["resources"]}
    assert resources == {
        f"{permissions.ACCOUNT}.{office.account.account}",
        *(f"{permissions.ZONE}.{zone_id}" for zone_id in office.zones.values()),
    }
    office.use(value)
    cli.main(["doctor", str(office.folder)])
    shown = capsys.readouterr()
    assert value not in shown.out + shown.err
    assert " 0 advice, 0 unseen" in shown.out


def test_who_may_make_no_tokens_is_told_what_to_do(office: Office, capsys: pytest.CaptureFixture[str]):
    blind = next(need for need in NEEDS if need.permission.name == TOKENS)
    office.mint(office.policies(exactly(blind)))
    assert cli.main(["doctor", str(office.folder), "--create-token"]) == Exit.REFUSED
    told = capsys.readouterr()
    assert told.out == ""
    assert f"use one with `{TOKENS}`, or make one in the dashboard with: " in told.err
    assert "Workers Containers Write" in told.err
    assert office.writes() == []


def test_a_zone_that_is_not_seen_stops_the_new_token(office: Office, capsys: pytest.CaptureFixture[str]):
    office.settings({**SETTINGS, "domain": {"hostname": "absent.example"}, "access": {}})
    office.use(office.account.token)
    assert cli.main(["doctor", str(office.folder), "--create-token"]) == Exit.REFUSED
    assert "sees no zone absent.example" in capsys.readouterr().err
    assert office.writes() == []


def test_an_unknown_outcome_of_making_a_token_is_said(office: Office, capsys: pytest.CaptureFixture[str]):
    office.account.fault(operation="tokens.account_create", after=True, drop=True, times=5)
    assert cli.main(["doctor", str(office.folder), "--create-token"]) == Exit.REFUSED
    assert "whether the token was made is not known: delete 'sandbox-stack box dev'" in capsys.readouterr().err
    assert len(office.account.api("GET", "/tokens")) == 1, "it is not asked for twice"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--expires-in", "3"], "--expires-in: is about a new token; add --create-token"),
        (["--stack", "none"], "has no stack none with settings (dev)"),
    ],
)
def test_mistakes_are_told(office: Office, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str):
    assert cli.main(["doctor", str(office.folder), *arguments]) == Exit.REFUSED
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("days", ["0", "366", "x", "-1", "³"])
def test_days_that_are_none_are_refused(office: Office, capsys: pytest.CaptureFixture[str], days: str):
    with pytest.raises(SystemExit):
        cli.main(["doctor", str(office.folder), "--create-token", "--expires-in", days])
    assert "is not a number of days from 1 to 365" in capsys.readouterr().err


def test_without_a_token_it_says_which_one_to_make(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN")
    assert cli.main(["doctor", str(office.folder)]) == Exit.REFUSED
    assert f"an API token of the account with: {', '.join(need.label for need in NEEDS)}" in capsys.readouterr().err


def test_an_account_that_does_not_answer_is_told(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("CLOUDFLARE_BASE_URL", "http://127.0.0.1:9/client/v4")
    assert cli.main(["doctor", str(office.folder)]) == Exit.REFUSED
    assert "does not answer" in capsys.readouterr().err


def test_check_asks_the_account_when_it_is_asked_to(office: Office, capsys: pytest.CaptureFixture[str]):
    dns = next(need for need in NEEDS if need.permission == permissions.DNS)
    office.mint(office.policies(exactly(dns)))
    plugin = "plugins: {providers: [{name: cloudflare-sandbox}]}\n"
    (office.folder / "Pulumi.yaml").write_text(f"name: box\nruntime: python\n{plugin}")
    cli.main(["check", str(office.folder), "--format", "json"])
    without = {each["rule"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert office.account.journal() == []
    assert cli.main(["check", str(office.folder), "--format", "json", "--account"]) == Exit.NO
    found = {each["rule"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found.keys() - without == {"auth/token-lacks"}
    line = found["auth/token-lacks"]
    assert line["where"].endswith("Pulumi.dev.yaml:1")
    assert line["what"] == f"CLOUDFLARE_API_TOKEN: the token lacks {dns.label}"
    assert office.writes() == []


def test_check_refuses_what_it_cannot_ask(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    (office.folder / "Dockerfile").write_text("FROM docker.io/cloudflare/sandbox:0.12.10\n")
    assert cli.main(["check", str(office.folder / "Dockerfile"), "--account"]) == Exit.REFUSED
    assert "has no settings of a stack; name the folder of a Pulumi project" in capsys.readouterr().err
    plugin = "plugins: {providers: [{name: cloudflare-sandbox}]}\n"
    (tmp_path / "Pulumi.yaml").write_text(f"name: box\nruntime: python\n{plugin}")
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN")
    assert cli.main(["check", str(office.folder), "--account"]) == Exit.REFUSED
    assert "--account: set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN, or leave it out" in capsys.readouterr().err


def test_the_version_of_the_sdk_is_told_by_its_code():
    (real,) = (packages() / "node_modules" / "@cloudflare" / "sandbox" / "dist").glob("sandbox-*.js")
    assert bundled_version(real.read_bytes()) == SDK_VERSION
    assert bundled_version(b'var $g="0.12.9",n;class A{async checkVersionCompatibility(){let e=$g,n;}}') == "0.12.9"
    assert bundled_version(b'const SDK_VERSION = "0.12.9";') is None
