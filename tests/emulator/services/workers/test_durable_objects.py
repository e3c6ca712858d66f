"""Durable Object classes through uploads: namespaces, containers, transfers, losses."""

from typing import Any

import pytest
from cloudflare import Cloudflare

from emulator.services.durable_objects import rules
from testbed.emulator.workers_upload import PLAIN, Uploads, exporting

LIVE = {"type": "durable-object", "storage": "sqlite"}
GONE = {"type": "durable-object", "state": "deleted"}
ROOM = exporting("Room")
NEW = {"new_tag": "v1", "new_sqlite_classes": ["Room"]}


def binding(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "durable_object_namespace", "name": name.upper(), "class_name": name, **more}


@pytest.fixture
def uploads(raw: Any) -> Uploads:
    return Uploads(raw)


def test_namespace_of_a_class(uploads: Uploads, client: Cloudflare, account: str):
    made = uploads.put("app", ROOM, migrations=NEW, bindings=[binding("Room")])
    assert made["migration_tag"] == "v1"
    (namespace,) = client.durable_objects.namespaces.list(account_id=account)
    assert (namespace.class_, namespace.script, namespace.use_sqlite) == ("Room", "app", True)
    assert namespace.id
    version = made["deployment_id"]
    hyphened = f"{version[:8]}-{version[8:12]}-{version[12:16]}-{version[16:20]}-{version[20:]}"
    resources = uploads.get(f"scripts/app/versions/{hyphened}")["resources"]
    assert resources["bindings"] == [{**binding("Room"), "namespace_id": namespace.id}]
    assert list(client.durable_objects.namespaces.objects.list(namespace.id, account_id=account)) == []
    uploads.put("app", ROOM, bindings=[binding("Room")])
    assert uploads.classes("app")["Room"]["id"] == namespace.id


def test_many_namespaces_over_several_pages(uploads: Uploads, client: Cloudflare, account: str):
    names = [f"Room{number}" for number in range(45)]
    uploads.put("app", exporting(*names), migrations={"new_sqlite_classes": names})
    assert [each.class_ for each in client.durable_objects.namespaces.list(account_id=account, per_page=10)] == names


def test_containers_are_told_anew_by_every_upload(uploads: Uploads, raw: Any, account: str):
    box = [{"class_name": "Room"}]
    uploads.put("app", ROOM, migrations=NEW, containers=box)
    store, found = raw.emulator.state.store, uploads.classes("app")["Room"]["id"]
    namespace = rules.namespace_by_id(store, account, found)
    assert namespace
    assert rules.container_enabled(namespace)
    assert rules.namespace_of(store, account, "app", "Room") == namespace
    runtime = uploads.get("workers/app/versions")[0]
    assert runtime["containers"] == box
    uploads.put("app", ROOM)
    namespace = rules.namespace_by_id(store, account, found)
    assert namespace
    assert not rules.container_enabled(namespace)
    uploads.put("app", ROOM, containers=box)
    previous = uploads.get("scripts/app/versions")["items"][1]["id"]
    raw.api(
        "POST",
        f"{uploads.base}/scripts/app/deployments",
        json={"strategy": "percentage", "versions": [{"version_id": previous, "percentage": 100}]},
    )
    namespace = rules.namespace_by_id(store, account, found)
    assert namespace
    assert not rules.container_enabled(namespace)


def test_containers_need_sqlite(uploads: Uploads):
    old = {"new_classes": ["Room"]}
    assert uploads.refused("app", ROOM, migrations=old, containers=[{"class_name": "Room"}])[0] == 10074


def test_what_the_account_may_not_do(uploads: Uploads, raw: Any, account: str):
    raw.control("PUT", f"/durable_objects/{account}/key_value", json={"value": "free"})
    assert uploads.refused("app", ROOM, migrations={"new_classes": ["Room"]})[0] == 10097
    raw.control("PUT", f"/durable_objects/{account}/key_value", json={"value": "refused"})
    code, message = uploads.refused("app", ROOM, migrations={"new_classes": ["Room"]})
    assert (code, "class 'Room'" in message) == (10099, True)
    raw.control("PUT", f"/durable_objects/{account}/key_value", json={"value": "allowed"})
    uploads.put("app", ROOM, migrations={"new_classes": ["Room"]})
    assert uploads.classes("app")["Room"]["use_sqlite"] is False


def test_tags_are_a_precondition(uploads: Uploads):
    uploads.put("app", ROOM, migrations=NEW)
    assert uploads.refused("app", ROOM, migrations=NEW) == (
        10079,
        "Migration tag precondition failed; current tag is v1",
    )
    more = {"old_tag": "v1", "new_tag": "v2", "steps": [{"new_sqlite_classes": ["Hall"]}]}
    assert uploads.put("app", exporting("Room", "Hall"), migrations=more)["migration_tag"] == "v2"
    assert uploads.refused("app", exporting("Room"))[0] == 10064


def test_deleting_a_class_is_recorded(uploads: Uploads, raw: Any):
    uploads.put("app", ROOM, migrations=NEW, bindings=[binding("Room")])
    gone = {"old_tag": "v1", "new_tag": "v2", "deleted_classes": ["Room"]}
    assert uploads.refused("app", ROOM, migrations=gone, bindings=[binding("Room")])[0] == 10061
    assert raw.control("GET", "/durable_objects/data_loss") == []
    namespace = uploads.classes("app")["Room"]["id"]
    uploads.put("app", PLAIN, migrations=gone)
    (loss,) = raw.control("GET", "/durable_objects/data_loss")
    assert (loss["class"], loss["namespace_id"], loss["cause"]) == ("Room", namespace, "migration to v2")
    assert uploads.classes("app") == {}


def test_binding_to_another_scripts_class(uploads: Uploads):
    uploads.put("host", ROOM, migrations=NEW)
    remote = binding("Room", script_name="host")
    uploads.put("guest", bindings=[remote])
    host = uploads.classes("host")["Room"]
    assert uploads.get("scripts/guest/settings")["bindings"][0]["namespace_id"] == host["id"]
    assert uploads.get("workers/host")["references"]["durable_objects"][0]["worker_name"] == "guest"
    assert uploads.refused("guest", bindings=[binding("Hall", script_name="host")])[0] == 10061
    uploads.put("guest", bindings=[{"type": "durable_object_namespace", "name": "R", "namespace_id": host["id"]}])
    assert uploads.get("scripts/guest/settings")["bindings"][0]["class_name"] == "Room"


def test_transfer_by_migration(uploads: Uploads):
    uploads.put("old", ROOM, migrations=NEW)
    namespace = uploads.classes("old")["Room"]["id"]
    moved = {"new_tag": "v1", "transferred_classes": [{"from": "Room", "from_script": "old", "to": "Hall"}]}
    uploads.put("new", exporting("Hall"), migrations=moved, bindings=[binding("Hall")])
    assert uploads.classes("new")["Hall"]["id"] == namespace
    assert uploads.classes("old") == {}


def test_exports_and_migrations_do_not_mix(uploads: Uploads):
    assert uploads.refused("app", ROOM, migrations=NEW, exports={"Room": LIVE})[0] == 100403
    uploads.put("app", ROOM, migrations=NEW)
    result = uploads.put("app", ROOM, exports={"Room": LIVE})
    assert result["exports_reconciliation"]["created"] == []
    assert result["migration_tag"] == "v1"
    more = {"old_tag": "v1", "new_tag": "v2", "new_sqlite_classes": ["Hall"]}
    assert uploads.refused("app", exporting("Room", "Hall"), migrations=more)[0] == 100403


def test_exports_left_out_are_an_empty_map(uploads: Uploads):
    uploads.put("app", ROOM, exports={"Room": LIVE})
    assert uploads.details("app", ROOM) == {("Room", "provisioned_class_missing_from_config")}
    assert uploads.details("app", PLAIN) == {("Room", "orphaned_provisioned_namespace")}
    # Settings and secrets repeat the map of the version they change.
    path = f"{uploads.base}/scripts/app/secrets"
    answer = uploads.raw.api("PUT", path, json={"type": "secret_text", "name": "S", "text": "x"})
    assert answer.status_code == 200


def test_all_that_is_wrong_is_told_at_once(uploads: Uploads):
    uploads.put("app", exporting("A", "B"), exports={"A": LIVE, "B": LIVE})
    found = uploads.details("app", exporting("A"), exports={"A": GONE, "C": LIVE})
    assert found == {
        ("A", "tombstone_delete_class_still_in_code"),
        ("B", "orphaned_provisioned_namespace"),
        ("C", "config_references_nonexistent_class"),
    }


def test_life_of_declared_classes(uploads: Uploads, raw: Any):
    made = uploads.put("app", ROOM, exports={"Room": LIVE}, bindings=[binding("Room")])
    assert made["exports_reconciliation"]["created"] == ["Room"]
    namespace = uploads.classes("app")["Room"]["id"]
    renamed = {"Room": {"type": "durable-object", "state": "renamed", "renamed_to": "Hall"}, "Hall": LIVE}
    both = uploads.put("app", exporting("Room", "Hall"), exports=renamed, bindings=[binding("Hall")])
    assert both["exports_reconciliation"]["renamed"] == [{"from": "Room", "to": "Hall"}]
    assert both["exports_reconciliation"]["info"][0]["scenario"] == "tombstone_class_still_in_code"
    assert uploads.classes("app")["Hall"]["id"] == namespace
    read = uploads.get("scripts/app/versions")["items"][0]["id"]
    exports = uploads.get(f"scripts/app/versions/{read}")["resources"]["script_runtime"]["exports"]
    assert exports["Room"] == {"type": "durable-object", "state": "renamed"}
    again = uploads.put("app", exporting("Hall"), exports=renamed)
    assert again["exports_reconciliation"]["removable_entries"] == ["Room"]
    uploads.put("app", PLAIN, exports={"Hall": GONE})
    assert raw.control("GET", "/durable_objects/data_loss")[0]["cause"] == "exports"


def test_container_named_by_an_export(uploads: Uploads, raw: Any, account: str):
    exports = {"Room": {**LIVE, "container": "box"}}
    uploads.put("app", ROOM, exports=exports, containers=[{"name": "box"}])
    namespace = rules.namespace_of(raw.emulator.state.store, account, "app", "Room")
    assert namespace
    assert namespace["container"] is True
    assert uploads.get("workers/app/versions")[0]["containers"] == [{"name": "box", "class_name": "Room"}]


def test_transfer_in_two_phases(uploads: Uploads):
    uploads.put("old", ROOM, exports={"Room": LIVE}, bindings=[binding("Room")])
    namespace = uploads.classes("old")["Room"]["id"]
    given = {"Room": {"type": "durable-object", "state": "transferred", "transferred_to": "new"}}
    assert uploads.details("old", ROOM, exports=given) == {("Room", "transferred_target_missing")}
    expecting = {"Room": {**LIVE, "state": "expecting-transfer", "transfer_from": "old"}}
    pending = uploads.put("new", ROOM, exports=expecting, bindings=[binding("Room")])
    assert pending["exports_reconciliation"]["transfer_pending"] == [{"class": "Room", "from": "old"}]
    assert uploads.get("scripts/new/settings")["bindings"][0]["namespace_id"] == namespace
    done = uploads.put("old", ROOM, exports=given)
    assert done["exports_reconciliation"]["transferred"] == [{"class": "Room", "phase": "committed", "to": "new"}]
    assert uploads.classes("new")["Room"]["id"] == namespace
    assert uploads.classes("old") == {}
    late = uploads.put("new", ROOM, exports=expecting)["exports_reconciliation"]
    assert late["info"][0]["scenario"] == "transfer_receive_already_applied"


def test_a_pending_transfer_can_be_cancelled(uploads: Uploads, raw: Any):
    uploads.put("old", ROOM, exports={"Room": LIVE})
    uploads.put("new", ROOM, exports={"Room": {**LIVE, "state": "expecting-transfer", "transfer_from": "old"}})
    uploads.put("new", PLAIN, exports={})
    given = {"Room": {"type": "durable-object", "state": "transferred", "transferred_to": "new"}}
    assert uploads.details("old", ROOM, exports=given) == {("Room", "transferred_pending_not_found")}
    assert "do_transfer" not in raw.control("GET", "/state")["kinds"]
