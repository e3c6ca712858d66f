"""The stack file of a project that was made from a wrangler project; pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_PLAIN: Final = re.compile(r"(?!yes$|off$|true$|false$|null$)[a-z_][a-z0-9_:-]{2,}")
"""Keys that every reader of YAML takes for text without quotes."""


def stack_file(document: Mapping[str, Any], source: str) -> str:
    """Return the stack file with these settings; `source` says where they come from."""
    source = "".join(letter if letter.isprintable() else "?" for letter in source)
    # JSON is YAML too, but nobody likes to edit it.
    config = _yaml({"config": {f"{document['name']}:settings": document}})
    return f"# Made by `sandbox-stack import` from {source}.\n{config}"


def _yaml(value: Any, indent: int = 0) -> str:
    """Write mappings and lists as blocks; everything else as JSON, which YAML reads as it is meant."""
    lines = []
    pad = "  " * indent
    for key, item in value.items():
        shown = key if _PLAIN.fullmatch(key) else _json(key)
        if isinstance(item, dict) and item:
            lines.append(f"{pad}{shown}:\n{_yaml(item, indent + 1)}")
        else:
            lines.append(f"{pad}{shown}: {_json(item)}\n")
    return "".join(lines)


def _json(value: Any) -> str:
    """Write JSON that is YAML as well, which knows no character in two escapes as JSON does."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)
