"""Modules of a Worker: hashes, upload parts, and the way back from a downloaded Worker to hashes."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....platform.modules import content_type

Modules = Mapping[str, Mapping[str, Any]]


def digest(content: bytes) -> str:
    """Return the hash a module is known by."""
    return hashlib.sha256(content).hexdigest()


def identity(modules: Modules) -> dict[str, Any]:
    """Return what makes a difference: where a file lies does not."""
    return {
        name: {"contentType": content_type(name), **{key: item for key, item in module.items() if key != "file"}}
        if isinstance(module, dict)
        else module
        for name, module in modules.items()
    }


def parts(modules: Modules, contents: Mapping[str, bytes]) -> list[tuple[str, tuple[str, bytes, str]]]:
    """Return the file parts of an upload, by name."""
    return [
        (name, (name, contents[name], modules[name].get("contentType") or content_type(name)))
        for name in sorted(modules)
    ]


def from_download(downloaded: Mapping[str, tuple[str, bytes]]) -> dict[str, dict[str, str]]:
    """Return downloaded modules as inputs have them."""
    return {name: {"contentType": kind, "sha256": digest(content)} for name, (kind, content) in downloaded.items()}


def split_download(kind: str, body: bytes, main: str) -> dict[str, tuple[str, bytes]]:
    """Return type and content of each module of a downloaded Worker; one of the older syntax has a single one."""
    match = re.search(r'boundary="?([^";]+)"?', kind)
    if not kind.startswith("multipart/") or match is None:
        return {main: (kind.partition(";")[0], body)}
    return {name: (kind, content) for name, kind, content in _split(body, match[1])}


def _split(body: bytes, boundary: str) -> Iterator[tuple[str, str, bytes]]:
    for part in (b"\r\n" + body).split(f"\r\n--{boundary}".encode())[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        text = head.decode("utf-8", "replace")
        name = re.search(r'\bname="([^"]*)"', text)
        kind = re.search(r"(?im)^content-type:\s*([^\r\n;]+)", text)
        if name is not None:
            yield name[1], kind[1].strip() if kind else "application/octet-stream", content
