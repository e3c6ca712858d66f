"""Objects of R2, bulk operations of KV, messages of queues: through the official SDK in strict mode."""

import base64
from typing import Any

import pytest
from cloudflare import APIStatusError, Cloudflare, NotFoundError

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def bucket(client: Cloudflare, account: str) -> str:
    client.r2.buckets.create(account_id=account, name="things")
    return "things"


def test_objects_of_a_bucket(client: Cloudflare, raw: Any, account: str, bucket: str):
    objects = client.r2.buckets.objects
    key = "folder/with slash/ünïcode.bin"
    made = objects.upload(key, CONTENT, account_id=account, bucket_name=bucket)
    assert made is not None
    assert (made.key, made.size) == (key, str(len(CONTENT)))
    read = objects.get(key, account_id=account, bucket_name=bucket)
    assert read.read() == CONTENT
    assert read.headers["etag"] == f'"{made.etag}"'
    assert raw.refusal("DELETE", f"/accounts/{account}/r2/buckets/things")[1] == 10008
    gone = objects.delete(key, account_id=account, bucket_name=bucket)
    assert gone is not None
    assert gone.key == key
    with pytest.raises(NotFoundError):
        objects.get(key, account_id=account, bucket_name=bucket)
    client.r2.buckets.delete(bucket, account_id=account)


def test_headers_of_an_object_come_back(raw: Any, account: str, bucket: str):
    path = f"/accounts/{account}/r2/buckets/{bucket}/objects/page.html"
    headers = {"content-type": "text/html", "cache-control": "no-store", "cf-r2-storage-class": "InfrequentAccess"}
    raw.api("PUT", path, content=b"<p>", headers=headers).raise_for_status()
    answer = raw.api("GET", path)
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("text/html", "no-store")
    listed = raw.api("GET", f"/accounts/{account}/r2/buckets/{bucket}/objects").json()["result"]
    assert [(each["key"], each["storage_class"]) for each in listed] == [("page.html", "InfrequentAccess")]
    assert raw.refusal("PUT", path, content=b"", headers={"cf-r2-storage-class": "Cold"})[1] == 10062
    assert raw.refusal("PUT", path, content=b"", params={"expires": "1"})[1] == 6003
    assert raw.refusal("PUT", path.replace("page.html", "k" * 1025), content=b"")[1] == 10012
    other = {"cf-r2-jurisdiction": "eu"}
    assert raw.refusal("GET", path, headers=other)[:2] == (404, 10006)


def test_lists_of_objects(client: Cloudflare, account: str, bucket: str):
    keys = ["a", "b/1", "b/2", "b/c/3", "d"]
    for key in keys:
        client.r2.buckets.objects.upload(key, b"x", account_id=account, bucket_name=bucket)
    whole = client.r2.buckets.objects.list(bucket, account_id=account, per_page=2)
    assert [each.key for each in whole] == keys
    listed = client.r2.buckets.objects.list(bucket, account_id=account, prefix="b/", delimiter="/")
    assert [each.key for each in listed.result] == ["b/1", "b/2"]
    after = client.r2.buckets.objects.list(bucket, account_id=account, start_after="b/2")
    assert [each.key for each in after] == ["b/c/3", "d"]


def test_many_keys_at_once(client: Cloudflare, raw: Any, account: str):
    namespace = client.kv.namespaces.create(account_id=account, title="notes")
    keys = client.kv.namespaces.keys
    written = client.kv.namespaces.bulk_update(
        namespace.id,
        account_id=account,
        body=[
            {"key": "plain", "value": "text", "metadata": {"a": 1}},
            {"key": "binary", "value": base64.b64encode(b"\x00\x01").decode(), "base64": True},
            {"key": "short-lived", "value": "x", "expiration_ttl": 60},
        ],
    )
    assert written is not None
    assert written.successful_key_count == 3
    assert (
        client.kv.namespaces.values.get("binary", account_id=account, namespace_id=namespace.id).read() == b"\x00\x01"
    )
    path = f"/accounts/{account}/storage/kv/namespaces/{namespace.id}/bulk"
    body = {"keys": ["plain", "absent"], "withMetadata": True}
    values = raw.api("POST", f"{path}/get", json=body).json()["result"]["values"]
    assert values == {"plain": {"value": "text", "metadata": {"a": 1}}, "absent": None}
    values = raw.api("POST", f"{path}/get", json={"keys": ["plain", "absent"]}).json()["result"]["values"]
    assert values == {"plain": "text"}
    raw.advance(61)
    assert [each.name for each in keys.list(namespace.id, account_id=account)] == ["binary", "plain"]
    deleted = client.kv.namespaces.bulk_delete(namespace.id, account_id=account, body=["plain", "absent"])
    assert deleted is not None
    assert deleted.successful_key_count == 2
    wrong = [{"key": "good", "value": "x"}, {"key": "", "value": "x"}]
    assert raw.refusal("PUT", path, json=wrong)[1] == 10029
    assert [each.name for each in keys.list(namespace.id, account_id=account)] == ["binary"]


def test_messages_of_a_queue(client: Cloudflare, raw: Any, account: str):
    dead = client.queues.create(account_id=account, queue_name="dead")
    queue = client.queues.create(account_id=account, queue_name="jobs")
    assert dead is not None
    assert dead.queue_id is not None
    assert queue is not None
    assert queue.queue_id is not None
    messages = client.queues.messages
    with pytest.raises(APIStatusError, match="http_pull"):
        messages.pull(queue.queue_id, account_id=account)
    raw.api(
        "POST",
        f"/accounts/{account}/queues/{queue.queue_id}/consumers",
        json={"type": "http_pull", "dead_letter_queue": "dead", "settings": {"max_retries": 1}},
    ).raise_for_status()
    messages.push(queue.queue_id, account_id=account, body={"n": 1}, content_type="json")
    messages.bulk_push(
        queue.queue_id, account_id=account, messages=[{"body": "later", "content_type": "text", "delay_seconds": 60}]
    )
    pulled = messages.pull(queue.queue_id, account_id=account, batch_size=10, visibility_timeout_ms=5000)
    assert pulled is not None
    assert pulled.messages is not None
    (only,) = pulled.messages
    assert base64.b64decode(only.body or "") == b'{"n":1}'
    assert pulled.message_backlog_count == 2
    again = messages.pull(queue.queue_id, account_id=account)
    assert again is not None
    assert again.messages == []
    raw.advance(61)
    second = messages.pull(queue.queue_id, account_id=account, batch_size=10)
    assert second is not None
    assert second.messages is not None
    assert [(each.body == "later", each.attempts) for each in second.messages] == [(False, 2), (True, 1)]
    done = messages.ack(
        queue.queue_id,
        account_id=account,
        acks=[{"lease_id": second.messages[1].lease_id or ""}],
        retries=[{"lease_id": second.messages[0].lease_id or ""}, {"lease_id": "unknown"}],
    )
    assert done is not None
    assert (done.ack_count, done.retry_count, list(done.warnings or {})) == (1, 1, ["unknown"])
    buried = messages.pull(queue.queue_id, account_id=account)
    assert buried is not None
    assert buried.messages == []
    metrics = raw.api("GET", f"/accounts/{account}/queues/{dead.queue_id}/metrics").json()["result"]
    assert metrics["backlog_count"] == 1
    client.queues.purge.start(dead.queue_id, account_id=account, delete_messages_permanently=True)
    assert client.queues.purge.status(dead.queue_id, account_id=account) is not None
    metrics = raw.api("GET", f"/accounts/{account}/queues/{dead.queue_id}/metrics").json()["result"]
    assert metrics["backlog_count"] == 0
    assert raw.refusal("POST", f"/accounts/{account}/queues/{dead.queue_id}/purge", json={})[1] == 11005
