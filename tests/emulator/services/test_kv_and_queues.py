"""Workers KV and Queues through the official SDK."""

from typing import Any

import pytest
from cloudflare import BadRequestError, Cloudflare, ConflictError, NotFoundError


def test_life_of_a_namespace(client: Cloudflare, account: str):
    made = client.kv.namespaces.create(account_id=account, title="one")
    assert made.supports_url_encoding
    assert client.kv.namespaces.get(made.id, account_id=account).title == "one"
    client.kv.namespaces.update(made.id, account_id=account, title="two")
    assert client.kv.namespaces.get(made.id, account_id=account).title == "two"
    client.kv.namespaces.delete(made.id, account_id=account)
    with pytest.raises(NotFoundError, match="10013"):
        client.kv.namespaces.get(made.id, account_id=account)


def test_titles_are_unique(client: Cloudflare, account: str):
    client.kv.namespaces.create(account_id=account, title="one")
    other = client.kv.namespaces.create(account_id=account, title="two")
    with pytest.raises(BadRequestError, match="10014"):
        client.kv.namespaces.create(account_id=account, title="one")
    with pytest.raises(BadRequestError, match="10014"):
        client.kv.namespaces.update(other.id, account_id=account, title="one")
    client.kv.namespaces.update(other.id, account_id=account, title="two")


def test_a_namespace_has_the_mode_and_jurisdiction_it_was_given(raw: Any, account: str):
    base = f"/accounts/{account}/storage/kv/namespaces"
    made = raw.api("POST", base, json={"title": "one", "mode": "fast", "jurisdiction": "eu"}).json()["result"]
    assert (made["mode"], made["jurisdiction"]) == ("fast", "eu")
    path = f"{base}/{made['id']}"
    assert raw.api("GET", path).json()["result"] == made
    changed = raw.api("PUT", path, json={"title": "two", "mode": "slow", "jurisdiction": None}).json()["result"]
    assert changed == {**made, "title": "two", "mode": "slow"}
    assert raw.api("GET", base).json()["result"] == [changed]


def test_namespaces_over_several_pages(client: Cloudflare, account: str):
    for number in range(25):
        client.kv.namespaces.create(account_id=account, title=f"t{number:02}")
    listed = list(client.kv.namespaces.list(account_id=account, per_page=10, order="title", direction="desc"))
    assert [namespace.title for namespace in listed] == [f"t{number:02}" for number in reversed(range(25))]
    assert len(list(client.kv.namespaces.list(account_id=account, per_page=10))) == 25


def test_values(client: Cloudflare, raw: Any, account: str):
    namespace = client.kv.namespaces.create(account_id=account, title="one").id
    values = client.kv.namespaces.values
    values.update("a/b", account_id=account, namespace_id=namespace, value=b"hello", metadata='{"x":1}')
    values.update("soon", account_id=account, namespace_id=namespace, value=b"gone", expiration_ttl=60)
    assert values.get("a/b", account_id=account, namespace_id=namespace).read() == b"hello"
    assert [key.name for key in client.kv.namespaces.keys.list(namespace, account_id=account)] == ["a/b", "soon"]
    raw.advance(61)
    assert [key.name for key in client.kv.namespaces.keys.list(namespace, account_id=account)] == ["a/b"]
    with pytest.raises(NotFoundError, match="10009"):
        values.get("soon", account_id=account, namespace_id=namespace)
    values.delete("a/b", account_id=account, namespace_id=namespace)
    with pytest.raises(NotFoundError):
        values.get("a/b", account_id=account, namespace_id=namespace)


def test_keys_over_several_pages(client: Cloudflare, raw: Any, account: str):
    namespace = client.kv.namespaces.create(account_id=account, title="one").id
    for number in range(25):
        path = f"/accounts/{account}/storage/kv/namespaces/{namespace}/values/k{number:02}"
        assert raw.api("PUT", path, content=b"\x00\xff").status_code == 200
    keys = [key.name for key in client.kv.namespaces.keys.list(namespace, account_id=account, limit=10)]
    assert keys == [f"k{number:02}" for number in range(25)]


def test_life_of_a_queue(client: Cloudflare, account: str):
    made = client.queues.create(account_id=account, queue_name="jobs")
    queue_id = str(made.queue_id)
    client.queues.update(queue_id, account_id=account, queue_name="jobs", settings={"delivery_delay": 5})
    client.queues.edit(queue_id, account_id=account, settings={"message_retention_period": 600})
    read = client.queues.get(queue_id, account_id=account)
    assert read.settings is not None
    assert (read.settings.delivery_delay, read.settings.message_retention_period) == (5, 600)
    assert client.queues.get_metrics(queue_id, account_id=account).backlog_count == 0
    consumer = client.queues.consumers.create(
        queue_id, account_id=account, type="http_pull", settings={"batch_size": 5}
    )
    consumer_id = str(consumer.consumer_id)
    with pytest.raises(ConflictError, match="11004"):
        client.queues.consumers.create(queue_id, account_id=account, type="http_pull")
    client.queues.consumers.update(
        consumer_id, account_id=account, queue_id=queue_id, type="worker", script_name="w", settings={"max_retries": 1}
    )
    assert client.queues.consumers.get(consumer_id, account_id=account, queue_id=queue_id).type == "worker"
    assert len(list(client.queues.consumers.list(queue_id, account_id=account))) == 1
    assert client.queues.get(queue_id, account_id=account).consumers_total_count == 1
    client.queues.consumers.delete(consumer_id, account_id=account, queue_id=queue_id)
    client.queues.delete(queue_id, account_id=account)
    with pytest.raises(NotFoundError, match="11000"):
        client.queues.get(queue_id, account_id=account)


def test_queue_names(client: Cloudflare, raw: Any, account: str):
    client.queues.create(account_id=account, queue_name="jobs")
    path = f"/accounts/{account}/queues"
    assert raw.refusal("POST", path, json={"queue_name": "jobs"}) == (409, 11009, "Queue name 'jobs' is already taken.")
    assert raw.refusal("POST", path, json={"queue_name": "No Good"})[:2] == (400, 11003)
    assert len(list(client.queues.list(account_id=account))) == 1


def test_a_queue_that_gets_events_cannot_go(client: Cloudflare, raw: Any, account: str):
    queue_id = str(client.queues.create(account_id=account, queue_name="jobs").queue_id)
    client.r2.buckets.create(account_id=account, name="data")
    events = client.r2.buckets.event_notifications
    rules: Any = [{"actions": ["PutObject"], "prefix": "in/"}]
    events.update(queue_id, account_id=account, bucket_name="data", rules=rules)
    assert events.get(queue_id, account_id=account, bucket_name="data").queue_name == "jobs"
    assert len(events.list("data", account_id=account).queues or []) == 1
    assert client.queues.get(queue_id, account_id=account).producers_total_count == 1
    assert raw.refusal("DELETE", f"/accounts/{account}/queues/{queue_id}")[:2] == (400, 11017)
    other = str(client.queues.create(account_id=account, queue_name="more").queue_id)
    path = f"/accounts/{account}/event_notifications/r2/data/configuration/queues/{other}"
    assert raw.refusal("PUT", path, json={"rules": rules})[:2] == (400, 11020)
    events.delete(queue_id, account_id=account, bucket_name="data")
    client.queues.delete(queue_id, account_id=account)


def test_a_consumer_of_a_missing_queue_is_about_the_queue_whatever_its_body(raw: Any, account: str):
    path = f"/accounts/{account}/queues/{'0' * 32}/consumers"
    for method, where in (("POST", path), ("PUT", f"{path}/{'1' * 32}")):
        assert raw.refusal(method, where, json={"type": "nothing"})[:2] == (404, 11000)
    queue_id = raw.api("POST", f"/accounts/{account}/queues", json={"queue_name": "jobs"}).json()["result"]["queue_id"]
    path = f"/accounts/{account}/queues/{queue_id}/consumers"
    for method, where in (("POST", path), ("PUT", f"{path}/{'1' * 32}")):
        assert raw.refusal(method, where, json={"type": "nothing"})[:2] == (400, 11005)
