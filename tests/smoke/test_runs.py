"""The command against a stand-in for a deployment: whole, without containers, and broken in one place at a time."""

import json
import threading
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from components.smoke import address
from components.smoke.messages import Answer, Request
from components.smoke.runner import ALL, Run, run
from components.smoke.wire import Secrets, Wire
from tests.smoke.stand_in import API, KEY, PREVIEW, Asked, Break, Deployment, Reply, as_json, as_problem, serving

NAMES = [*(step.name for step in ALL), "destroy"]
# Every request of a whole run, in order, by the step that makes it.
REQUESTS = [
    *["health", "headers", "no key", "wrong key", "key", "openapi", "validation", "conversations", "backup bucket"],
    *["artifact bucket", "preview host", "sandbox", "exec", "stream"],
    *["files"] * 5,
    *["sessions"] * 4,
    *["idempotency"] * 2,
    "node",
    *["code"] * 3,
    *["process"] * 5,
    *["port"] * 4,
    "preview",
    *["preview token"] * 3,
    *["backup"] * 4,
    "destroy",
]


def dependents(name: str) -> set[str]:
    """The steps that cannot be taken when one was not passed; what was started is destroyed all the same."""
    found = {name}
    for step in ALL:
        if found & set(step.needs):
            found.add(step.name)
    if "sandbox" in found - {name}:
        found.add("destroy")
    return found - {name}


def taken(deployment: Deployment, known: dict[str, str] | None = None, **options: Any) -> Run:
    """A run over a real connection, with a clock that ticks a millisecond at a time."""
    ticks = iter(range(10_000))
    facts = {"name": "smoke-0123456789abcdef", "credential": "yes", "preview_host": PREVIEW}
    with serving(deployment) as url:
        wire = Wire(address.parse(url), Secrets(options.pop("key", KEY)), options.pop("timeout", 5))
        return run(wire, facts if known is None else known, lambda: next(ticks) / 1000, **options)


def directly(deployment: Deployment) -> Run:
    """A run without a connection, for the many that differ in one answer only."""

    def send(request: Request) -> Answer:
        parts = urlsplit(request.path)
        headers = {"authorization": f"Bearer {KEY}"} if request.credential == "all" else {}
        query = dict(parse_qsl(parts.query))
        asked = Asked(
            request.method, request.host or API, parts.path, query, headers | dict(request.headers), request.body
        )
        reply = deployment.answer(asked)
        assert reply is not None
        return Answer(reply.status, reply.headers, reply.body)

    facts = {"name": "smoke-0123456789abcdef", "credential": "yes", "preview_host": PREVIEW}
    return run(send, facts, lambda: 0.0)


def states(done: Run) -> dict[str, str]:
    return {name: result.state for name, result in done.results.items()}


def with_state(done: Run, state: str) -> set[str]:
    return {name for name, each in states(done).items() if each == state}


def test_a_whole_deployment_passes_every_step():
    deployment = Deployment()
    assert states(taken(deployment)) == dict.fromkeys(NAMES, "passed")
    assert len(deployment.asked) == len(REQUESTS)


def test_without_containers_the_rest_is_not_run_and_nothing_is_destroyed():
    deployment = Deployment(containers=False)
    done = taken(deployment)
    reason = "no container engine behind the sandbox class"
    assert with_state(done, "passed") == set(NAMES[:11])
    assert with_state(done, "failed") == set()
    assert {result.missing for result in done.results.values() if result.state == "not run"} == {reason}
    assert all(asked.method != "DELETE" for asked in deployment.asked)


@pytest.mark.parametrize(
    ("lacking", "not_run", "missing"),
    [
        ("conversations", {"conversations"}, "It is not_configured"),
        ("backups", {"backup bucket", "backup"}, "It is not_configured"),
        ("artifacts", {"artifact bucket", "idempotency"}, "Idempotency-Key needs the bucket ARTIFACTS_BUCKET"),
        ("backup credentials", {"backup"}, "Backups need keys for R2"),
        ("node", {"node", "code", "port", "preview", "preview token"}, "no node in the image"),
        ("access", {"preview host", "preview", "preview token"}, "previews are behind Cloudflare Access"),
    ],
)
def test_what_the_deployment_lacks_is_not_run_with_the_reason(lacking: str, not_run: set[str], missing: str):
    done = taken(Deployment(lacking=(lacking,)))
    assert with_state(done, "failed") == set()
    assert with_state(done, "not run") == not_run
    assert {done.results[name].missing for name in not_run} == {missing}
    assert all(done.results[name].remedy for name in not_run)


def test_a_key_without_the_scope_is_no_failure_and_no_pass():
    done = taken(Deployment(scopes="describe"))
    assert done.results["sandbox"].missing == "the key may not do this: This needs the scope lifecycle"
    assert done.results["sandbox"].remedy == "give a key that has the scope"
    assert with_state(done, "failed") == set()


def test_without_a_key_only_the_door_is_tried():
    deployment = Deployment()
    done = taken(deployment, {"name": "smoke-0"}, key=None)
    assert with_state(done, "passed") == {"health", "headers", "no key", "wrong key"}
    assert done.results["exec"].missing == "no API key"
    assert done.results["exec"].remedy == "give --key-file FILE, or the key in SANDBOX_API_KEY"
    assert done.results["preview host"].missing == "no preview host given"


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


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda _: None, "the connection broke: RemoteDisconnected"),
        (lambda _: Reply(200, b" " * (1024 * 1024 + 1)), "200 with more"),
        (lambda _: Reply(200, b"", {"content-length": "10"}), "the connection broke: IncompleteRead"),
    ],
)
def test_an_answer_that_is_not_whole_fails_its_step(change: Break, got: str):
    deployment = Deployment()
    deployment.breaks[13] = change
    done = taken(deployment)
    assert with_state(done, "failed") == {"exec"}
    assert done.results["exec"].got == got


def test_a_failure_says_what_came_and_how_to_find_it_in_the_log():
    deployment = Deployment()
    deployment.breaks[13] = lambda _: as_problem("internal", "Something\x1b[31m went wrong.")
    result = taken(deployment).results["exec"]
    assert (result.expected, result.got) == ("200", "500 internal: Something [31m went wrong.")


@pytest.mark.parametrize("number", [5, 13, 39])
def test_an_answer_that_repeats_the_key_fails_without_showing_it(number: int):
    deployment = Deployment()
    deployment.breaks[number] = lambda reply: Reply(reply.status, reply.body, {**reply.headers, "x-echo": KEY})
    result = taken(deployment).results[REQUESTS[number - 1]]
    assert result.expected == "an answer that holds no secret of the caller"
    assert result.got.endswith(" with a secret in it")


def test_a_redirect_is_shown_without_its_query_and_not_followed():
    deployment = Deployment()
    deployment.breaks[1] = BAD["a redirect"]
    done = taken(deployment)
    assert done.results["health"].got == "302 to https://elsewhere.example/login, redirects are not followed"
    assert len(deployment.asked) == 1


LOGIN = Reply(302, b"", {"location": "https://team.cloudflareaccess.com/cdn-cgi/access?a=1"})


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (LOGIN, "passed"),
        (Reply(403), "passed"),
        (Reply(302, b"", {"location": "https://cloudflareaccess.com.example/"}), "failed"),
        (as_json({"openapi": "3.1.0"}), "failed"),
    ],
)
def test_refusal_by_access_counts_where_a_service_token_is_used(reply: Reply, state: str):
    deployment = Deployment()
    deployment.breaks[3] = lambda _: reply
    facts = {"name": "smoke-0", "credential": "yes", "access": "yes", "preview_host": PREVIEW}
    assert states(taken(deployment, facts))["no key"] == state


@pytest.mark.parametrize("given", [True, False])
def test_a_service_token_goes_to_previews_only_where_the_caller_said_they_are(given: bool):
    deployment = Deployment()
    facts = {"name": "smoke-0", "credential": "yes", "access": "yes"} | ({"preview_host": PREVIEW} if given else {})
    with serving(deployment) as url:
        run(Wire(address.parse(url), Secrets(KEY, "id", "secret"), 5), facts, lambda: 0.0)
    visits = [asked.headers for asked in deployment.asked if asked.host.endswith(PREVIEW)]
    assert len(visits) == (4 if given else 3)
    assert ["cf-access-client-secret" in headers for headers in visits] == [given] * len(visits)
    assert all("authorization" not in headers for headers in visits)


def test_keep_leaves_the_sandbox():
    deployment = Deployment()
    done = taken(deployment, keep=True)
    assert done.results["destroy"].missing == "kept as asked: smoke-0123456789abcdef"
    assert all(str(asked) != "DELETE /" for asked in deployment.asked)


@pytest.mark.parametrize("number", [12, 13, 30, 46])
def test_an_interrupted_run_destroys_its_sandbox(number: int):
    deployment = Deployment()

    # In the sender, where Ctrl-C finds a run waiting.
    with serving(deployment) as url:
        wire = Wire(address.parse(url), Secrets(KEY), 5)

        def send(request: Any) -> Any:
            answer = wire(request)
            if len(deployment.asked) == number:
                raise KeyboardInterrupt
            return answer

        done = run(send, {"name": "smoke-0", "credential": "yes", "preview_host": PREVIEW}, lambda: 0.0)
    assert done.interrupted
    assert str(deployment.asked[-1]) == "DELETE /"
    assert deployment.asked[-1].path == "/v1/sandboxes/smoke-0"
    assert states(done)["destroy"] == "passed"
    assert done.results["backup"].missing == "the run was interrupted"


def test_a_sandbox_whose_start_was_not_answered_is_destroyed():
    deployment = Deployment()
    late = threading.Event()

    def hang(reply: Reply) -> Reply:
        late.wait(5)
        return reply

    deployment.breaks[12] = hang
    deployment.lock = threading.RLock()
    released = threading.Timer(0.6, late.set)
    released.start()
    done = taken(deployment, timeout=0.3)
    released.join()
    assert done.results["sandbox"].got == "no whole answer within 0.3 seconds"
    assert str(deployment.asked[-1]) == "DELETE /"


def test_an_exception_of_our_own_destroys_the_sandbox_too():
    deployment = Deployment()
    with serving(deployment) as url:
        wire = Wire(address.parse(url), Secrets(KEY), 5)

        def send(request: Any) -> Any:
            if len(deployment.asked) == 13:
                deployment.asked.clear()
                raise RuntimeError
            return wire(request)

        with pytest.raises(RuntimeError):
            run(send, {"name": "smoke-0", "credential": "yes", "preview_host": PREVIEW}, lambda: 0.0)
    assert [str(asked) for asked in deployment.asked] == ["DELETE /"]
