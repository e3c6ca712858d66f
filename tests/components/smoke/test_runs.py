"""The steps against a stand-in for a deployment: whole, without containers, interrupted, closed in part."""

import threading
from typing import Any

import pytest

from components.smoke import address
from components.smoke.runner import run
from components.smoke.wire import Secrets, Wire
from tests.components.smoke.runs import NAMES, REQUESTS, states, taken, with_state
from tests.components.smoke.stand_in import KEY, PREVIEW, Break, Deployment, Reply, as_json, as_problem, serving


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
    deployment.breaks[1] = lambda _: Reply(302, b"", {"location": "https://elsewhere.example/login?secret=1"})
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
    begun, late = threading.Event(), threading.Event()

    def hang(reply: Reply) -> Reply:
        begun.set()
        late.wait(60)
        return reply

    deployment.breaks[12] = hang
    with serving(deployment) as url:
        patient, hasty = (Wire(address.parse(url), Secrets(KEY), seconds) for seconds in (60, 0.3))

        def send(request: Any) -> Any:
            if len(deployment.asked) != 11:
                return patient(request)
            try:
                return hasty(request)
            finally:
                assert begun.wait(60)
                late.set()

        done = run(send, {"name": "smoke-0", "credential": "yes", "preview_host": PREVIEW}, lambda: 0.0)
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
