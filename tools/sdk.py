"""`make sdk`: the SDKs for TypeScript and Go in `sdk/`, made anew from the plugin's schema by Pulumi's own generators.

They are kept in the repository, so that nobody needs the generators to use them. `sdk/made.json` says what they were
made from and what was made; a test compares it with what is there.
"""

import hashlib
import json
import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from tools import command
from tools.paths import ROOT
from tools.progress import Board
from tools.setup import cache, golang

SDKS = ROOT / "sdk"
SCHEMA = ROOT / "components" / "provider" / "schema.json"
MADE = SDKS / "made.json"
_GENERATOR = golang.Target(module="sdk", package=".", program="sdk")


def make() -> int:
    """Write both SDKs."""
    with closing(Board()) as board:
        key = f"sdk-generator-{golang.source_key(_GENERATOR.module)}"
        built = cache.entry(key, lambda folder: golang.build((_GENERATOR,), folder, board=board), board=board)
    golang.drop_leftovers()
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch) / name for name in ("nodejs", "go")}
        argv = [str(built / _GENERATOR.program), str(SCHEMA), *map(str, folders.values())]
        command.run(argv, what="cannot make the SDKs", log="sdk", cwd=ROOT)
        for name, folder in folders.items():
            _replace(SDKS / name, folder)
    MADE.write_text(json.dumps(state(), indent=2) + "\n")
    return 0


def state() -> dict[str, Any]:
    """Return hashes of what the SDKs are made from, and of all their files."""
    files = sorted(path for path in SDKS.rglob("*") if path.is_file() and path != MADE and not _built(path))
    return {
        "schema": _hash(SCHEMA),
        "generator": golang.source_key(_GENERATOR.module),
        "files": {path.relative_to(SDKS).as_posix(): _hash(path) for path in files},
    }


def _replace(there: Path, made: Path) -> None:
    """Leave what belongs to the SDK's module and is not generated."""
    for path in sorted(there.rglob("*"), reverse=True) if there.exists() else ():
        if path.is_file() and path.name not in ("go.mod", "go.sum"):
            path.unlink()
    shutil.copytree(made, there, dirs_exist_ok=True)


def _built(path: Path) -> bool:
    return bool({"bin", "node_modules"} & set(path.relative_to(SDKS).parts))


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
