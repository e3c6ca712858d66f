"""The cache of tools, one folder per version: complete or absent, even when set-ups run at once or are killed."""

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.errors import SetupError
from tools.paths import cache_root
from tools.progress import Board


@contextmanager
def locked(path: Path, *, board: Board, waiting_for: str) -> Iterator[None]:
    """Hold a lock that dies with this process; say so once if another set-up holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("w")
    except OSError as error:
        remedy = "Make the folder writable, or point XDG_CACHE_HOME elsewhere"
        raise SetupError(f"cannot write to {path.parent}", error.strerror or str(error), remedy) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            board.say(f"  wait   another set-up is at work on {waiting_for}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def entry(key: str, produce: Callable[[Path], None], *, board: Board) -> Path:
    """Give the folder of `key`, made by `produce` in a scratch folder that takes its name only when it is complete."""
    root = cache_root()
    folder = root / key
    if folder.is_dir():
        return folder
    with locked(root / f"{key}.lock", board=board, waiting_for=key):
        if folder.is_dir():
            return folder
        _drop_leftovers(root, key)
        scratch = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=root))
        try:
            produce(scratch)
            scratch.chmod(0o755)
            scratch.replace(folder)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
    return folder


def _drop_leftovers(root: Path, key: str) -> None:
    """Remove what a killed set-up left behind; the lock is ours, so nobody is writing there."""
    for leftover in root.glob(f".{key}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
