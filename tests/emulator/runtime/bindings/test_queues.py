"""Queues: messages on their way from a Worker or the API to the Worker that consumes them."""

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emulator.runtime.bindings.deliveries import due, verdict
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from tools.setup import toolchain

pytestmark = pytest.mark.workerd

WORKER = """
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/seen") {
      const { keys } = await env.KV.list({ prefix: "batch-" });
      return Response.json(await Promise.all(keys.map(({ name }) => env.KV.get(name, "json"))));
    }
    if (pathname === "/batch") {
      const delayed = { body: "c", delaySeconds: 60 };
      await env.JOBS.sendBatch([{ body: "a" }, { body: { b: 1 }, contentType: "json" }, delayed]);
    } else {
      const type = searchParams.get("type");
      const body = { text: "words", json: { n: [1] }, bytes: new Uint8Array([7, 8]), v8: new Map([["k", 1n]]) };
      await env.JOBS.send(body[type], { contentType: type });
    }
    return new Response("sent");
  },
  async queue(batch, env) {
    const told = batch.messages.map(({ body, attempts }) => ({ body: shown(body), attempts }));
    const number = String(Number(await env.KV.get("count") ?? 0) + 1).padStart(3, "0");
    await env.KV.put("count", number);
    await env.KV.put(`batch-${number}`, JSON.stringify({ queue: batch.queue, messages: told }));
    for (const message of batch.messages) {
      if (message.body === "later") message.retry({ delaySeconds: 600 });
      if (message.body === "done") message.ack();
    }
    if (batch.messages.some(({ body }) => body === "poison" || body === "done")) throw new Error("cannot digest it");
  },
};
function shown(body) {
  if (body instanceof ArrayBuffer) return ["bytes", ...new Uint8Array(body)];
  return body instanceof Map ? ["map", ...[...body].flat().map(String)] : body;
}
"""


class Post:
    """A Worker that sends to a queue and consumes it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.base = f"/accounts/{stage.account}/queues"
        self.jobs, self.dead = self.queue("jobs"), self.queue("dead")

    def queue(self, name: str) -> str:
        made = self.stage.raw.api("POST", self.base, json={"queue_name": name})
        return str(made.json()["result"]["queue_id"])

    def deploy(self) -> None:
        bindings = [
            {"type": "queue", "name": "JOBS", "queue_name": "jobs"},
            {"type": "kv_namespace", "name": "KV", "namespace_id": self.stage.kv},
        ]
        self.stage.uploads.put("app", WORKER, compatibility_date="2026-10-01", bindings=bindings)

    def consume(self, **settings: Any) -> str:
        body = {"type": "worker", "script_name": "app", "dead_letter_queue": "dead", "settings": settings}
        made = self.stage.raw.api("POST", f"{self.base}/{self.jobs}/consumers", json=body)
        return str(made.raise_for_status().json()["result"]["consumer_id"])

    def pause(self, *, paused: bool) -> None:
        body = {"settings": {"delivery_paused": paused}}
        self.stage.raw.api("PATCH", f"{self.base}/{self.jobs}", json=body).raise_for_status()

    def push(self, *bodies: Any) -> None:
        messages = {"messages": [{"body": each} for each in bodies]}
        self.stage.raw.api("POST", f"{self.base}/{self.jobs}/messages/batch", json=messages).raise_for_status()

    def waiting(self, queue: str) -> int:
        return int(self.stage.raw.api("GET", f"{self.base}/{queue}/metrics").json()["result"]["backlog_count"])

    def batches(self) -> list[Any]:
        seen = self.stage.ask("/seen").json()
        assert all(each["queue"] == "jobs" for each in seen)
        return [[(each["body"], each["attempts"]) for each in batch["messages"]] for batch in seen]


def until(what: Callable[[], bool]) -> None:
    """Wait for a state, for as long as the whole test may take."""
    while not what():
        time.sleep(0.02)


@pytest.fixture
def post(stage: Stage) -> Post:
    made = Post(stage)
    made.deploy()
    return made


def test_a_batch_goes_when_it_is_full_and_what_is_left_when_it_has_waited(post: Post):
    post.consume(batch_size=2, max_wait_time_ms=60_000)
    post.push("one", {"two": 2}, "three")
    until(lambda: post.waiting(post.jobs) == 1)
    assert post.batches() == [[("one", 1), ({"two": 2}, 1)]]
    post.stage.raw.advance(60)
    until(lambda: post.waiting(post.jobs) == 0)
    assert post.batches()[1:] == [[("three", 1)]]


def test_a_worker_sends_every_kind_of_content(post: Post):
    post.consume(batch_size=1)
    for kind in ("text", "json", "bytes", "v8"):
        assert post.stage.ask(f"/send?type={kind}").text == "sent"
    until(lambda: post.waiting(post.jobs) == 0)
    contents = [message[0] for batch in post.batches() for message in batch]
    assert contents == ["words", {"n": [1]}, ["bytes", 7, 8], ["map", "k", "1"]]


def test_a_worker_sends_a_batch_of_which_one_is_delayed(post: Post):
    post.consume(batch_size=2)
    assert post.stage.ask("/batch").text == "sent"
    until(lambda: post.waiting(post.jobs) == 1)
    assert post.batches() == [[("a", 1), ({"b": 1}, 1)]]
    post.stage.raw.advance(66)
    until(lambda: post.waiting(post.jobs) == 0)


def test_what_a_handler_throws_on_is_tried_again_and_ends_in_the_dead_letter_queue(post: Post):
    post.consume(batch_size=2, max_retries=1, max_wait_time_ms=0)
    post.push("poison", "done")
    until(lambda: post.waiting(post.dead) == 1)
    assert post.waiting(post.jobs) == 0
    assert post.batches() == [[("poison", 1), ("done", 1)], [("poison", 2)]]
    pulling = {"type": "http_pull"}
    post.stage.raw.api("POST", f"{post.base}/{post.dead}/consumers", json=pulling).raise_for_status()
    pulled = post.stage.raw.api("POST", f"{post.base}/{post.dead}/messages/pull", json={}).json()["result"]["messages"]
    assert [base64.b64decode(each["body"]) for each in pulled] == [b'"poison"']


def test_a_message_that_asks_for_it_is_tried_again_later(post: Post):
    post.consume(batch_size=2, max_wait_time_ms=0)
    post.push("later", "now")
    until(lambda: post.waiting(post.jobs) == 1)
    assert post.batches() == [[("later", 1), ("now", 1)]]
    post.stage.raw.advance(600)
    until(lambda: len(post.batches()) == 2)
    assert post.batches()[1] == [("later", 2)]


def test_paused_delivery_and_a_worker_that_is_not_there_keep_the_messages(stage: Stage):
    post = Post(stage)
    post.consume(batch_size=1)
    post.pause(paused=True)
    post.push("kept")
    post.deploy()
    until(lambda: stage.status()["state"] == "running")
    assert (post.waiting(post.jobs), post.batches()) == (1, [])
    post.pause(paused=False)
    until(lambda: post.waiting(post.jobs) == 0)
    assert post.batches() == [[("kept", 1)]]


def test_what_was_under_way_when_the_emulator_ended_is_delivered_by_the_next(workerd_fetched: None, tmp_path: Path):  # noqa: ARG001 - a fixture for its effect
    options: Any = {"packages": PACKAGES, "node": toolchain.load().node}
    with running(tmp_path, **options) as first:
        stage = Stage(Control(first))
        stage.prepare()
        post = Post(stage)
        post.deploy()
        post.consume(batch_size=1)
        post.pause(paused=True)
        post.push("half done")
        (message,) = first.state.store.select("queue_message", post.jobs)
        leased = {**message, "attempts": 1, "lease": "of one that was killed", "visible": message["visible"] + 900}
        first.state.store.put("queue_message", post.jobs, message["id"], leased)
    with running(tmp_path, **options) as second:
        post.stage = Stage(Control(second))
        post.pause(paused=False)
        until(lambda: post.waiting(post.jobs) == 0)
        assert post.batches() == [[("half done", 2)]]


@pytest.mark.parametrize(
    ("moments", "moment"),
    [([], float("inf")), ([10.0], 15.0), ([10.0, 12.0], 12.0), ([30.0, 10.0], 15.0), ([12.0, 11.0, 10.0], 11.0)],
)
def test_when_a_batch_of_two_is_due(moments: list[float], moment: float):
    assert due(moments, 2, 5.0) == moment


@pytest.mark.parametrize(
    ("told", "delay"),
    [
        ({"outcome": "ok"}, None),
        ({"outcome": "exception"}, 7.0),
        ({"outcome": "exception", "explicitAcks": ["m"]}, None),
        ({"outcome": "exception", "ackAll": True}, None),
        ({"outcome": "ok", "retryBatch": {"retry": True}}, 7.0),
        ({"outcome": "ok", "retryBatch": {"retry": True, "delaySeconds": 0}}, 0.0),
        ({"outcome": "ok", "retryMessages": [{"msgId": "m", "delaySeconds": 3}]}, 3.0),
        ({"outcome": "ok", "ackAll": True, "retryMessages": [{"msgId": "m"}]}, 7.0),
        ({"outcome": "ok", "retryMessages": [{"msgId": "other"}]}, None),
    ],
)
def test_what_becomes_of_a_message(told: Any, delay: float | None):
    assert verdict(told, "m", 7) == delay
