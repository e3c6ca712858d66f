"""The workerd binary, installed by npm from the lock file beside this module.

Each lock file has a folder of its own, so that checkouts and versions do not disturb each other; several processes may
ask at once. After `fetch`, `find` returns the program without Node; `provide` does either.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_LOCKED = Path(__file__).parent / "node"
_FILES = ("package.json", "package-lock.json")
_NPM = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
_under_way: set["subprocess.Popen[str]"] = set()
_FETCHING = "Fetching workerd, which runs Workers on this machine (npm, once)."


class MissingError(Exception):
    """The runtime is not installed; the message says how to get it."""


def provide(folder: Path, node: Path | None) -> Path:
    """The program; fetched if it is missing and the folder of node and npm is known."""
    return fetch(folder, node) if node else find(folder)


def find(folder: Path) -> Path:
    """The program, if it was installed."""
    for program in _installed(folder).glob("node_modules/@cloudflare/workerd-*/bin/workerd"):
        return program.resolve()
    raise MissingError(
        f"The runtime that serves Workers is not installed: there is no workerd below {folder}. "
        "Start the emulator with `--node FOLDER`, the folder that holds node and npm, to have it fetched."
    )


def fetch(folder: Path, node: Path) -> Path:
    """The program, installed now if it was not."""
    target = _installed(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            print(_FETCHING, file=sys.stderr, flush=True)  # noqa: T201 - it takes seconds, on a slow network minutes
            _install(target, node)
    return find(folder)


def _installed(folder: Path) -> Path:
    digest = hashlib.sha256(b"".join((_LOCKED / name).read_bytes() for name in _FILES)).hexdigest()
    return folder / digest[:16]


def _install(target: Path, node: Path) -> None:
    work = target.with_suffix(".new")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for name in _FILES:
        shutil.copy(_LOCKED / name, work / name)
    cache = work / ".npm"  # in the user's home a second copy of the program would stay
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    try:
        code, said = _run([node / "npm", *_NPM, "--cache", cache], work, environment)
    except OSError as error:
        raise MissingError(f"Cannot install the runtime that serves Workers: {error}. Is npm in {node}?") from error
    if code != 0:
        last = (said.strip() or "it said nothing").splitlines()[-1]
        raise MissingError(f"Cannot install the runtime that serves Workers: npm failed in {work}: {last}")
    shutil.rmtree(cache, ignore_errors=True)
    work.rename(target)


def _run(argv: list[str | Path], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a program in a session of its own, so that `stop` ends its offspring, too; exit code and complaints."""
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _under_way.add(process)
    try:
        _, said = process.communicate()
    except BaseException:
        _end(process)
        raise
    finally:
        _under_way.discard(process)
    return process.returncode, said


def stop() -> None:
    """End what is being installed: the thread that waits for it could not be."""
    for process in list(_under_way):
        _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
