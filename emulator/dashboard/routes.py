"""`/dashboard`: the page, its files and the document it shows; `/` leads there.

It is aside: its requests are not recorded, no fault or latency touches them, and the store takes no write meanwhile.
"""

import hashlib
from pathlib import Path

from emulator.calls import Call, Raw, dump
from emulator.registry import Service
from emulator.store import Document

from . import guard
from .containers import sandboxes
from .listing import MOST, plain
from .snapshot import requests, snapshot

api = Service("dashboard", source="the emulator's own", date="2026-11-16")

PAGE = "/dashboard"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES = {path.name: path for path in (Path(__file__).parent / "static").iterdir()}


@api.mount("", aside=True)
async def lead(call: Call) -> Raw:
    """Send a browser that opened the bare address to the page."""
    return _guarded(call, Raw(b"", None, 302, {"location": PAGE}))


@api.mount(PAGE.strip("/"), aside=True)
async def serve(call: Call) -> Raw:
    """Everything below `/dashboard`."""
    return _guarded(call, None)


def _guarded(call: Call, reply: Raw | None) -> Raw:
    """The answer, or the refusal; both with the headers that keep other sites out."""
    refused = guard.refusal(call.method, call.headers, call.state.base_url)
    if refused:
        reply = _text(*refused)
        if reply.status == 405:
            reply.headers["allow"] = ", ".join(guard.METHODS)
    reply = reply or _find(call)
    reply.headers.update(guard.HEADERS)
    return reply


def _find(call: Call) -> Raw:
    rest = call.segments[1:]
    if rest == ["snapshot"]:
        return _snapshot(call)
    name = "index.html" if rest == [] else "/".join(rest)
    if name not in _FILES:
        return _text(404, f"There is nothing at this address. The page is at {PAGE}.")
    return Raw(_FILES[name].read_bytes(), f"{_TYPES[_FILES[name].suffix]}; charset=utf-8")


def _snapshot(call: Call) -> Raw:
    with call.store.reading():
        accounts = call.store.select("account", "")
        wanted = call.query.get("account") or accounts[0]["id"]
        account = next((each for each in accounts if each["id"] == wanted), None)
        if account is None:
            return _text(404, "There is no such account here.")
        content = dump(_document(call, accounts, account))
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if call.headers.get("if-none-match") == tag:
        return Raw(b"", None, 304, {"etag": tag})
    return Raw(content, headers={"etag": tag})


def _document(call: Call, accounts: list[Document], account: Document) -> Document:
    return {
        "account": _named(account),
        "accounts": [_named(each) for each in accounts[:MOST]],
        "address": call.state.base_url,
        "clock_ahead": call.state.clock.offset,
        "no_sandboxes": plain(call.state.runtime.containers()["reason"] or ""),
        "lists": {
            **snapshot(call.store, account, call.state.clock.now()),
            "sandboxes": sandboxes(call.state.runtime.sandboxes.shown(account["id"])),
        },
        "journal": requests(call.state.journal),
    }


def _named(account: Document) -> Document:
    return {"id": account["id"], "name": account["name"]}


def _text(status: int, text: str) -> Raw:
    return Raw(f"{text}\n".encode(), "text/plain; charset=utf-8", status)
