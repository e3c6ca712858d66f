"""An account is read whole, with what refers to what, and deleted item by item."""

from collections.abc import Iterator

import pytest

from components.account.inventory import InventoryError, read_inventory
from components.account.items import Inventory, Item, Key, Kind, read_key
from components.account.removal import Removal, RemovalError, in_order
from components.provider.api_client import Client, WaitTimes
from emulator.permissions import GROUPS
from emulator.settings import Account
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.populated import NAME, Populated


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Populated]:
    zones = ("sandbox.example", "preview.example")
    with running(tmp_path_factory.mktemp("cloud"), accounts=(Account(zones=zones),)) as emulator:
        raw = Control(emulator)
        raw.control("PUT", "/containers/durations", json={"deletion": 0.3, "step": 60, "preparation": 1})
        yield Populated(raw)


@pytest.fixture(scope="module")
def client(filled: Populated) -> Client:
    return Client(filled.raw.emulator.token, filled.raw.emulator.url, WaitTimes(poll=0.05))


@pytest.fixture(scope="module")
def inventory(filled: Populated, client: Client) -> Inventory:
    return read_inventory(client, filled.raw.emulator.account_id)


def one(inventory: Inventory, kind: Kind, name: str) -> Item:
    (found,) = (each for each in inventory.of(kind) if each.name == name)
    return found


def test_every_kind_is_read(inventory: Inventory):
    assert {each.kind for each in inventory.items} == set(Kind) - {Kind.ACCESS_POLICY}
    assert sorted(each.name for each in inventory.of(Kind.BUCKET)) == [
        f"{NAME}-{r}" for r in ("artifacts", "backups", "files")
    ]
    assert [each.name for each in inventory.of(Kind.CERTIFICATE)] == ["*.preview.example"]  # and not the universal one


def test_references_lead_from_routes_to_images(inventory: Inventory):
    route = one(inventory, Kind.ROUTE, "*.preview.example/*")
    reached = inventory.reached_from([route.key])
    assert {key.kind for key in reached} == {Kind.ROUTE, Kind.SCRIPT, Kind.BUCKET, Kind.KV, Kind.QUEUE, Kind.NAMESPACE}
    application = one(inventory, Kind.APPLICATION, NAME)
    assert reached & application.refers == {one(inventory, Kind.NAMESPACE, f"{NAME}/Sandbox").key}
    image = one(inventory, Kind.IMAGE, f"{NAME}-image:1.0.0")
    assert image.key in application.refers  # which names it by its tag


def test_nothing_secret_is_kept(inventory: Inventory, filled: Populated):
    said = [each for each in filled.secrets if each != "planted-secret-"]
    assert not [each for each in said if each in repr(inventory)]


def test_lists_are_read_to_their_end(filled: Populated, client: Client):
    account = f"/accounts/{filled.raw.emulator.account_id}"
    for number in range(60):
        filled.made("POST", f"{account}/r2/buckets", json={"name": f"many-{number:03}"})
        filled.made("POST", f"{account}/storage/kv/namespaces", json={"title": f"many-{number:03}"})
    found = read_inventory(client, filled.raw.emulator.account_id, {Kind.BUCKET, Kind.KV})
    assert [sum(each.name.startswith("many-") for each in found.of(kind)) for kind in (Kind.BUCKET, Kind.KV)] == [
        60,
        60,
    ]
    removal = Removal(client, found.account_id)
    assert all(removal.remove(each) for each in found.items if each.name.startswith("many-"))


def test_a_token_that_may_not_read_is_told_what_it_lacks(filled: Populated):
    account = filled.raw.emulator.account_id
    group = next(each.id for each in GROUPS if each.name == "Workers Scripts Read")
    policy = {
        "effect": "allow",
        "permission_groups": [{"id": group}],
        "resources": {f"com.cloudflare.api.account.{account}": "*"},
    }
    made = filled.made("POST", f"/accounts/{account}/tokens", json={"name": "few", "policies": [policy]})
    client = Client(made["value"], filled.raw.emulator.url)
    assert list(read_inventory(client, account, {Kind.SCRIPT}).of(Kind.SCRIPT))
    with pytest.raises(InventoryError, match=r"queues cannot be read .* Give the token the permission Queues Read"):
        read_inventory(client, account, {Kind.QUEUE})
    filled.made("DELETE", f"/accounts/{account}/tokens/{made['id']}")


def test_all_goes_in_order_and_data_only_with_consent(inventory: Inventory, client: Client):
    """The last test of the module: it empties the account."""
    ours = [each for each in in_order(inventory.items) if each.details.get("type") != "TXT"]
    scripts = [each.name for each in ours if each.kind is Kind.SCRIPT]
    assert scripts == [f"{NAME}-previews", NAME]  # who calls goes before whom it calls
    careful = Removal(client, inventory.account_id)
    kept = []
    for each in ours:
        try:
            assert careful.remove(each) is (each.kind is not Kind.NAMESPACE), each
        except RemovalError as error:
            kept.append(str(error))
    assert len(kept) == 2
    assert all("give them up with --with-data" in each for each in kept)
    determined = Removal(client, inventory.account_id, with_data=True)
    assert [each.name for each in ours if determined.remove(each)] == [f"{NAME}-sessions", f"{NAME}-files"]
    assert [each.details["type"] for each in read_inventory(client, inventory.account_id).items] == ["TXT"]


def test_a_namespace_without_a_script_cannot_be_deleted_and_says_how(client: Client, filled: Populated):
    item = Item(Key(Kind.NAMESPACE, "a" * 32), "lost/Sandbox", details={"script": "lost"})
    filled.raw.fault(
        operation="durable_objects.get_namespace", status=200, body={"success": True, "result": {"id": "a" * 32}}
    )
    with pytest.raises(RemovalError, match="Upload a script lost and delete it"):
        Removal(client, filled.raw.emulator.account_id).remove(item)
    filled.raw.control("DELETE", "/faults")


@pytest.mark.parametrize("text", ["bucket:a", "image:a@sha256:b", "route:zone/id"])
def test_a_key_is_read_as_it_is_printed(text: str):
    assert str(read_key(text)) == text


@pytest.mark.parametrize("text", ["", "bucket", "bucket:", "nothing:a", ":a"])
def test_what_is_no_key_is_none(text: str):
    assert read_key(text) is None
