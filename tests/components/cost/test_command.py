"""The command `cost`: each source, each format, and what a user can get wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from components import cli
from components.commands.exits import Exit
from emulator.testing import running

Cost = Callable[..., str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Pulumi.yaml").write_text("name: box\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  box:settings:\n    container: {max_instances: 4}\n")
    return tmp_path


@pytest.fixture
def cost(capsys: pytest.CaptureFixture[str]) -> Cost:
    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert cli.main(["cost", *arguments]) == Exit.DONE
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Cost:
    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert cli.main(["cost", *arguments]) == Exit.REFUSED
        return capsys.readouterr().err

    return run


def test_settings_in_every_format(cost: Cost):
    text, markdown, found = cost(), cost("--format", "markdown"), json.loads(cost("--format", "json"))
    totals = [f"{found['columns'][each]['total']:.2f}" for each in ("idle", "typical", "every instance busy")]
    assert ["Total", *totals] in [line.split() for line in text.splitlines()]
    assert f"| **Total** | **{totals[0]}** | **{totals[1]}** | **{totals[2]}** |" in markdown
    assert found["ceiling"] == pytest.approx(80.66)
    assert found["assumptions"]["awake_hours"] == 160


def test_the_last_row_is_the_sum_of_those_above_it(cost: Cost):
    lines = [line.split() for line in cost().splitlines()]
    begin = next(index for index, words in enumerate(lines) if words[:1] == ["Workers"])
    end = next(index for index, words in enumerate(lines) if words[:1] == ["Total"])
    sums = [sum(float(words[column]) for words in lines[begin : end - 1]) for column in (-3, -2, -1)]
    assert [f"{each:.2f}" for each in sums] == lines[end][1:]


def test_a_workload_prints_its_seed_and_is_the_same_each_time(cost: Cost, project: Path):
    first = cost("--workload", "--arrivals", "40", "--seed", "7", "--svg", "day.svg")
    assert first.startswith(
        "40 arrivals an hour to 50 sandboxes, 5 minutes each, asleep after 10 minutes, on 4 x basic;"
    )
    assert "seed 7" in first
    drawn = (project / "day.svg").read_text()
    assert cost("--workload", "--arrivals", "40", "--seed", "7", "--svg", "day.svg") == first
    assert (project / "day.svg").read_text() == drawn
    assert cost("--workload", "--arrivals", "40", "--seed", "8") != first
    assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - made here
    found = json.loads(cost("--workload", "--arrivals", "40", "--seed", "7", "--format", "json"))
    assert (found["seed"], found["max_instances"], found["account_limit"]) == (7, 4, 6000)
    assert found["refused"] > 0


def test_sleep_comes_from_the_settings_unless_it_is_said(cost: Cost, project: Path):
    (project / "Pulumi.dev.yaml").write_text(
        "config:\n  box:settings:\n    worker: {variables: {SLEEP_AFTER: 2m}}\n    container: {max_instances: 4}\n"
    )
    assert "asleep after 2 minutes" in cost("--workload")
    assert "asleep after 60 minutes" in cost("--workload", "--idle", "1h")


def test_a_preview_that_makes_and_takes_away(cost: Cost, project: Path):
    application = {"type": "cloudflare-sandbox:index:ContainerApplication", "urn": "urn::app"}
    old = {**application, "inputs": {"instanceType": "lite", "maxInstances": 2}}
    document = {
        "steps": [
            {"op": "delete", "urn": "urn::app", "oldState": old},
            {
                "op": "create",
                "urn": "urn::b",
                "newState": {"type": "cloudflare:index/r2Bucket:R2Bucket", "urn": "urn::b"},
            },
        ],
        "changeSummary": {"create": 1, "delete": 1},
    }
    (project / "change.json").write_text(json.dumps(document))
    found = json.loads(cost("--preview", "change.json", "--format", "json"))
    assert (found["before"]["idle"], found["after"]["every instance busy"]) == (5, 5)
    assert found["difference"]["every instance busy"] < 0
    assert "After: no instances" in cost("--preview", "change.json")


def test_the_account_tells_what_is_awake_now(cost: Cost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with running(tmp_path / "cloud") as cloud:
        monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", cloud.account_id)
        monkeypatch.setenv("CLOUDFLARE_API_TOKEN", cloud.token)
        monkeypatch.setenv("CLOUDFLARE_BASE_URL", cloud.url)
        shown = cost("--usage")
        assert shown.splitlines()[2].split() == ["Total", "0", "0.00"]
        assert "neither hours nor processor time" in shown
        assert "| **Total** |  | **0** | **0.00** |" in cost("--usage", "--format", "markdown")
        assert json.loads(cost("--usage", "--format", "json"))["applications"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stack", "nope"], ". has no stack nope with settings (dev)"),
        (["nowhere"], "nowhere: there is no such folder; name that of a Pulumi project"),
        (["--preview", "nowhere.json"], "nowhere.json: No such file or directory; name a file that"),
        (["--preview", "Pulumi.yaml"], "Pulumi.yaml: is no preview; write one with `pulumi preview --json"),
        (["--svg", "a.svg"], "--svg: draws a workload; add --workload"),
        (["--preview", "other.json"], "other.json: is no preview; write one with `pulumi preview --json"),
        (["--arrivals", "20"], "--arrivals: is of a workload; add --workload"),
        (["--idle", "1m"], "--idle: is of a workload; add --workload"),
        (["--usage", "--assume", "reads=1"], "--assume: the account is asked, and nothing assumed; leave --assume or"),
        (["empty"], "empty: there is no Pulumi.<stack>.yaml with settings; name the folder of a Pulumi project"),
        (["--workload", "--svg", "no/such.svg"], "no/such.svg: No such file or directory; name another file"),
        (["--workload", "--idle", "soon"], "--idle soon: expected a time such as 30s"),
        (["--assume", "a=1"], "--assume a=1: there is no such assumption"),
        (["--usage"], "CLOUDFLARE_ACCOUNT_ID: is not set; set it to the id of the account"),
    ],
)
def test_a_mistake_is_one_message(refused: Cost, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch):
    for name in ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    Path("empty").mkdir()
    Path("other.json").write_text('{"rows": []}')
    told = refused(*arguments)
    assert told.startswith(message)
    assert told.count("\n") == 1


def test_a_token_that_is_refused_is_told_without_the_token(
    refused: Cost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with running(tmp_path / "cloud") as cloud:
        monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", cloud.account_id)
        monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "a-token-of-somebody-else")
        monkeypatch.setenv("CLOUDFLARE_BASE_URL", cloud.url)
        told = refused("--usage")
    assert "a-token-of-somebody-else" not in told
    assert "Traceback" not in told


def test_settings_that_cannot_be_simulated_say_why(refused: Cost, project: Path):
    (project / "Pulumi.dev.yaml").write_text(
        "config:\n  box:settings:\n    sdk: {generation: 1.x, version: 1.0.0}\n    worker: {bundle: dist}\n"
    )
    assert refused("--workload").startswith("--workload: with SDK 1.x the Worker's code chooses size and number")
