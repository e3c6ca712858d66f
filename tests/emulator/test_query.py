"""Query parameters: what an operation does not support is refused, by every operation, and changes nothing.

Here are the lists of a new account; `test_fuzz.py` asks the same of what is below ids.
"""

import re
from typing import Any

import pytest

from emulator.query import Query
from emulator.registry import API, Fidelity, Operation, load_services
from testbed.emulator import sdk
from tests.emulator.asking import NOT_HERE, VALUES


def lists() -> list[Operation]:
    """Every operation that reads something whose path names nothing but an account or a zone."""
    declared = [operation for service in load_services() for operation in service.operations]
    plain = re.compile(r"(/accounts/\{account_id\}|/zones/\{zone_id\})?[^{}]*")
    here = [each for each in declared if each.base == API and each.fidelity is not Fidelity.ABSENT]
    return [each for each in here if each.method == "GET" and plain.fullmatch(each.path)]


def path_of(operation: Operation, account: str, zone: str) -> str:
    return operation.path.replace("{account_id}", account).replace("{zone_id}", zone)


@pytest.mark.parametrize("operation", lists(), ids=lambda operation: operation.id)
def test_what_is_not_known_is_refused(raw: Any, account: str, zone: str, operation: Operation):
    path = path_of(operation, account, zone)
    before = raw.api("GET", path)
    assert before.status_code in (200, 404), before.text
    if before.status_code == 200:
        status, code, text = raw.refusal("GET", path, params={"no_such_parameter": "1"})
        assert (status, code) == (400, 6003)
        assert text.startswith("Invalid query parameter no_such_parameter: this operation does not support it")


@pytest.mark.parametrize("operation", lists(), ids=lambda operation: operation.id)
def test_what_the_sdk_sends_is_supported_or_refused_by_name(raw: Any, account: str, zone: str, operation: Operation):
    request = sdk.find(operation.method, operation.path)
    path = path_of(operation, account, zone)
    if request is None or raw.api("GET", path).status_code == 404:
        return
    for name in request.query():
        answer = raw.api("GET", path, params={name: VALUES.get(name, "x")})
        refused = (operation.method, operation.path, name) in NOT_HERE
        assert (answer.status_code == 400) == refused, f"{name}: {answer.text}"


def test_a_refused_parameter_undoes_what_was_done(raw: Any, account: str):
    path = f"/accounts/{account}/queues"
    assert raw.refusal("POST", path, params={"dry_run": "true"}, json={"queue_name": "a"})[1] == 6003
    assert raw.api("GET", path).json()["result"] == []


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_dry_run_of_rulesets_is_not_run_for_real(raw: Any, zone: str, method: str):
    rules = f"/zones/{zone}/rulesets"
    body = {"name": "r", "kind": "zone", "phase": "http_request_firewall_custom", "rules": []}
    made = raw.api("POST", rules, json=body).json()["result"]
    path = rules if method == "POST" else f"{rules}/{made['id']}"
    options = {} if method == "DELETE" else {"json": {**body, "name": "other"}}
    assert raw.refusal(method, path, params={"dry_run": "true"}, **options)[1] in (6003, 20217)
    assert [each["name"] for each in raw.api("GET", rules).json()["result"]] == ["r"]


def test_one_value_of_several_is_not_enough(raw: Any, zone: str):
    path = f"/zones/{zone}/dns_records?type=A&type=TXT"
    assert raw.refusal("GET", path) == (400, 6003, "Invalid query parameter type: it must be given once.")


def test_reading_is_what_supports_a_parameter():
    query = Query("a=1&b=2&c=&c=3")
    assert query.given("a", "b", "d") == {"a": "1", "b": "2"}
    assert query.every("c") == ["3"]
    query.refuse_leftovers()
    assert list(query) == ["a", "b", "c"]
    assert ("e" in query, query.get("e"), query.get("a")) == (False, "", "1")


def test_service_tokens_by_name(raw: Any, account: str):
    path = f"/accounts/{account}/access/service_tokens"
    for name in ("robot", "robot two", "other"):
        raw.api("POST", path, json={"name": name})
    for query, found in (
        ({"name": "robot"}, ["robot"]),
        ({"search": "ROBOT"}, ["robot", "robot two"]),
        ({"name": "none"}, []),
    ):
        assert [each["name"] for each in raw.api("GET", path, params=query).json()["result"]] == found


def test_applications_by_part_of_the_name(raw: Any, account: str):
    path = f"/accounts/{account}/access/apps"
    for name in ("site", "site two"):
        domain = f"{name.replace(' ', '-')}.sandbox.example"
        raw.api("POST", path, json={"name": name, "domain": domain, "type": "self_hosted"})
    for query, found in (
        ({"name": "site"}, ["site", "site two"]),
        ({"name": "site", "exact": "true"}, ["site"]),
        ({"search": "site-two"}, ["site two"]),
    ):
        assert [each["name"] for each in raw.api("GET", path, params=query).json()["result"]] == found


def test_zones_by_operator_and_any(raw: Any, account: str):
    raw.api("POST", "/zones", json={"name": "second.example", "account": {"id": account}})
    for query, found in (
        ({"name": "contains:SECOND"}, {"second.example"}),
        ({"name": "contains_case_sensitive:SECOND"}, set()),
        ({"name": "not_equal:second.example"}, {"sandbox.example"}),
        ({"name": "second.example", "status": "active", "match": "any"}, {"sandbox.example", "second.example"}),
        ({"name": "second.example", "type": "partial,secondary"}, set()),
    ):
        listed = {each["name"] for each in raw.api("GET", "/zones", params=query).json()["result"]}
        assert listed & {"sandbox.example", "second.example"} == found, query
    text = raw.refusal("GET", "/zones", params={"name": "near:x"})[2]
    assert "the operator must be one of equal" in text
