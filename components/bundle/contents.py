"""What a bundle holds, as far as it matters before the upload: the names it exports and the SDK it was made with."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SDK: Final = "@cloudflare/sandbox"
_INSIDE: Final = f"/node_modules/{SDK}/"
_LIST: Final = re.compile(r"\bexport\s*\{([^}]*)\}")
_DECLARED: Final = re.compile(r"\bexport\s+(default\b|(?:async\s+)?(?:class|function)\s*\*?\s*([\w$]+))")
# Names of these forms cannot be told without reading the code as code does, and a name may be written in escapes.
_UNCLEAR: Final = re.compile(r"\bexport\s*(?:\*|const\b|let\b|var\b)|\bexport\s*\{[^}]*\\u")


@dataclass(frozen=True)
class Contents:
    """What the bundler says of its result."""

    exports: frozenset[str]
    sdk_versions: frozenset[str]


def reported(metafile: Path, folder: Path) -> Contents:
    """Read esbuild's report of a run in a folder; versions are those of the packages that the code was taken from."""
    report = json.loads(metafile.read_text(encoding="utf-8"))
    exports = {name for output in report["outputs"].values() for name in output.get("exports", ())}
    files = [(folder / name).as_posix() for name in report["inputs"]]
    packages = {file[: file.rindex(_INSIDE) + len(_INSIDE)] for file in files if _INSIDE in file}
    versions = {json.loads(Path(each, "package.json").read_text(encoding="utf-8"))["version"] for each in packages}
    return Contents(frozenset(exports), frozenset(versions))


def exported_names(module: Path) -> frozenset[str] | None:
    """Return the names that a ready module exports, and maybe some it does not; None when they cannot be told."""
    if module.suffix not in {".js", ".mjs"}:
        return None
    text = module.read_text(encoding="utf-8", errors="replace")
    if _UNCLEAR.search(text):
        return None
    listed = [part.split()[-1] for found in _LIST.finditer(text) for part in found[1].split(",") if part.strip()]
    declared = [found[2] or "default" for found in _DECLARED.finditer(text)]
    return frozenset(name.strip("\"'") for name in [*listed, *declared])
