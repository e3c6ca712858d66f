"""What programs in other languages than Python are built with: fetched once, for all tests."""

import hashlib
import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Final

from testbed.loopback import with_registries
from tools.paths import ROOT
from tools.progress import Board
from tools.setup import golang
from tools.setup.toolchain import Toolchain

ALL: Final = ("typescript", "go")
_SHARED: Final = ROOT / ".local" / "languages"


def node_modules(tools: Toolchain) -> Path:
    """Have the packages of the example in TypeScript, with the generated SDK among them."""
    example = ROOT / "examples" / "typescript"
    sources = [example / "package-lock.json", *sorted((ROOT / "sdk" / "nodejs").rglob("*.[jt]s*"))]
    read = (path.read_bytes() for path in sources if not {"bin", "node_modules"} & set(path.parts))
    key = hashlib.sha256(b"".join(read)).hexdigest()[:12]
    there = _SHARED / key / "examples" / "typescript"
    if not (there / "node_modules" / "done").exists():
        shutil.rmtree(_SHARED / key, ignore_errors=True)
        shutil.copytree(example, there, ignore=shutil.ignore_patterns("node_modules"))
        left_out = shutil.ignore_patterns("bin", "node_modules")
        shutil.copytree(ROOT / "sdk" / "nodejs", _SHARED / key / "sdk" / "nodejs", ignore=left_out)
        env = with_registries(os.environ) | {"npm_config_cache": str(ROOT / ".local" / "npm")}
        env["PATH"] = f"{tools.node}{os.pathsep}{env['PATH']}"
        done = subprocess.run(["npm", "ci"], cwd=there, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (there / "node_modules" / "done").touch()
    return there / "node_modules"


def go_program() -> Path:
    """Have the example in Go built; what it is compiled from stays for the next time."""
    with closing(Board()) as board:
        go = golang.find_go(board)
    folder = _SHARED / "go"
    folder.mkdir(parents=True, exist_ok=True)
    env = with_registries(os.environ) | {
        "CGO_ENABLED": "0",
        "GOCACHE": str(folder / "build"),
        "GOFLAGS": "-mod=readonly -modcacherw -trimpath",
        "GOMODCACHE": str(folder / "mod"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    program = folder / "sandboxes"
    argv = [str(go), "build", "-ldflags", "-s -w", "-o", str(program), "."]
    done = subprocess.run(argv, cwd=ROOT / "examples" / "go", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return program
