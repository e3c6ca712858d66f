"""What can be told of a Worker's code without running it.

Names are found where modules export them: declarations, `export { … }` lists, re-exports. Where a form hides names
(`export *`, `export const`, Python) the answer says that there may be more, and callers then accept.
Syntax errors, missing imports and what handlers really exist are not noticed: the runtime tells them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from emulator.services.durable_objects.model import Exported

# Each takes time linear in the length of the code, whatever the code: it runs on the thread that serves everybody.
_WORD = r"[\w$]+"
_DECLARED = re.compile(rf"\bexport\s+(?:(?:async\s+)?function\s*+\*?\s*+|class\s+)({_WORD})")
_VARIABLE = re.compile(rf"\bexport\s+(?:const|let|var)\s+({_WORD}|[\[{{])")
_LIST = re.compile(r"\bexport\s*\{([^{}]*)\}")
_DEFAULT = re.compile(r"\bexport\s+default\b")
_STAR = re.compile(rf"\bexport\s*\*\s*(?:as\s+({_WORD})\s*)?from\b")
_ITEM = re.compile(rf"(?:{_WORD}|\"[^\"]*\"|'[^']*')(?:\s+as\s+({_WORD}|\"[^\"]*\"|'[^']*'))?")
_LISTENER = re.compile(r"\baddEventListener\s*\(\s*[\"'](\w+)[\"']")
_HANDLERS = ("email", "fetch", "queue", "scheduled", "tail", "trace")
_PYTHON_CLASS = re.compile(r"^class\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Code:
    """The outside of a Worker's code."""

    exported: Exported
    handlers: tuple[str, ...]


def read_module(content: bytes, content_type: str) -> Code:
    """Look at the main module."""
    text = content.decode("utf-8", "replace")
    if "python" in content_type:
        return Code(Exported(frozenset({"default", *_PYTHON_CLASS.findall(text)}), complete=False), ("fetch",))
    names = {*_DECLARED.findall(text), *_listed(_LIST.findall(text))}
    variables = set(_VARIABLE.findall(text))
    stars = _STAR.findall(text)
    names |= {name for name in (*variables, *stars) if name not in ("", "[", "{")}
    if _DEFAULT.search(text):
        names.add("default")
    complete = not variables and "" not in stars
    return Code(Exported(frozenset(names), complete=complete), _handlers(text) if "default" in names else ())


def read_service_worker(content: bytes) -> Code:
    """Look at a script of the older syntax, which exports nothing."""
    found = sorted(set(_LISTENER.findall(content.decode("utf-8", "replace"))))
    return Code(Exported(frozenset(), complete=True), tuple(found))


def _listed(lists: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for items in lists:
        for item in items.split(","):
            found = _ITEM.fullmatch(item.strip())
            if found:
                names.add((found[1] or item.strip()).strip("\"'"))
    return names


def _handlers(text: str) -> tuple[str, ...]:
    """Handlers that appear somewhere as a method or property; `fetch` if none does, since most Workers have it."""
    found = tuple(name for name in _HANDLERS if re.search(rf"\b{name}\s*[(:]|\b{name}\s*=\s*async\b", text))
    return found or ("fetch",)
