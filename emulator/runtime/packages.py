"""The workerd binary, installed by npm from the lock file beside this module.

Each lock file has a folder of its own, so that checkouts and versions do not disturb each other; several processes may
ask at once. After `fetch`, `find` gives the program without Node; `provide` does either.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

_LOCKED = Path(__file__).parent / "node"
_FILES = ("package.json", "package-lock.json")
_NPM = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
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
        done = subprocess.run(
            [node / "npm", *_NPM, "--cache", cache],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise MissingError(f"Cannot install the runtime that serves Workers: {error}. Is npm in {node}?") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise MissingError(f"Cannot install the runtime that serves Workers: npm failed in {work}: {last}")
    shutil.rmtree(cache, ignore_errors=True)
    work.rename(target)
