"""What was there before a stack: buckets, namespaces and routes come into its state by their ids."""

from typing import Any

import pulumi

from components.existing import take_over
from components.routes import make_routes, with_zones
from components.settings.storage import ExistingStorageSettings
from components.settings.worker import RouteSettings
from tests.components.monitor import Recorded, deploy

ACCOUNT = "a" * 32
ZONE, ROUTE = "b" * 32, "c" * 32
BUCKETS = {"UPLOADS": {"name": "uploads"}, "HERE": {"name": "in-europe", "jurisdiction": "eu"}}
NAMESPACES = {"CACHE": {"id": "d" * 32, "title": "the cache"}}


def taken(**said: Any) -> tuple[Recorded, dict[str, Any]]:
    bindings: dict[str, Any] = {}

    def program() -> None:
        settings = ExistingStorageSettings.parse({"buckets": BUCKETS, "namespaces": NAMESPACES, **said})
        bindings.update(take_over("box-existing", settings, ACCOUNT, pulumi.ResourceOptions()))

    return deploy(program), bindings


def test_buckets_and_namespaces_are_imported_and_outlive_the_stack():
    recorded, bindings = taken()
    found = {each.name: each.options for each in (*recorded.of("R2Bucket"), *recorded.of("WorkersKvNamespace"))}
    assert {name: options["importId"] for name, options in found.items()} == {
        "box-existing-uploads": f"{ACCOUNT}/uploads/default",
        "box-existing-here": f"{ACCOUNT}/in-europe/eu",
        "box-existing-cache": f"{ACCOUNT}/{'d' * 32}",
    }
    assert all(options["retainOnDelete"] for options in found.values())
    kinds = {name: each["type"] for name, each in bindings.items()}
    assert kinds == {"UPLOADS": "r2_bucket", "HERE": "r2_bucket", "CACHE": "kv_namespace"}
    assert bindings["HERE"]["jurisdiction"] == "eu"
    assert "jurisdiction" not in bindings["UPLOADS"]


def test_bindings_that_differ_only_in_case_are_resources_of_their_own():
    recorded, _ = taken(buckets={"DATA": {"name": "one"}, "Data": {"name": "two"}, "LOGS": {"name": "three"}})
    names = [each.name for each in recorded.of("R2Bucket")]
    assert sorted(names) == ["box-existing-DATA", "box-existing-Data", "box-existing-logs"]


def test_where_an_account_does_not_have_them_they_are_made_and_go_with_the_stack():
    recorded, bindings = taken(create=True)
    found = [*recorded.of("R2Bucket"), *recorded.of("WorkersKvNamespace")]
    assert [each.inputs.get("name") or each.inputs["title"] for each in found] == ["uploads", "in-europe", "the cache"]
    assert not any(each.options.get("importId") or each.options.get("retainOnDelete") for each in found)
    assert sorted(bindings) == ["CACHE", "HERE", "UPLOADS"]


def test_a_route_is_taken_over_by_its_id_and_else_made():
    def program() -> None:
        routes = [
            RouteSettings.parse({"pattern": "a.example.com/*", "zone_id": ZONE, "id": ROUTE}),
            RouteSettings.parse({"pattern": "b.example.com/*", "zone": "example.com"}),
        ]
        make_routes("box-route", with_zones(routes, {}, None), "box", [], pulumi.ResourceOptions())

    def zone(_: Any) -> Any:
        return {"zoneId": ZONE}

    recorded = deploy(program, answers={"cloudflare:index/getZone:getZone": zone})
    adopted = recorded.one("WorkersRoute", "box-route-a.example.com/*")
    made = recorded.one("WorkersRoute", "box-route-b.example.com/*")
    assert adopted.options["importId"] == f"{ZONE}/{ROUTE}"
    assert "importId" not in made.options
    assert (adopted.inputs["script"], made.inputs["zoneId"]) == ("box", ZONE)
