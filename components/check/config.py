"""Reads wrangler configurations from disk."""

from pathlib import Path

from ..wrangler.document import BrokenDocumentError, Document, read_jsonc, read_toml
from .files import Files


def read_config(files: Files, path: Path) -> Document | None:
    """Read a wrangler configuration; what is wrong with it is remembered."""
    text = files.text(path)
    if text is None:
        return None
    name = files.name(path)
    try:
        document = read_toml(name, text) if path.suffix == ".toml" else read_jsonc(name, text)
    except BrokenDocumentError as error:
        files.problem(f"{name}:{error.line}", f"{path.name} cannot be read: {error}")
        return None
    if not isinstance(document.value, dict):
        files.problem(f"{name}:1", f"{path.name} is not an object")
        return None
    return document
