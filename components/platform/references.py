"""Image references: `host/path[:tag][@sha256:…]`, read and judged without asking a registry.

Source: the reference grammar of the OCI distribution specification 1.1, and wrangler 4.158, which turns a name without
a host into one of the account's own registry. 2026-11-16.
"""

import re
from dataclasses import dataclass
from typing import Final

_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST: Final = re.compile(r"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|[A-Za-z0-9-]+(?=:))(?::[0-9]{1,5})?")
_PATH: Final = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Reference:
    """An image reference; what is left out is empty."""

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        name = f"{self.host}/{self.path}" if self.host else self.path
        return f"{name}{self.tag and f':{self.tag}'}{self.digest and f'@{self.digest}'}"


def is_repository(name: str) -> bool:
    """Whether a repository of a registry may be called this."""
    return _PATH.fullmatch(name) is not None


def parse(text: str) -> Reference | None:
    """Read a reference, with or without a host; None when it is not one."""
    rest, at, digest = text.partition("@")
    first, slash, path = rest.partition("/")
    host = first if slash and _HOST.fullmatch(first) else ""
    name, colon, tag = (path if host else rest).partition(":")
    if not _PATH.fullmatch(name) or (colon and not _TAG.fullmatch(tag)) or (at and not _DIGEST.fullmatch(digest)):
        return None
    return Reference(host, name, tag, digest)


def pinned(text: str) -> Reference:
    """Read a reference that says exactly which image it means; a ValueError has rule and remedy."""
    if "://" in text:
        raise ValueError("an image reference has no scheme; write registry.example/name:tag")
    found = parse(text)
    if found is None:
        raise ValueError("expected an image reference such as docker.io/library/debian:12.8")
    if not found.host:
        raise ValueError(f"name the registry too, as in docker.io/{text}: without it another registry may be meant")
    if not found.tag and not found.digest:
        raise ValueError("name a tag, or better a digest (@sha256:…): without them the image can change unnoticed")
    if found.tag == "latest" and not found.digest:
        raise ValueError("the tag latest can change under a deployment; name a version or a digest (@sha256:…)")
    return found
