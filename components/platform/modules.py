"""Kinds of Worker modules by file name.

Source: the upload form of wrangler 4.125 and the official Python SDK 5.9.0. 2026-11-16.
"""

from typing import Final

ES_MODULE: Final = "application/javascript+module"
CONTENT_TYPES: Final = (
    ES_MODULE,
    "application/javascript",
    "application/wasm",
    "application/octet-stream",
    "application/source-map",
    "text/plain",
    "text/x-python",
    "text/x-python-requirement",
)
_BY_SUFFIX: Final = {
    "js": ES_MODULE,
    "mjs": ES_MODULE,
    "cjs": "application/javascript",
    "wasm": "application/wasm",
    "map": "application/source-map",
    "txt": "text/plain",
    "html": "text/plain",
    "sql": "text/plain",
    "py": "text/x-python",
}


def content_type(name: str) -> str:
    """Return the content type a module of this name is uploaded with."""
    return _BY_SUFFIX.get(name.rpartition(".")[2].lower(), "application/octet-stream")
