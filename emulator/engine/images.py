"""Images as the engine takes them, and their layers on disk: each unpacked once, shared by all images that have it."""

import asyncio
import fcntl
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import confine, folders
from .oci import ImageError

_UNFINISHED = "new-"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Layer:
    """One layer: its blob, what that is, and the digest of what is in it."""

    blob: Path
    media_type: str
    diff_id: str


@dataclass(frozen=True)
class Image:
    """What is to be run: the reference for people, the digest of its manifest, its configuration, its layers."""

    name: str
    digest: str
    config: Mapping[str, Any]
    layers: tuple[Layer, ...]


class Layers:
    """Unpacked layers below one folder, named by what is in them."""

    def __init__(self, folder: Path, program: Path) -> None:
        # Who owns the files depends on who unpacked them; one user's layers are of no use to another.
        self._folder = folder / (f"mapped-{confine.FIRST_ID}" if confine.is_root() else "single-user")
        self._program = program
        self._under_way: dict[str, asyncio.Task[None]] = {}

    def of(self, image: Image) -> list[Path]:
        """Where the layers of an image are, or will be."""
        return [self._place(image, layer) for layer in image.layers]

    def clear(self) -> None:
        """Remove what emulators that were killed have unpacked in part."""
        for scratch in self._folder.glob(f"{_UNFINISHED}*"):
            lock = _lock(scratch)
            if lock is not None:
                folders.remove(scratch)
                os.close(lock)

    async def provide(self, image: Image) -> None:
        """Unpack what is missing; several who want the same layer wait for one."""
        for layer in image.layers:
            place = self._place(image, layer)
            if place.exists():
                continue
            if place.name not in self._under_way:
                task = asyncio.ensure_future(self._unpack(image, layer, place))
                self._under_way[place.name] = task
                task.add_done_callback(partial(self._forget, place.name))
            await asyncio.shield(self._under_way[place.name])

    def _forget(self, name: str, _task: "asyncio.Task[None]") -> None:
        self._under_way.pop(name, None)

    def _place(self, image: Image, layer: Layer) -> Path:
        """Where a layer is; its digest is the image's own word, and anything else would be a path of this machine."""
        if not _DIGEST.fullmatch(layer.diff_id):
            raise ImageError(
                f"the image {image.name} calls a layer {layer.diff_id[:80]!r}, which is no sha256 digest; "
                "build it again"
            )
        return self._folder / layer.diff_id.replace(":", "-")

    async def _unpack(self, image: Image, layer: Layer, place: Path) -> None:
        """Unpack into a folder of its own, which takes its name when it is whole."""
        if not layer.blob.exists():
            raise ImageError(f"the image {image.name} is gone from the registry; push it again")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch, lock = _claimed(self._folder)
        ids = ("--ids", f"{confine.FIRST_ID}:{confine.IDS}") if confine.is_root() else ("--rootless",)
        arguments = ("--blob", layer.blob, "--media-type", layer.media_type, "--diff-id", layer.diff_id, *ids)
        try:
            process = await asyncio.create_subprocess_exec(
                *(self._program, "unpack", "--held", *arguments, "--to", scratch),
                stdin=asyncio.subprocess.PIPE,  # nothing is written: it ends when this process does
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(lock,),
            )
            assert process.stderr is not None  # noqa: S101 - it is a pipe
            said = await process.stderr.read()
            if await process.wait():
                reason = said.decode(errors="replace").strip() or "no reason was given"
                raise ImageError(f"the image {image.name} cannot be unpacked: {reason}")
            scratch.chmod(0o755)
            try:
                scratch.rename(place)
            except OSError:
                if not place.exists():  # else another emulator was quicker
                    raise
        finally:
            folders.remove(scratch)
            os.close(lock)


def _claimed(above: Path) -> tuple[Path, int]:
    """A new folder, and the lock on it that says that somebody fills it."""
    while True:
        scratch = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=above))
        lock = _lock(scratch)
        if lock is not None:  # else another emulator has taken it for abandoned before it was locked
            return scratch, lock


def _lock(folder: Path) -> int | None:
    """Lock a folder; None when it is gone or another has it. A lock lasts as long as any process that has it open."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
