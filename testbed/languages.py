"""What programs in other languages than Python are built with: made once, for all tests and runs of them.

It is complete or absent, also where several workers of the tests come to it at once or one of them is killed.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from testbed.loopback import with_registries
from tools.locks import locked
from tools.paths import ROOT
from tools.progress import Board
from tools.setup import golang
from tools.setup.toolchain import Toolchain

ALL: Final = ("typescript", "go")
_SHARED: Final = ROOT / ".local" / "languages"
_BUILT: Final = ("bin", "node_modules")


def node_modules(tools: Toolchain) -> Path:
    """Have the packages of the example in TypeScript, with the generated SDK among them."""

    def install(folder: Path) -> None:
        left_out = shutil.ignore_patterns(*_BUILT)
        for source in ("examples/typescript", "sdk/nodejs"):
            shutil.copytree(ROOT / source, folder / source, ignore=left_out)
        path = f"{tools.node}{os.pathsep}{os.environ['PATH']}"
        _run(
            ["npm", "ci"], folder / "examples" / "typescript", {"PATH": path, "npm_config_cache": str(_SHARED / "npm")}
        )

    sources = (ROOT / "examples/typescript/package-lock.json", ROOT / "sdk/nodejs")
    return _made("typescript", sources, install) / "examples" / "typescript" / "node_modules"


def go_program() -> Path:
    """Have the example in Go built; what it was compiled from is many times larger, and is not kept."""

    def build(folder: Path) -> None:
        with closing(Board()) as board:
            go = golang.find_go(board)
        scratch = _SHARED / "scratch"  # stays when it is interrupted, to go on from there
        settings = {
            "CGO_ENABLED": "0",
            "GOCACHE": str(scratch / "build"),
            "GOFLAGS": "-mod=readonly -modcacherw -trimpath",
            "GOMODCACHE": str(scratch / "mod"),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }
        argv = [str(go), "build", "-ldflags", "-s -w", "-o", str(folder / "sandboxes"), "."]
        _run(argv, ROOT / "examples" / "go", settings)
        shutil.rmtree(scratch)

    return _made("go", (ROOT / "examples/go", ROOT / "sdk/go"), build) / "sandboxes"


def _made(name: str, sources: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """Return the folder that was made of these sources; what was made of others before goes."""
    there = _SHARED / name / _hash(sources)
    with closing(Board()) as board, locked(_SHARED / f"{name}.lock", board=board, waiting_for=f"the example in {name}"):
        if not there.exists():
            shutil.rmtree(there.parent, ignore_errors=True)
            begun = there.with_suffix(".begun")
            begun.mkdir(parents=True)
            make(begun)
            begun.replace(there)
    return there


def _hash(sources: Iterable[Path]) -> str:
    files = (path for source in sources for path in (sorted(source.rglob("*")) if source.is_dir() else (source,)))
    kept = (path for path in files if path.is_file() and not set(_BUILT) & set(path.relative_to(ROOT).parts))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in kept)).hexdigest()[:12]


def _run(argv: Sequence[str], folder: Path, settings: Mapping[str, str]) -> None:
    env = with_registries(os.environ) | dict(settings)
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
