"""A headless Chromium under test: pages, keys, colour schemes, pictures.

Speaks the DevTools protocol over a pair of pipes, so nothing listens and no driver is needed. It reaches nothing but
loopback. Whatever a page complains about (exceptions, blocked content, failed loads) is kept in `complaints`.
"""

import base64
import contextlib
import itertools
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testbed.browser.install import Installed
from testbed.loopback import CLOSED

REBOUND = "rebound.example"
"""A name that leads to loopback, as a hostile site's can."""
_TIMEOUT = 60
# Chromium wants the pipes as descriptors 3 and 4, which may be in use here: a step between puts them there.
_LAUNCH = (
    "import fcntl, os, sys; pipes = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]];"
    " os.dup2(pipes[0], 3); os.dup2(pipes[1], 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_FLAGS = (
    "--headless",
    "--no-sandbox",  # it opens nothing but our own page, and root may not have a sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_NAMES = f"MAP {REBOUND} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
_KEYS = {"Tab": 9, "Enter": 13, " ": 32}


class Browser:
    """One process with any number of pages."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        """Send a command and wait for its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _wait_for(self, session: str, event: str) -> None:
        while not any(each.get("sessionId") == session and each["method"] == event for each in self.events):
            self.events.append(self._receive())

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + _TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self._read, 1 << 16) if ready else b""
            assert chunk, "the browser ended or does not answer"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    @contextmanager
    def page(self, url: str, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Iterator["Page"]:
        """A page of its own at this address."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(scheme)
        page.call("Page.navigate", url=url)
        self._wait_for(session, "Page.loadEventFired")
        try:
            yield page
        finally:
            self.call("Target.disposeBrowserContext", browserContextId=context)


class Page:
    """One page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def call(self, method: str, **params: Any) -> Any:
        """Send a command about this page."""
        return self._browser.call(method, self._session, **params)

    def resize(self, width: int, height: int, scale: float = 1) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def prefer(self, scheme: str) -> None:
        """Set the colour scheme the reader prefers."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, awaited."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, f"{expression[:200]}: {done['exceptionDetails']}"
        return done["result"].get("value")

    def until(self, expression: str, seconds: float = 20) -> None:
        """Wait for an expression to be true."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"never became true: {expression}"
            time.sleep(0.05)

    def text(self, selector: str) -> str:
        """What a reader sees of an element."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")).strip()

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        texts = {"text": {"Enter": "\r"}.get(key, key)} if key != "Tab" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code={" ": "Space"}.get(key, key),
                windowsVirtualKeyCode=_KEYS[key],
                **(texts if kind == "keyDown" else {}),
            )

    def type(self, text: str) -> None:
        """Press the key of each character, then Enter."""
        for character in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=character, text=character)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=character)
        self.press("Enter")

    def picture(self, file: Path) -> None:
        """Write what is to be seen as a PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    @property
    def complaints(self) -> list[str]:
        """What the page's console would show as wrong."""
        self.evaluate("0")  # takes in what has happened by now
        found = []
        for event in self._events():
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    @property
    def loaded(self) -> list[str]:
        """Every address the page has asked for."""
        self.evaluate("0")
        return [e["params"]["request"]["url"] for e in self._events() if e["method"] == "Network.requestWillBeSent"]

    def statuses(self, address: str) -> list[int]:
        """How an address was answered, each time."""
        self.evaluate("0")
        answers = [
            event["params"] for event in self._events() if event["method"] == "Network.responseReceivedExtraInfo"
        ]
        asked = {
            event["params"]["requestId"]
            for event in self._events()
            if event["method"] == "Network.requestWillBeSent" and event["params"]["request"]["url"] == address
        }
        return [answer["statusCode"] for answer in answers if answer["requestId"] in asked]

    def forgive(self, text: str) -> None:
        """Drop complaints a test has provoked."""
        self.evaluate("0")
        self._browser.events = [event for event in self._browser.events if text not in json.dumps(event)]

    def _events(self) -> list[dict[str, Any]]:
        return [event for event in self._browser.events if event.get("sessionId") == self._session]


def _without_proxies() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in CLOSED}


@contextmanager
def launched(installed: Installed, **names: str) -> Iterator[Browser]:
    """Run the browser while the block runs; it finds these names at the addresses given, which have a port."""
    rules = ", ".join([*(f"MAP {name} {address}" for name, address in names.items()), _NAMES])
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", _LAUNCH, str(to_browser[0]), str(from_browser[1])),
                *(str(installed.program), *_FLAGS, f"--host-resolver-rules={rules}", f"--user-data-dir={profile}"),
            ],
            # The rules above keep strangers out; a proxy would be asked before they apply.
            env={**_without_proxies(), **installed.env, "HOME": profile, "XDG_CACHE_HOME": profile},
            pass_fds=(to_browser[0], from_browser[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        browser = Browser(to_browser[1], from_browser[0])
        try:
            yield browser
        finally:
            with contextlib.suppress(OSError, AssertionError):
                browser.call("Browser.close")
            os.close(to_browser[1])
            os.close(from_browser[0])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
