"""Removes folders of sandboxes and layers, also where their owner may not look into parts of them."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any


def remove(folder: Path) -> None:
    """Remove a folder with everything in it; one that is not there is fine."""

    def open_up(_function: Any, path: str, _error: Any) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    shutil.rmtree(folder, onerror=open_up)
