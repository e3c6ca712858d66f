"""The dashboard over HTTP: who is answered, what no answer has, and that looking changes nothing."""

import base64
import json
from collections.abc import Iterator

import httpx
import pytest

from emulator.dashboard.routes import _FILES
from emulator.testing import Running
from testbed.emulator.control import Control
from testbed.emulator.populated import PLANTED, Populated

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.fixture
def browser(emulator: Running) -> Iterator[httpx.Client]:
    """What a browser asks with: no token."""
    with httpx.Client(base_url=emulator.origin, timeout=20) as client:
        yield client


def _addresses() -> list[str]:
    return ["/", "/dashboard", "/dashboard/", "/dashboard/snapshot", *(f"/dashboard/{name}" for name in _FILES)]


def test_no_answer_has_a_secret(raw: Control, browser: httpx.Client):
    """Planted: every place a secret can be in, every credential the account handed out, and what is stored of them."""
    populated = Populated(raw)
    store = raw.emulator.state.store
    bindings = [each for _, _, version in store.everywhere("worker_version") for each in version["bindings"]]
    sealed = [each["sealed"] for each in bindings if "sealed" in each]
    digests = [token["digest"] for _, _, token in store.everywhere("token")]
    assert (len(sealed), len(digests), len(populated.secrets)) == (4, 1, 6)
    forbidden = [*populated.secrets, *sealed, *digests]
    for path in [*_addresses(), f"/dashboard/{PLANTED}", f"/dashboard/snapshot?account={PLANTED}"]:
        answer = browser.get(path, follow_redirects=False)
        shown = answer.text + json.dumps(dict(answer.headers))
        for secret in forbidden:
            for form in (secret, base64.b64encode(secret.encode()).decode().rstrip("=")):
                assert form not in shown, f"{path} shows {secret}"


def test_nothing_can_be_changed(raw: Control, emulator: Running, browser: httpx.Client):
    Populated(raw)
    changes = emulator.state.store._db.total_changes
    for path in _addresses():
        browser.get(path)
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            answer = browser.request(method, path)
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
            assert answer.text == "The dashboard only shows things: use GET. To change the account, call the API.\n"
    assert emulator.state.store._db.total_changes == changes
    with (
        emulator.state.store.reading(),
        pytest.raises(Exception, match="attempt to write a readonly database"),
    ):
        emulator.state.store.put("kind", "", "key", {})
    emulator.state.store.put("kind", "", "key", {})


def test_every_answer_keeps_other_sites_out(browser: httpx.Client):
    answers = [browser.get(path) for path in [*_addresses(), "/dashboard/absent"]]
    answers += [
        browser.head("/dashboard"),
        browser.post("/dashboard"),
        browser.get("/", headers={"host": "127.0.0.1:1"}),
    ]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_the_page_and_its_files(browser: httpx.Client):
    home = browser.get("/")
    assert (home.status_code, home.headers["location"]) == (302, "/dashboard")
    assert (
        browser.get("/dashboard").text == browser.get("/dashboard/").text == browser.get("/dashboard/index.html").text
    )
    types = {name: browser.get(f"/dashboard/{name}").headers["content-type"] for name in _FILES}
    assert types == {
        "cells.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml; charset=utf-8",
        "index.html": "text/html; charset=utf-8",
        "lists.js": "text/javascript; charset=utf-8",
        "page.css": "text/css; charset=utf-8",
        "page.js": "text/javascript; charset=utf-8",
        "table.js": "text/javascript; charset=utf-8",
        "tables.css": "text/css; charset=utf-8",
    }
    absent = browser.get("/dashboard/absent")
    assert (absent.status_code, absent.text) == (404, "There is nothing at this address. The page is at /dashboard.\n")
    for path in ("/dashboard/..%2Froutes.py", "/dashboard/static/index.html", "/dashboard//etc/passwd"):
        assert browser.get(path).status_code == 404


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
def test_the_names_of_loopback_are_answered(emulator: Running, browser: httpx.Client, host: str):
    port = emulator.origin.rpartition(":")[2]
    answer = browser.get("/dashboard/snapshot", headers={"host": host.format(port=port)})
    assert answer.status_code == 200


@pytest.mark.parametrize("host", ["rebound.example", "rebound.example:{port}"])
def test_names_of_workers_never_show_it(emulator: Running, browser: httpx.Client, host: str):
    port = emulator.origin.rpartition(":")[2]
    for path in ("/", "/dashboard", "/dashboard/snapshot"):
        answer = browser.get(path, headers={"host": host.format(port=port)})
        assert answer.status_code == 404
        assert answer.text.startswith("No Worker answers on rebound.example")


@pytest.mark.parametrize("host", ["", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.example"])
def test_other_names_are_refused(emulator: Running, browser: httpx.Client, host: str):
    port = emulator.origin.rpartition(":")[2]
    for path in ("/", "/dashboard", "/dashboard/snapshot"):
        answer = browser.get(path, headers={"host": host.format(port=port)})
        expected = f"The dashboard answers as 127.0.0.1:{port} or localhost:{port} only. Open it by that address.\n"
        assert (answer.status_code, answer.text) == (403, expected)


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_requests_of_other_sites_are_refused(browser: httpx.Client, site: str, status: int):
    answer = browser.get("/dashboard/snapshot", headers={"sec-fetch-site": site, "origin": "https://other.example"})
    assert answer.status_code == status
    if status == 403:
        text = "The dashboard does not answer other sites. Type its address, or open it from a bookmark.\n"
        assert answer.text == text


def test_looking_leaves_no_trace_and_meets_no_fault(raw: Control, browser: httpx.Client):
    raw.fault(path="*", status=500, times=0)
    raw.control("PUT", "/latency", json={"ms": 30_000})
    for path in ("/", "/dashboard", "/dashboard/snapshot"):
        assert browser.get(path).status_code in (200, 302)
    assert raw.control("GET", "/journal") == []
