"""The page that the Worker serves at /console, in a real browser and on real sandboxes."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from testbed.browser.chromium import Browser, Page, launched
from testbed.browser.install import Installed, install
from tests.worker_src import stage
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

pytestmark = pytest.mark.workerd

PAGE = f"http://{stage.API_HOST}/console"
FILES = ("", "/page.css", "/page.js", "/screen.js")
SLOW = 120.0
"""Seconds for what starts a sandbox: the machine may be busy."""
CODE = """
import matplotlib.pyplot as plt, pandas
print("printed")
plt.plot([1, 2, 4])
plt.show()
pandas.DataFrame({"<b>name</b>": ["one", "two"]})
"""
HOSTILE = """
from IPython.display import HTML
broken = "top.document.title = 'broken'"
HTML(f'<script>{broken}</script><img src=x onerror="{broken}"><h1>seen</h1>')
"""


@pytest.fixture(scope="module")
def installed() -> Installed:
    return install()


@pytest.fixture(scope="module")
def browser(
    installed: Installed, tools_provided: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with stage.deployed(tools_provided, tmp_path_factory.mktemp("stage")) as deployed:
        address = urlsplit(deployed.origin).netloc
        with launched(installed, **{stage.API_HOST: address}) as browser:
            yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.page(PAGE) as page:
        page.until("document.querySelector('#screen .cursor')")
        _fill(page, key=stage.KEYS["alice"])
        yield page
        assert page.complaints == []
        assert page.evaluate("document.title") == "Sandbox console"


def _fill(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.evaluate(f"document.querySelector('#{name}').value = {json.dumps(value)}")


def _connect(page: Page) -> None:
    page.evaluate("document.querySelector('#connect').click()")
    page.until("document.querySelector('#state').textContent === 'Connected'", SLOW)


def _shows(page: Page, line: str) -> None:
    page.until(f"document.querySelector('#screen').textContent.split('\\n').includes({json.dumps(line)})", SLOW)


def _run(page: Page, code: str, **values: str) -> None:
    _fill(page, code=code, **values)
    page.evaluate("document.querySelector('#run').click()")
    page.until("document.querySelector('#progress').textContent === 'Done'", SLOW)


def test_a_terminal_is_typed_into_resized_and_found_again(page: Page) -> None:
    _fill(page, name="typed")
    _connect(page)
    page.type("echo $((6 * 7)) in $PWD")
    _shows(page, "42 in /workspace")
    page.type("echo wrogn\b\b\bong at $(stty size | cut -d ' ' -f 2)")
    width = page.evaluate("document.querySelector('#screen').clientWidth")
    page.until("/^wrong at \\d+$/m.test(document.querySelector('#screen').textContent)", SLOW)
    page.resize(500, 900)
    page.until(f"document.querySelector('#screen').clientWidth < {width}")
    page.type("clear; until [ $(tput cols) -lt 70 ]; do sleep 0.1; done; echo narrow")
    _shows(page, "narrow")
    assert "wrong" not in page.text("#screen")
    page.evaluate("document.querySelector('#disconnect').click()")
    assert page.text("#state") == "Not connected"
    page.evaluate("document.querySelector('#screen').replaceChildren()")
    _connect(page)
    _shows(page, "narrow")
    page.type("exit")
    page.until("document.querySelector('#state').textContent.startsWith('Closed: ')", SLOW)


def test_the_keyboard_can_leave_the_terminal(page: Page) -> None:
    page.evaluate("document.querySelector('#screen').focus()")
    page.press("Tab")
    assert page.evaluate("document.activeElement.id") == "language"
    _fill(page, name="typed")
    _connect(page)
    assert page.evaluate("document.activeElement.id") == "screen"
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9, modifiers=8)
    assert page.evaluate("document.activeElement.id") == "disconnect"


def test_code_shows_text_tables_charts_and_errors(page: Page) -> None:
    _run(page, CODE, kind="python", name="code")
    assert page.text("#output pre") == "printed"
    page.until("document.querySelector('#output img').naturalWidth > 100")
    assert page.evaluate("document.querySelector('#output iframe').getAttribute('sandbox')") == ""
    assert "&lt;b&gt;name" in page.evaluate("document.querySelector('#output iframe').srcdoc")
    page.forgive("Content Security Policy")  # the table's own style, which is no style of this page
    _run(page, "1 / 0")
    assert page.text("#output .bad").startswith("ZeroDivisionError: division by zero")
    _run(page, HOSTILE)
    page.until("document.querySelector('#output iframe')")
    page.forgive("about:srcdoc")
    page.forgive("Content Security Policy")
    _run(page, "1", kind="absent")
    assert page.text("#output .bad").startswith('There is no kind of sandbox "absent"')
    page.forgive("status of 400")


def test_the_key_stays_in_the_page(page: Page) -> None:
    _fill(page, name="typed")
    _connect(page)
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, location.href]") == [
        *(0, 0, ""),
        PAGE,
    ]
    assert set(page.loaded) == {PAGE.removesuffix("/console") + f"/console{name}" for name in FILES}


def test_a_wrong_key_is_said(page: Page) -> None:
    _fill(page, key="wrong-key-0123456789")
    page.evaluate("document.querySelector('#connect').click()")
    page.until("document.querySelector('#state').textContent.startsWith('Refused: Send a valid API key')")
    page.forgive("WebSocket connection")
    page.forgive("status of 401")


def test_nothing_hinders_access(page: Page, installed: Installed) -> None:
    page.evaluate(installed.axe)
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        for width in (1280, 320):
            page.resize(width, 900)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []


def test_no_file_of_the_page_makes_markup_or_reaches_out() -> None:
    folder = ROOT / "worker_src" / "src" / "console"
    for file in folder.glob("*.*"):
        text = file.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=", "https:"):
            assert word not in text, f"{file.name} has {word}"
