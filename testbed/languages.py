"""What programs in other languages than Python are built with: made once, for all tests and runs of them.

It is in the cache of tools, as compilers of two languages take minutes: complete or absent, also where several workers
of the tests come to it at once or one of them is killed.
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
from tools.paths import ROOT
from tools.progress import Board
from tools.setup import cache, golang
from tools.setup.toolchain import Toolchain

ALL: Final = ("typescript", "go")
_BUILT: Final = ("bin", "node_modules")


def node_modules(tools: Toolchain) -> Path:
    """Have the packages of the example in TypeScript, with the generated SDK among them."""

    def install(folder: Path) -> None:
        left_out = shutil.ignore_patterns(*_BUILT)
        for source in ("examples/typescript", "sdk/nodejs"):
            shutil.copytree(ROOT / source, folder / source, ignore=left_out)
        path = f"{tools.node}{os.pathsep}{os.environ['PATH']}"
        _run(
            ["npm", "ci"],
            folder / "examples" / "typescript",
            {"PATH": path, "npm_config_cache": str(ROOT / ".local" / "npm")},
        )

    sources = (ROOT / "examples/typescript/package-lock.json", ROOT / "sdk/nodejs")
    return _made("typescript", sources, install) / "examples" / "typescript" / "node_modules"


def go_program() -> Path:
    """Have the example in Go built; what it was compiled from is many times larger, and is not kept."""

    def build(folder: Path) -> None:
        with closing(Board()) as board:
            go = golang.find_go(board)
        scratch = folder / "scratch"
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
    with closing(Board()) as board:
        return cache.entry(f"example-{name}-{_hash(sources)}", make, board=board)


def _hash(sources: Iterable[Path]) -> str:
    files = (path for source in sources for path in (sorted(source.rglob("*")) if source.is_dir() else (source,)))
    kept = (path for path in files if path.is_file() and not set(_BUILT) & set(path.relative_to(ROOT).parts))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in kept)).hexdigest()[:12]


def _run(argv: Sequence[str], folder: Path, settings: Mapping[str, str]) -> None:
    env = with_registries(os.environ) | dict(settings)
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
