"""Who the tenants are: names, what differs, and what is refused before anything is begun."""

from typing import Any

import pytest

from components.tenants.plan import TenantsError, merged, plan

ACCOUNT = "a" * 32
BASE: dict[str, Any] = {"name": "customer", "container": {"max_instances": 5, "instance_type": "basic"}}


def refused(base: dict[str, Any], overrides: dict[str, Any]) -> list[str]:
    with pytest.raises(TenantsError) as caught:
        plan(base, overrides, ACCOUNT)
    return caught.value.problems


def test_what_differs_is_merged_into_the_base():
    acme, other = plan(BASE, {"acme": {"container": {"max_instances": 2}}, "other": {}}, ACCOUNT)
    assert acme.settings
    assert other.settings
    assert (acme.settings.container.max_instances, acme.settings.container.instance_type) == (2, "basic")
    assert other.settings.container.max_instances == 5
    assert other.settings.account_id == ACCOUNT
    assert merged({"a": [1], "b": {"c": 1}}, {"a": [2], "b": None}) == {"a": [2], "b": None}
    assert BASE["container"]["max_instances"] == 5


def test_a_mistake_in_one_tenants_settings_is_its_own():
    good, bad = plan(BASE, {"good": {}, "bad": {"container": {"max_instance": 1}, "domain": 7}}, ACCOUNT)
    assert good.settings
    assert bad.settings is None
    assert "container.max_instance: no such setting; did you mean max_instances?" in bad.problem
    assert "; domain: expected a mapping" in bad.problem


@pytest.mark.parametrize("name", ["", "Acme", "-a", "a-", "a_b", "a.b", "9lives", "a" * 64, "ä"])
def test_a_name_that_is_no_label_is_refused(name: str):
    (problem,) = refused(BASE, {"good": {}, name: {}})
    assert problem.startswith(f"{name!r} cannot name a tenant; use lower-case letters")


def test_a_name_that_would_be_cut_is_refused():
    name = "a" * 50
    (problem,) = refused(BASE, {name: {}})
    text = f"{name}: customer-{name}-conversations has 73 characters and would be cut to 54; use a shorter name"
    assert problem == text
    assert len(plan(BASE, {"a" * 40: {}, "a-b": {}, "a--b": {}}, ACCOUNT)) == 3


def test_what_two_tenants_would_both_have_is_refused():
    domain = {"hostname": "box.example.com", "zone": "example.com", "shared_zone": "accept"}
    storage = {"storage": {"files": {"name": "one-for-all"}}}
    found = refused(
        {**BASE, "worker": {"name": "same"}, **storage}, {"acme": {"domain": domain}, "other": {"domain": domain}}
    )
    assert [each.partition(":")[0] for each in found] == ["worker.name", "storage.files.name", "domain"]
    assert found[0] == "worker.name: acme and other would both have same; give each its own"
    assert "would both have box.example.com" in found[2] or "*.box.example.com" in found[2]


def test_names_that_settings_and_tenant_make_together_never_meet():
    assert len(plan(BASE, {"b-c": {"name": "a"}, "c": {"name": "a-b"}}, ACCOUNT)) == 2
