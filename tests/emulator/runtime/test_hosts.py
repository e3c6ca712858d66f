"""Which Worker answers a host: routes, custom domains, workers.dev names, names for people."""

from pathlib import Path
from typing import Any

import pytest

from emulator.runtime.routing import host_name, is_own_name, matches, specificity
from emulator.settings import Settings
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import Stage

pytestmark = pytest.mark.workerd

NAMED = "export default { fetch(request) { return new Response(`NAME ${request.url}`) } };"


@pytest.fixture
def hosts(stage: Stage) -> Stage:
    """Three Workers that say who they are."""
    for name in ("one", "two", "three"):
        stage.uploads.put(name, NAMED.replace("NAME", name), compatibility_date="2026-10-01")
    return stage


def route(stage: Stage, pattern: str, script: str | None, zone_name: str = "sandbox.example") -> None:
    zone = stage.emulator.state.store.find("zone", "", "name", zone_name)[0]["id"]
    body: dict[str, Any] = {"pattern": pattern} | ({"script": script} if script else {})
    stage.raw.api("POST", f"/zones/{zone}/workers/routes", json=body).raise_for_status()


def test_the_most_specific_route_answers(hosts: Stage):
    route(hosts, "*.sandbox.example/*", "one")
    route(hosts, "api.sandbox.example/*", "two")
    route(hosts, "api.sandbox.example/v2/*", "three")
    route(hosts, "quiet.sandbox.example/*", None)
    answers = {
        ("8080-id-token.sandbox.example", "/"): "one http://8080-id-token.sandbox.example/",
        ("API.sandbox.example:8787", "/v1"): "two http://API.sandbox.example:8787/v1",
        ("api.sandbox.example", "/v2/x?y"): "three http://api.sandbox.example/v2/x?y",
        ("api.sandbox.example.localhost:99", "/v2/"): "three http://api.sandbox.example/v2/",
    }
    assert {asked: hosts.ask(asked[1], asked[0]).text for asked in answers} == answers
    for host in ("quiet.sandbox.example", "sandbox.example", "a.preview.example", "unknown.test"):
        answer = hosts.ask("/there", host)
        assert (answer.status_code, answer.text) == (
            404,
            f"No Worker answers on {host}/there: no route, custom domain or workers.dev name.\n",
        )


def test_a_zone_of_localhost_is_taken_as_it_is_named(hosts: Stage):
    route(hosts, "*.sandbox.localhost/*", "one", "sandbox.localhost")
    assert hosts.ask("/", "api.sandbox.localhost:8787").text == "one http://api.sandbox.localhost:8787/"


def test_a_custom_domain_answers_where_no_route_does(hosts: Stage):
    path = f"/accounts/{hosts.account}/workers/domains"
    made = hosts.raw.api("PUT", path, json={"hostname": "app.sandbox.example", "service": "one"})
    assert hosts.ask("/", "app.sandbox.example").text == "one http://app.sandbox.example/"
    route(hosts, "app.sandbox.example/only/*", "two")
    assert hosts.ask("/only/x", "app.sandbox.example").text == "two http://app.sandbox.example/only/x"
    assert hosts.ask("/", "app.sandbox.example").text == "one http://app.sandbox.example/"
    hosts.raw.api("DELETE", f"{path}/{made.json()['result']['id']}")
    assert hosts.ask("/", "app.sandbox.example").status_code == 404


def test_workers_dev_names_answer_when_enabled(hosts: Stage):
    host = f"one.emulated-{hosts.account[:8]}.workers.dev"
    assert hosts.ask("/", host).status_code == 404
    hosts.uploads.post("scripts/one/subdomain", {"enabled": True})
    assert hosts.ask("/", host).text == f"one http://{host}/"
    assert hosts.ask("/", f"{host}.localhost").text == f"one http://{host}/"
    assert hosts.ask("/", host.replace("emulated", "other")).status_code == 404


def test_people_may_ask_for_a_script_and_anything_below_it(hosts: Stage):
    assert hosts.ask("/", "two.localhost:1234").text == "two http://two.localhost:1234/"
    assert hosts.ask("/", "8080-id-token.two.localhost").text == "two http://8080-id-token.two.localhost/"
    assert hosts.ask("/", "four.localhost").status_code == 404


def test_the_api_answers_by_address_only(hosts: Stage):
    headers = {"host": "one.localhost", "authorization": f"Bearer {hosts.emulator.token}"}
    assert hosts.ask("/client/v4/accounts", headers=headers).text == "one http://one.localhost/client/v4/accounts"
    headers["host"] = "localhost:1"
    assert hosts.ask("/client/v4/accounts", headers=headers).json()["success"] is True


@pytest.mark.parametrize(
    ("pattern", "address", "answer"),
    [
        ("example.com", ("http", "example.com", "/"), True),
        ("example.com", ("http", "example.com", "/a"), False),
        ("example.com/*", ("http", "example.com", "/a"), True),
        ("example.com/a*", ("http", "example.com", "/ab"), True),
        ("example.com/a", ("http", "example.com", "/ab"), False),
        ("*.example.com/*", ("http", "a.b.example.com", "/"), True),
        ("*.example.com/*", ("http", "example.com", "/"), False),
        ("*example.com/*", ("http", "example.com", "/"), True),
        ("*example.com/*", ("http", "a.example.com", "/"), True),
        ("https://example.com/*", ("http", "example.com", "/"), False),
        ("https://example.com/*", ("https", "example.com", "/"), True),
        ("*://EXAMPLE.com/*", ("http", "example.com", "/"), True),
    ],
)
def test_patterns(pattern: str, address: tuple[str, str, str], answer: bool):
    assert matches(pattern, *address) is answer


def test_narrow_patterns_come_first():
    wide_to_narrow = ["*a.test/*", "*.a.test/*", "*.a.test/b/*", "*.b.a.test/*", "a.test/*", "a.test/b/*", "b.a.test/*"]
    narrow_to_wide = wide_to_narrow[::-1]
    assert sorted(narrow_to_wide, key=specificity) == wide_to_narrow


@pytest.mark.parametrize("host", ["127.0.0.1:80", "localhost", "LOCALHOST:1", "[::1]:80", "", "192.0.2.1"])
def test_the_emulators_own_names(host: str):
    assert is_own_name(host)


def test_host_names():
    assert (host_name("A.Test.:80"), host_name("[::1]:80")) == ("a.test", "[::1]")
    assert not is_own_name("a.localhost")


def test_without_the_runtime_the_api_serves_and_hosts_say_what_is_missing(tmp_path: Path):
    with running(tmp_path / "state", packages=tmp_path / "none") as emulator:
        stage = Stage(Control(emulator))
        stage.prepare()
        stage.deploy()
        answer = stage.ask("/")
        assert answer.status_code == 503
        assert answer.text == (
            f"The runtime that serves Workers is not installed: there is no workerd below {tmp_path / 'none'}. "
            "Start the emulator with `--node FOLDER`, the folder that holds node and npm, to have it fetched.\n"
        )
        told = stage.raw.control("GET", "/runtime")
        assert (told["program"], told["missing"]) == (None, answer.text.strip())
        assert told["scripts"][0]["state"] == "failed"


def test_node_that_is_not_there_is_named(tmp_path: Path):
    with running(tmp_path / "state", packages=tmp_path / "none", node=tmp_path / "nowhere") as emulator:
        stage = Stage(Control(emulator))
        stage.prepare()
        stage.deploy()
        assert f"Is npm in {tmp_path / 'nowhere'}?" in stage.ask("/").text


def test_the_default_folder_of_the_runtime():
    assert Settings().packages == Path(".local/workerd")
