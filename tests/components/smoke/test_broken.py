"""A deployment that is broken in one place fails exactly the step that looks there."""

import json
from typing import Any

import pytest

from tests.components.smoke.runs import NAMES, REQUESTS, dependents, directly, with_state
from tests.components.smoke.stand_in import Break, Deployment, Reply, as_json, as_problem

BAD: dict[str, Break] = {
    "an error": lambda _: as_problem("internal"),
    "another 503": lambda _: as_problem("unavailable"),
    "a page": lambda _: Reply(200, b"<html>", {"content-type": "text/html"}),
    "an empty object": lambda _: as_json({}),
    "a list": lambda _: as_json([]),
    "a redirect": lambda _: Reply(302, b"", {"location": "https://elsewhere.example/login?secret=1"}),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("number", range(1, len(REQUESTS) + 1))
def test_one_bad_answer_fails_exactly_its_step(number: int, bad: str):
    deployment = Deployment()
    deployment.breaks[number] = BAD[bad]
    done = directly(deployment)
    owner = REQUESTS[number - 1]
    # What only runs to prepare the next request may be answered with any object.
    harmless = bad == "an empty object" and deployment.asked[number - 1].body == {
        "context": "context-1",
        "code": "var n = 6",
    }
    assert with_state(done, "failed") == (set() if harmless else {owner})
    assert with_state(done, "not run") == (set() if harmless else dependents(owner))
    assert (str(deployment.asked[-1]) == "DELETE /") == ("destroy" not in dependents(owner))


def changed(**values: Any) -> Break:
    """The same answer with other values."""
    return lambda reply: Reply(reply.status, json.dumps({**json.loads(reply.body), **values}).encode(), reply.headers)


def without(header: str) -> Break:
    return lambda reply: Reply(
        reply.status, reply.body, {name: value for name, value in reply.headers.items() if name != header}
    )


def replaced(old: str, new: str) -> Break:
    return lambda reply: Reply(reply.status, reply.body.replace(old.encode(), new.encode()), reply.headers)


WRONG: list[tuple[str, int, Break, str]] = [
    ("health", 0, changed(status="degraded"), 'status "ok"'),
    ("health", 0, without("content-type"), "200 with a JSON object"),
    ("headers", 0, without("x-request-id"), "the header x-request-id: smoke-0123456789abcdef"),
    ("headers", 0, without("cache-control"), "the header cache-control: no-store"),
    ("no key", 0, lambda _: as_json({"openapi": "3.1.0"}), "401 unauthenticated as problem+json"),
    ("no key", 0, replaced("unauthenticated", "other"), "401 unauthenticated as problem+json"),
    ("no key", 0, lambda _: Reply(403), "401 unauthenticated as problem+json"),
    ("wrong key", 0, lambda _: as_json({}), "401 unauthenticated as problem+json"),
    (
        "wrong key",
        0,
        lambda _: as_problem("unauthenticated", "wrong-smoke-0123456789abcdef is unknown"),
        "an answer that does not repeat the key",
    ),
    ("key", 0, lambda _: as_problem("unauthenticated"), "404 not_found as problem+json"),
    ("openapi", 0, changed(openapi="2.0"), 'openapi "3.1.0"'),
    ("openapi", 0, replaced("exposePort", "other"), "a description of every operation"),
    ("validation", 0, changed(errors=[]), "a problem that names body.command"),
    ("backup bucket", 0, changed(backups="none"), "a list backups in the answer"),
    ("preview host", 0, lambda _: Reply(200, b"hello"), "404 not_found as problem+json"),
    ("sandbox", 0, changed(name="other"), 'name "smoke-0123456789abcdef"'),
    ("sandbox", 0, changed(id=None), "id in the answer"),
    ("exec", 0, changed(exit_code=0), "exit_code 7"),
    ("exec", 0, changed(stdout=""), 'stdout "smoke-0123456789abcdef"'),
    (
        "stream",
        0,
        replaced("smoke-", "other-"),
        '"smoke-0123456789abcdef" on stdout, then complete with exit code 0',
    ),
    (
        "stream",
        0,
        replaced("complete", "error"),
        '"smoke-0123456789abcdef" on stdout, then complete with exit code 0',
    ),
    (
        "stream",
        0,
        lambda reply: Reply(200, b"", reply.headers),
        '"smoke-0123456789abcdef" on stdout, then complete with exit code 0',
    ),
    ("stream", 0, replaced("data: {}", "data: {"), "events with JSON data"),
    ("files", 2, changed(content="other"), 'content "smoke-0123456789abcdef"'),
    ("files", 3, changed(files=[]), "a list of the one file"),
    ("files", 3, changed(files=["file"]), "a list files in the answer"),
    ("files", 4, lambda _: as_json({"content": ""}), "404 not_found as problem+json"),
    ("sessions", 2, replaced("yes", ""), 'stdout "/usr yes smoke-0123456789abcdef"'),
    ("idempotency", 1, without("idempotency-replayed"), "the first answer again, marked idempotency-replayed"),
    ("code", 2, changed(stdout="NaN\n"), 'stdout "42\\n"'),
    ("code", 2, changed(error={"name": "ReferenceError"}), "a run without error"),
    (
        "process",
        1,
        replaced('"exit_code": 0', '"exit_code": 1'),
        '"smoke-0123456789abcdef\\n" on stdout, then complete with exit code 0',
    ),
    ("process", 3, changed(status="failed"), 'status "running"'),
    ("port", 2, changed(url="https://elsewhere.example/"), "a URL of 8080-… below the preview host"),
    ("port", 2, changed(url="https://8080-a-b.elsewhere.example/"), "a URL of 8080-… below the preview host"),
    ("port", 3, changed(ports=[]), "a list of the one port 8080"),
    ("preview", 0, lambda _: Reply(200, b"other"), 'what the server in the sandbox says, "smoke-0123456789abcdef"'),
    ("preview token", 0, lambda _: Reply(200, b"open"), "404"),
    ("preview token", 2, lambda _: Reply(200, b"still open"), "404"),
    ("backup", 0, changed(directory="/"), 'directory "/workspace/smoke"'),
    ("backup", 3, lambda _: as_problem("not_found"), "200"),
    ("destroy", 0, lambda _: as_json({}), "204"),
]


@pytest.mark.parametrize(("step", "nth", "change", "expected"), WRONG)
def test_a_wrong_answer_is_told_apart_from_a_right_one(step: str, nth: int, change: Break, expected: str):
    deployment = Deployment()
    deployment.breaks[REQUESTS.index(step) + nth + 1] = change
    done = directly(deployment)
    assert with_state(done, "failed") == {step}
    assert done.results[step].expected == expected


def test_every_step_has_a_wrong_answer_of_its_own():
    # Its status alone says all there is to say about these.
    assert set(NAMES) - {step for step, *_ in WRONG} == {"conversations", "artifact bucket", "node"}
