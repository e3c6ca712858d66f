"""The dashboard in a real browser: alive, harmless, usable without a mouse, by ear and on a narrow screen."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from emulator.dashboard.routes import _FILES
from emulator.settings import Account
from emulator.testing import Running, running
from testbed.browser import install as browser_install
from testbed.browser.chromium import REBOUND, Browser, Page, launched
from testbed.browser.install import Installed, install
from testbed.emulator.control import Control
from testbed.emulator.populated import NAME, Populated
from tools.errors import SetupError

pytestmark = pytest.mark.engine  # needs Node, which set-up provides

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture(scope="session")
def installed() -> Installed:
    return install()


@pytest.fixture(scope="module")
def browser(installed: Installed) -> Iterator[Browser]:
    with launched(installed) as browser:
        yield browser


@contextmanager
def _dashboard(browser: Browser, emulator: Running, **options: Any) -> Iterator[Page]:
    with browser.page(f"{emulator.origin}/dashboard", **options) as page:
        page.until("document.querySelector('#state').textContent === 'Live'")
        yield page
        assert page.complaints == []


def _active(page: Page) -> Any:
    return page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")


def test_the_page_loads_nothing_from_elsewhere(browser: Browser, emulator: Running):
    with browser.page(emulator.origin) as page:
        page.until("document.querySelector('#state').textContent === 'Live'")
        page.until("performance.getEntriesByName(location.origin + '/dashboard/snapshot?account=').length > 1")
        addresses = [address for address in page.loaded if not address.endswith("/snapshot?account=")]
        names = ("/", "/dashboard", *(f"/dashboard/{name}" for name in ("cells.js", "lists.js", "page.css", "page.js")))
        assert sorted(set(addresses)) == [
            emulator.origin + name for name in (*names, "/dashboard/table.js", "/dashboard/tables.css")
        ]
        assert page.complaints == []
        assert page.text(".note") == "Emulated account — not Cloudflare"
        assert page.text("#account-id") == emulator.account_id


def test_an_empty_account_says_what_to_do(browser: Browser, emulator: Running):
    with _dashboard(browser, emulator) as page:
        text = (
            "Nothing is deployed yet. make up deploys the stack local to this account, and what it makes appears here."
        )
        assert page.text("#nothing") == text
        assert page.text("#workers .none") == "No Worker yet."
        assert page.evaluate("document.querySelectorAll('tbody tr').length") == 0


def test_everything_is_shown(browser: Browser, emulator: Running, raw: Control):
    Populated(raw)
    with _dashboard(browser, emulator) as page:
        assert page.evaluate("document.querySelector('#nothing').hidden") is True
        counts = page.evaluate("[...document.querySelectorAll('main h2')].map((each) => each.textContent)")
        assert counts == [
            *("Workers 2", "Durable Object classes 1", "Container applications 1", "Sandboxes 0", "Images 2"),
            "R2 buckets 3",
            *("KV namespaces 1", "Queues 1", "Routes 1", "Custom domains 1", "Certificates 1", "DNS records 3"),
            "Access applications 1",
        ]
        assert page.text("#applications .rollout").split("\n") == ["progressing", "v1 to v2, step 2 of 4, 25 %"]
        assert page.evaluate("document.querySelector('#applications progress').value") == 25
        row = page.evaluate("[...document.querySelector('#workers tbody tr').children].map((each) => each.innerText)")
        assert row[:3] == [NAME, "v3", "8 bindings"]
        assert page.text("#workers caption").startswith("Scripts, the version that serves")


def test_changes_appear_in_place(browser: Browser, emulator: Running, raw: Control, account: str):
    populated = Populated(raw)
    with _dashboard(browser, emulator) as page:
        page.evaluate("for (const row of document.querySelectorAll('tbody tr')) row.seenBefore = true")
        page.evaluate("document.querySelector('#workers details').open = true")
        page.evaluate("document.querySelector('#workers summary').focus()")
        populated.made("POST", f"/accounts/{account}/r2/buckets", json={"name": "another"})
        secret = {"name": "ANOTHER", "text": "x", "type": "secret_text"}
        populated.made("PUT", f"/accounts/{account}/workers/scripts/{NAME}/secrets", json=secret)
        raw.advance(60)
        page.until("document.querySelectorAll('#buckets tbody tr').length === 4")
        page.until("document.querySelector('#workers summary').innerText === '9 bindings'")
        page.until("document.querySelector('#applications progress').value === 50")
        first = "document.querySelector('#buckets tbody tr')"
        assert (page.text("#buckets tbody tr th"), page.evaluate(f"{first}.seenBefore === true")) == ("another", False)
        for row in ("#buckets tbody tr:nth-child(2)", "#workers tbody tr", "#applications tbody tr"):
            assert page.evaluate(f"document.querySelector('{row}').seenBefore") is True
        assert page.evaluate("document.querySelector('#workers details').open") is True
        assert page.evaluate("document.activeElement === document.querySelector('#workers summary')") is True
        assert "POST" in page.text("#journal tbody")
        populated.made("DELETE", f"/accounts/{account}/r2/buckets/another")
        page.until("document.querySelectorAll('#buckets tbody tr').length === 3")


def test_changes_are_announced_once_and_politely(browser: Browser, emulator: Running, raw: Control, account: str):
    with _dashboard(browser, emulator) as page:
        news = "document.querySelector('#news')"
        assert page.evaluate(f"[{news}.role, {news}.textContent]") == ["status", ""]
        page.evaluate(
            f"window.told = []; new MutationObserver(() => told.push({news}.textContent))"
            f".observe({news}, {{childList: true}})"
        )
        for name in ("one-bucket", "two-bucket"):
            raw.api("POST", f"/accounts/{account}/r2/buckets", json={"name": name})
        page.until("told.at(-1) === 'R2 buckets: 2.'")
        assert len(page.evaluate("told")) <= 2
        populated = Populated(raw)
        page.until("told.at(-1).includes('Rollout of sandbox-local progressing, 25 %')")
        raw.advance(60)
        page.until("told.at(-1) === 'Rollout of sandbox-local progressing, 50 %.'")
        assert populated.application not in page.evaluate("told.join()")


def test_one_of_several_accounts_is_chosen_by_a_link(browser: Browser, tmp_path: Path):
    accounts = (Account("a" * 32, "First", ()), Account("b" * 32, "Second", ()))
    with running(tmp_path, accounts=accounts) as emulator, _dashboard(browser, emulator) as page:
        assert page.text("#accounts").split() == ["First", "Second"]
        assert page.text("#accounts [aria-current=page]") == page.text("h1") == "First"
        with browser.page(page.evaluate("document.querySelector('#accounts a:last-child').href")) as other:
            other.until("document.querySelector('h1').textContent === 'Second'")
            assert other.text("#accounts [aria-current=page]") == "Second"
        with browser.page(f"{emulator.origin}/dashboard?account=absent") as lost:
            lost.until("document.querySelector('#state').textContent === 'There is no such account here.'")


def test_names_of_clients_are_never_markup(browser: Browser, emulator: Running, raw: Control, account: str):
    raw.api("POST", f"/accounts/{account}/storage/kv/namespaces", json={"title": HOSTILE})
    app = {"name": HOSTILE, "type": "self_hosted", "domain": "x.sandbox.example"}
    raw.api("POST", f"/accounts/{account}/access/apps", json=app)
    raw.api("GET", "/%3Csvg%20onload=%22document.title='broken'%22%3E")
    with _dashboard(browser, emulator) as page:
        page.until("document.querySelector('#kv tbody th')")
        assert page.text("#kv tbody th") == HOSTILE
        assert page.text("#access tbody th") == HOSTILE
        assert "/<svg onload=\"document.title='broken'\">" in page.text("#journal tbody tr summary")
        assert page.evaluate("document.querySelectorAll('img, svg, script:not([src])').length") == 0
        assert page.evaluate("document.title") == "Emulated account"


def test_a_missing_browser_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(browser_install, "_is_carried", lambda: False)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SetupError) as raised:
        install()
    assert raised.value.what == "no browser for the dashboard's tests"
    assert raised.value.why == "the pinned one is for Linux on x86-64, and none is on PATH"
    assert raised.value.remedy == "Install Chromium, or name it in CHROMIUM"
    monkeypatch.setenv("CHROMIUM", "/somewhere/chromium")
    assert install().program == Path("/somewhere/chromium")


def test_no_file_of_the_page_makes_markup_or_reaches_out():
    for name, file in _FILES.items():
        text = file.read_text(encoding="utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "style=",
            "//cdn",
            "https:",
        ):
            assert word not in text, f"{name} has {word}"


def test_everything_can_be_reached_by_keyboard(browser: Browser, emulator: Running, raw: Control):
    Populated(raw)
    with _dashboard(browser, emulator) as page:
        page.press("Tab")
        assert _active(page) == "Skip to the lists"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top >= 0") is True
        page.press("Enter")
        assert _active(page) == "lists"
        page.press("Tab")
        assert _active(page) == "8 bindings"
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "solid 3px" in outline
        page.press("Enter")
        assert page.evaluate("document.activeElement.parentElement.open") is True
        reached = set()
        for _ in range(200):
            page.press("Tab")
            section = page.evaluate("document.activeElement.closest('section')?.id")
            if section is None:
                break
            reached.add(section)
        assert reached == {"workers", "classes", "images", "kv", "journal"}


def test_updates_can_be_paused(browser: Browser, emulator: Running, raw: Control, account: str):
    with _dashboard(browser, emulator) as page:
        page.evaluate("document.querySelector('#pause').focus()")
        page.press(" ")
        assert page.text("#state") == "Paused"
        assert page.evaluate("document.querySelector('#pause').ariaPressed") == "true"
        raw.api("POST", f"/accounts/{account}/r2/buckets", json={"name": "while-paused"})
        page.until("performance.now() > window.pausedAt + 2500 || !(window.pausedAt ??= performance.now())")
        assert page.evaluate("document.querySelectorAll('#buckets tbody tr').length") == 0
        page.press(" ")
        page.until("document.querySelectorAll('#buckets tbody tr').length === 1")
        assert page.text("#state") == "Live"


def test_a_silent_emulator_is_said_and_found_again(browser: Browser, emulator: Running):
    with _dashboard(browser, emulator) as page:
        page.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        page.until("document.querySelector('#state').textContent === 'The emulator does not answer'")
        page.call(
            "Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )
        page.until("document.querySelector('#state').textContent === 'Live'")
        page.forgive("net::ERR_INTERNET_DISCONNECTED")


@pytest.mark.parametrize("full", [True, False], ids=["full", "empty"])
def test_nothing_hinders_access(browser: Browser, installed: Installed, emulator: Running, raw: Control, *, full: bool):
    """By the rules of axe: contrast, names, roles, landmarks, in both schemes and on all widths."""
    if full:
        Populated(raw)
        raw.fault(path="*/queues", status=503)
        for path in (f"/accounts/{emulator.account_id}/queues", "/absent"):
            raw.http.get(emulator.url + path)
    with _dashboard(browser, emulator) as page:
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        page.evaluate(installed.axe)
        for scheme, page_colour in (("light", "rgb(244, 246, 249)"), ("dark", "rgb(17, 21, 27)")):
            page.prefer(scheme)
            for width in (1600, 1000, 320):
                page.resize(width, 900)
                assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == page_colour
                found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
                shown = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]
                assert shown == []
                assert {each["id"] for each in found["passes"]} >= {"color-contrast", "region", "bypass"}


@pytest.mark.parametrize("width", [320, 640])
def test_narrow_screens_and_zoom_need_no_sideways_scrolling(
    browser: Browser, emulator: Running, raw: Control, width: int
):
    Populated(raw)
    with _dashboard(browser, emulator, width=width) as page:
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        wide = page.evaluate(
            "[...document.querySelectorAll('body *:not(.unseen, .unseen *)')]"
            ".filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML)"
        )
        assert wide == []


@contextmanager
def _other_site() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Other</title>")

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_another_site_in_the_browser_gets_nothing(browser: Browser, emulator: Running):
    address = f"{emulator.origin}/dashboard/snapshot"
    with _other_site() as site, browser.page(site) as page:
        page.until("document.title === 'Other'")
        answer = page.evaluate(f"fetch({json.dumps(address)}).then((got) => got.text(), (error) => error.message)")
        assert answer == "Failed to fetch"
        page.evaluate(f"fetch({json.dumps(address)}, {{mode: 'no-cors'}}).then(() => 0, () => 0)")
        assert page.statuses(address) == [403, 403]


def test_a_name_that_leads_to_loopback_gets_nothing(browser: Browser, emulator: Running):
    port = emulator.origin.rpartition(":")[2]
    with browser.page(f"http://{REBOUND}:{port}/dashboard") as page:
        # Names are those of Workers; the page has none.
        expected = f"No Worker answers on {REBOUND}/dashboard: no route, custom domain or workers.dev name."
        assert page.text("body") == expected
