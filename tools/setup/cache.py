"""The cache of tools, one folder per version: complete or absent, even when set-ups run at once or are killed."""

import platform
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.locks import locked
from tools.paths import cache_root
from tools.progress import Board


def entry(key: str, produce: Callable[[Path], None], *, board: Board) -> Path:
    """Return the folder of `key`, made by `produce` in a scratch folder that gets its name when it is complete."""
    root = cache_root()
    # A home folder may be shared by machines of different kinds.
    name = f"{key}-{platform.system().lower()}-{platform.machine()}"
    folder = root / name
    if folder.is_dir():
        return folder
    with locked(root / f"{name}.lock", board=board, waiting_for=key):
        if folder.is_dir():
            return folder
        _drop_leftovers(root, name)
        scratch = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=root))
        try:
            produce(scratch)
            scratch.chmod(0o755)
            scratch.replace(folder)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
    return folder


def _drop_leftovers(root: Path, name: str) -> None:
    """Remove what a killed set-up left behind. Nobody writes there: its programs would still hold the lock."""
    for leftover in root.glob(f".{name}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
