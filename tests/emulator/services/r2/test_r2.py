"""R2 through the official SDK, and its refusals."""

from typing import Any

import pytest
from cloudflare import Cloudflare, NotFoundError

RULE = {
    "id": "old",
    "enabled": True,
    "conditions": {"prefix": "tmp/"},
    "deleteObjectsTransition": {"condition": {"type": "Age", "maxAge": 86400}},
}


def test_life_of_a_bucket(client: Cloudflare, account: str):
    made = client.r2.buckets.create(account_id=account, name="data", storage_class="Standard", location_hint="eeur")
    assert (made.name, made.location, made.storage_class, made.jurisdiction) == ("data", "eeur", "Standard", "default")
    client.r2.buckets.edit("data", account_id=account, storage_class="InfrequentAccess")
    read = client.r2.buckets.get("data", account_id=account)
    assert read.storage_class == "InfrequentAccess"
    assert read.creation_date == made.creation_date
    client.r2.buckets.delete("data", account_id=account)
    with pytest.raises(NotFoundError):
        client.r2.buckets.get("data", account_id=account)


def test_list_pages_by_cursor(raw: Any, account: str):
    names = [f"bucket-{number:02}" for number in range(25)]
    for name in reversed(names):
        assert raw.api("POST", f"/accounts/{account}/r2/buckets", json={"name": name}).status_code == 200
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = raw.api("GET", f"/accounts/{account}/r2/buckets", params={"per_page": 10, "cursor": cursor}).json()
        seen += [bucket["name"] for bucket in answer["result"]["buckets"]]
        cursor = answer["result_info"].get("cursor")
    assert seen == names


def test_what_is_configured_comes_back_as_it_was_sent(raw: Any, client: Cloudflare, account: str):
    client.r2.buckets.create(account_id=account, name="data")
    path = f"/accounts/{account}/r2/buckets/data"
    cors = {"allowed": {"methods": ["GET"], "origins": ["*"]}}
    for part, rules in (("lifecycle", [RULE]), ("cors", [cors]), ("lock", [])):
        assert raw.api("PUT", f"{path}/{part}", json={"rules": rules}).status_code == 200
        assert raw.api("GET", f"{path}/{part}").json()["result"] == {"rules": rules}
    assert raw.api("PUT", f"{path}/cors", json={}).status_code == 200
    assert raw.api("GET", f"{path}/cors").json()["result"] == {}
    client.r2.buckets.lifecycle.get("data", account_id=account)
    client.r2.buckets.cors.get("data", account_id=account)
    assert raw.api("DELETE", f"{path}/cors").status_code == 200
    gone = raw.api("GET", f"{path}/cors")
    assert (gone.status_code, gone.json()["errors"][0]["code"]) == (404, 10059)


def test_domains(client: Cloudflare, account: str, zone: str):
    client.r2.buckets.create(account_id=account, name="data")
    managed = client.r2.buckets.domains.managed.update("data", account_id=account, enabled=True)
    assert managed.enabled
    assert client.r2.buckets.domains.managed.list("data", account_id=account).domain == managed.domain
    custom = client.r2.buckets.domains.custom
    custom.create("data", account_id=account, domain="files.sandbox.example", enabled=True, zone_id=zone)
    custom.update("files.sandbox.example", account_id=account, bucket_name="data", min_tls="1.2")
    read = custom.get("files.sandbox.example", account_id=account, bucket_name="data")
    assert (read.min_tls, read.zone_name, read.status.ssl) == ("1.2", "sandbox.example", "active")
    assert len(custom.list("data", account_id=account).domains) == 1
    custom.delete("files.sandbox.example", account_id=account, bucket_name="data")
    with pytest.raises(NotFoundError):
        custom.get("files.sandbox.example", account_id=account, bucket_name="data")


def test_a_bucket_of_another_jurisdiction_does_not_exist(client: Cloudflare, account: str):
    client.r2.buckets.create(account_id=account, name="data", cf_r2_jurisdiction="eu")
    assert client.r2.buckets.get("data", account_id=account, cf_r2_jurisdiction="eu").jurisdiction == "eu"
    with pytest.raises(NotFoundError, match="10006"):
        client.r2.buckets.get("data", account_id=account)


def test_a_bucket_with_objects_cannot_go(raw: Any, client: Cloudflare, account: str):
    client.r2.buckets.create(account_id=account, name="data")
    raw.control("PUT", f"/r2/{account}/data/objects/a%2Fb")
    refused = raw.api("DELETE", f"/accounts/{account}/r2/buckets/data")
    assert refused.status_code == 409
    assert refused.json()["errors"] == [{"code": 10008, "message": "The bucket you tried to delete is not empty."}]
    raw.control("DELETE", f"/r2/{account}/data/objects/a%2Fb")
    assert raw.api("DELETE", f"/accounts/{account}/r2/buckets/data").status_code == 200
    assert raw.control("GET", "/state")["empty"]


def test_a_bucket_can_be_emptied_by_the_control_route(raw: Any, client: Cloudflare, account: str):
    for name in ("data", "other"):
        client.r2.buckets.create(account_id=account, name=name)
        raw.control("PUT", f"/r2/{account}/{name}/objects/a")
    raw.control("PUT", f"/r2/{account}/data/objects/b%2Fc")
    assert raw.control("DELETE", f"/r2/{account}/data/objects") == {"deleted": 2}
    assert raw.control("DELETE", f"/r2/{account}/data/objects") == {"deleted": 0}
    assert raw.api("DELETE", f"/accounts/{account}/r2/buckets/data").status_code == 200
    assert raw.api("DELETE", f"/accounts/{account}/r2/buckets/other").status_code == 409


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"name": "Bad_Name"}, 10005, "The specified bucket name is not valid."),
        ({"name": 5}, 10040, "The JSON you provided was not well formed: name must be a string."),
        ({}, 10040, "The JSON you provided was not well formed: name is required."),
        ({"name": "data", "storage_class": "Standard"}, 10040, "storage_class is not a known field"),
        ({"name": "data", "storageClass": "Glacier"}, 10040, "storageClass must be one of Standard, InfrequentAccess"),
    ],
)
def test_bad_bodies(raw: Any, account: str, body: Any, code: int, message: str):
    answer = raw.api("POST", f"/accounts/{account}/r2/buckets", json=body)
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["code"] == code
    assert message in error["message"]


def test_a_bucket_exists_once(raw: Any, account: str):
    path = f"/accounts/{account}/r2/buckets"
    assert raw.api("POST", path, json={"name": "data"}).status_code == 200
    again = raw.api("POST", path, json={"name": "data"})
    assert (again.status_code, again.json()["errors"][0]["code"]) == (409, 10004)
