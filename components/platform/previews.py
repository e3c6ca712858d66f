"""Preview hosts: what the Sandbox SDK makes of port, sandbox id and token, and which host names can carry them.

Source: @cloudflare/sandbox 0.12.10, RFC 1035, Cloudflare's documentation of Universal SSL and routes. 2026-11-16.
"""

import re
from collections.abc import Callable
from typing import Final

LONGEST_PORT, LONGEST_ID, LONGEST_TOKEN = 5, 40, 16
"""Characters; the SDK enforces the length of tokens only."""
LONGEST_LABEL, LONGEST_HOST = 63, 253
"""Limits of DNS."""
NOWHERE: Final = "100::"
"""Content of a record whose host a Worker answers: the discard prefix (RFC 6666), which no origin has."""
THIS_MACHINE: Final = "localhost"
"""Names below it are this machine for curl and browsers (RFC 6761)."""
LONGEST_PREVIEW_LABEL: Final = LONGEST_PORT + 1 + LONGEST_ID + 1 + LONGEST_TOKEN
LONGEST_HOSTNAME: Final = LONGEST_HOST - LONGEST_PREVIEW_LABEL - 1
"""What is left for the part of a preview host that does not change."""

_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_PREVIEW: Final = re.compile(r"\d{4,5}-.+-[a-z0-9_]{1,16}")


def _malformed(text: str) -> bool:
    labels = text.split(".")
    return len(labels) < 2 or labels[-1].isdigit() or not all(map(_LABEL.fullmatch, labels))


_MISTAKES: Final[tuple[tuple[Callable[[str], bool], str], ...]] = (
    (lambda text: "://" in text, "give the host name alone, without a scheme"),
    (lambda text: bool(set(text) & set("/:?#@")), "give the host name alone, without port or path"),
    (lambda text: "*" in text, "leave the wildcard out; it is added where it is needed"),
    (lambda text: text.endswith("."), "leave the dot at the end out"),
    (lambda text: not text.isascii(), "give an internationalised name in its ASCII form, which begins with xn--"),
    (lambda text: text != text.lower(), "use lower case"),
    (_malformed, "give a full host name of letters, digits and inner hyphens, such as previews.example.com"),
    (lambda text: len(text) > LONGEST_HOST, f"use {LONGEST_HOST} characters at most"),
)
"""What can be wrong with a host name, the most telling first."""


def hostname_problem(text: str) -> str | None:
    """Say why a text is no host name that a zone can hold, with the remedy; None if it is one."""
    return next((remedy for wrong, remedy in _MISTAKES if wrong(text)), None)


def on_workers_dev(host: str) -> bool:
    """Whether a host is on workers.dev, where Workers have no sub-domains of their own."""
    return is_or_under(host, "workers.dev")


def under(host: str, parent: str) -> bool:
    """Whether a host is below another, at any depth."""
    return host.endswith(f".{parent}")


def is_or_under(host: str, parent: str) -> bool:
    """Whether a host is another one or below it."""
    return host == parent or under(host, parent)


def one_below(host: str, parent: str) -> bool:
    """Whether a host is one label below another: as far as a wildcard in a certificate reaches."""
    return host.partition(".")[2] == parent


def covered_by_universal_ssl(host: str, zone: str) -> bool:
    """Whether the certificate that every zone has covers a host: the apex and one level below it."""
    return host == zone or one_below(host, zone)


def looks_like_preview(host: str) -> bool:
    """Whether the router would take a host for a preview."""
    return _PREVIEW.fullmatch(host.partition(".")[0]) is not None
