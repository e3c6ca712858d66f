"""Configuration of workerd as Cap'n Proto text.

A struct is a dictionary, a list a list, text a string; what is none of these (an enum, an embedded file) is a `Word`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ODD = re.compile(r'["\\\x00-\x1f\x7f]')


@dataclass(frozen=True)
class Word:
    """Goes into the text as it is."""

    text: str


def document(config: Mapping[str, Any]) -> str:
    """The whole file."""
    return f'using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = {render(config)};\n'


def embed(digest: str) -> Word:
    """The content of a blob, found below the import folder."""
    return Word(f'embed "/{digest[:2]}/{digest}"')


def render(value: Any) -> str:
    """A value."""
    if isinstance(value, Word):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        return f"({', '.join(f'{name} = {render(item)}' for name, item in value.items())})"
    return f"[{', '.join(render(item) for item in value)}]"


def quote(text: str) -> str:
    """A text literal."""
    return '"' + _ODD.sub(lambda found: f"\\x{ord(found[0]):02x}", text) + '"'
