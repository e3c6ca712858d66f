"""The disk of a sandbox: a file that holds a file system of the size the sandbox may fill.

Making one waits for the machine's own disk, so one of each size is kept as a pattern and the next ones are its copies.
"""

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .confine import FIRST_ID

_OPTIONS = ("-q", "-F", "-m", "0", "-O", "^has_journal,^resize_inode", "-E")
_OWNER = f"root_owner={FIRST_ID}:{FIRST_ID},nodiscard,lazy_itable_init=1"
_LARGEST_PATTERN = 64 * 1024 * 1024  # bytes of data; where files have no holes, making one is quicker than a copy


def make(program: str, file: Path, size: int, pattern: Path) -> None:
    """Make a disk of so many bytes, by a copy of the pattern where there is one."""
    try:
        _copy(pattern, file)
    except FileNotFoundError:
        _format(program, file, size)
        _keep(file, pattern)


def _format(program: str, file: Path, size: int) -> None:
    with file.open("wb") as opened:
        opened.truncate(size)
    made = subprocess.run([program, *_OPTIONS, _OWNER, str(file)], capture_output=True, check=False)
    if made.returncode:
        raise OSError(f"cannot make the disk of a sandbox: {made.stderr.decode(errors='replace').strip()}")


def _keep(file: Path, pattern: Path) -> None:
    """Keep a copy; one that cannot be kept is made again."""
    with file.open("rb") as opened:
        if sum(end - begin for begin, end in _data(opened.fileno())) > _LARGEST_PATTERN:
            return
    unfinished = pattern.with_name(f"{pattern.name}-{os.getpid()}")
    with contextlib.suppress(OSError):
        _copy(file, unfinished)
        unfinished.rename(pattern)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("wb") as written:
        written.truncate(os.fstat(read.fileno()).st_size)
        for begin, end in _data(read.fileno()):
            written.seek(begin)
            written.write(os.pread(read.fileno(), end - begin, begin))


def _data(file: int) -> Iterator[tuple[int, int]]:
    """Where a file is no hole: beginnings and ends."""
    end = 0
    while True:
        try:
            begin = os.lseek(file, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return  # there is no more
            raise
        end = os.lseek(file, begin, os.SEEK_HOLE)
        yield begin, end
