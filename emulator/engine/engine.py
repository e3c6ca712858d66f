"""The engine: starts containers, reaches their ports, runs commands in them, ends them.

All work is done by the spawner and the supervisors it makes; this side only talks to them. When this process dies they
end, and clear up; what is left because they were killed too is removed by the next start.
"""

import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import platform
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import cgroups, confine, folders, link, oci, programs
from .container import Container
from .images import Image, Layers
from .link import Message
from .oci import ImageError, Run
from .programs import Programs, UnavailableError

_ROOT = Path(__file__).resolve().parents[2]
_SECCOMP_SECONDS = 30
_REFUSAL_SECONDS = 60.0  # for which a machine that cannot run containers is not looked at again


@dataclass(frozen=True)
class Size:
    """What one container may use."""

    vcpu: float
    memory_mib: int
    disk_mb: int


@dataclass(frozen=True)
class Served:
    """Hosts that this machine serves itself, by HTTPS, and the certificate by which programs know them."""

    domains: tuple[str, ...]
    certificate: str  # in PEM


@dataclass(frozen=True)
class NetworkPolicy:
    """What leads out of a container: the internet, addresses whose requests are intercepted, hosts served here."""

    internet: bool = False
    addresses: tuple[str, ...] = ()
    served: Served | None = None


class Engine:
    """All containers of one emulator."""

    def __init__(self, folder: Path, tools: Path | None, layers: Path) -> None:
        """Disks lie below `folder`, unpacked layers below `layers`; `tools` is what set-up has filled."""
        self._folder = folder
        self._tools = tools
        self._layers_folder = layers
        self._prefix = f"cloudflare-sandbox.{hashlib.sha256(str(folder).encode()).hexdigest()[:10]}."
        self._single_user = not confine.is_root() if sys.platform == "linux" else True
        self._refusal = ""
        self._refused_until = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._jobs: socket.socket | None = None
        self._programs: Programs | None = None
        self._seccomp: Any = None
        self._hierarchy: cgroups.Hierarchy | None = None
        self._layers: Layers | None = None
        self.no_internet: str | None = None  # why there is no way out of any container; known once it is open
        # Not the number of the process alone: one before may have had it, and its leftovers may still be there.
        self._names = (f"{self._prefix}{os.getpid()}-{secrets.token_hex(3)}-{each}" for each in itertools.count(1))
        self._disks = folder.with_name(f"{folder.name}-disks")  # one of each size, by it
        self.containers: dict[str, Container] = {}
        self._lives: set[asyncio.Task[None]] = set()

    def open(self) -> list[str]:
        """Make ready to run containers; what is limited less than it should be. UnavailableError says why not."""
        if self._programs is None:
            self._programs = self._find()
            self._clear_leftovers()
            folders.remove(self._disks)
            self._disks.mkdir(parents=True)
        if self._process is None or self._process.poll() is not None:
            self._run_spawner()
        return [*programs.remarks(self._programs), *([self.no_internet] if self.no_internet else [])]

    def _find(self) -> Programs:
        """Look at this machine; what stands in the way is remembered for a while, as looking takes time."""
        if time.monotonic() < self._refused_until:
            raise UnavailableError(self._refusal)
        try:
            found = programs.find(self._tools)
            self._seccomp = _seccomp(found.layers)
            self._hierarchy = cgroups.find()
            self._layers = Layers(self._layers_folder, found.layers)
            self.no_internet = programs.why_no_internet(found)
        except (UnavailableError, OSError, subprocess.TimeoutExpired) as error:
            self._refusal = str(error)
            self._refused_until = time.monotonic() + _REFUSAL_SECONDS
            raise UnavailableError(self._refusal) from error
        return found

    def _run_spawner(self) -> None:
        """Run the spawner, again if it has died; what it has started before lives on without it."""
        if self._jobs:
            self._jobs.close()
        ours, theirs = link.pair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "emulator.engine.spawner"],
                stdin=theirs.fileno(),
                cwd=_ROOT,
                env=_environment(),
            )
        self._jobs = ours

    def _groups(self) -> list[cgroups.Group]:
        """Those that no folder tells of any more: somebody has removed it."""
        there = self._hierarchy
        return [there.group(name) for name in there.names(self._prefix)] if there else []

    def _clear_leftovers(self) -> None:
        """Begin to remove what an emulator that was killed has left; nothing that starts later has these names."""
        assert self._layers is not None  # noqa: S101 - found before
        layers, sandboxes, groups = self._layers, list(self._folder.glob("*")), self._groups()

        def clear() -> None:
            _clear(sandboxes, groups)
            layers.clear()

        threading.Thread(target=clear, daemon=True).start()

    def has_leftovers(self) -> bool:
        """Whether an earlier engine has left something to remove."""
        return self._folder.exists()

    async def close(self) -> None:
        """End all containers and the processes that keep them."""
        for each in list(self.containers.values()):
            each.kill()
        with contextlib.suppress(TimeoutError):
            waiting = (each.gone.wait() for each in list(self.containers.values()))
            await asyncio.wait_for(asyncio.gather(*waiting), 10)
        if self._jobs:
            self._jobs.close()
        if self._process:
            self._process.terminate()
            await asyncio.to_thread(self._process.wait)
            self._process = None
        await asyncio.to_thread(_clear, list(self._folder.glob("*")), self._groups())
        folders.remove(self._disks)
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    async def prepare(self, image: Image) -> None:
        """Have all layers of an image unpacked; ImageError when that cannot be."""
        self.open()
        oci.check_platform(image.name, image.config, platform.machine())
        assert self._layers is not None  # noqa: S101 - set by `open`
        await self._layers.provide(image)

    def start(self, image: Image, size: Size, run: Run, policy: NetworkPolicy) -> Container:
        """Start a container; it is there at once, and tells later whether it runs."""
        self.open()
        name = next(self._names)
        group = self._hierarchy.group(name) if self._hierarchy else None
        container = Container(name, image, group, internet=policy.internet and not self.no_internet)
        self.containers[name] = container
        life = asyncio.ensure_future(self._live(container, size, run, policy))
        self._lives.add(life)
        life.add_done_callback(self._lives.discard)
        return container

    async def _live(self, container: Container, size: Size, run: Run, policy: NetworkPolicy) -> None:
        await self._start(container, size, run, policy)
        await container.unkept.wait()
        if container.left_behind:  # its shim was killed
            await asyncio.to_thread(_clear, [self._folder / container.name])
        self.containers.pop(container.name, None)
        container.gone.set()

    async def _start(self, container: Container, size: Size, run: Run, policy: NetworkPolicy) -> None:
        try:
            oci.arguments(container.image.name, container.image.config, run)
            await self.prepare(container.image)
            ours, theirs = link.pair()
            with theirs:
                out = {"addresses": policy.addresses, "served": asdict(policy.served) if policy.served else None}
                self._send({**self._description(container, size, run), **out}, (theirs.fileno(),))
            container.attach(ours)
        except Exception as error:  # noqa: BLE001 - whoever waits for the container must hear of it
            container.fail(error if isinstance(error, ImageError) else ImageError(str(error)))

    def _description(self, container: Container, size: Size, run: Run) -> Message:
        assert self._programs is not None  # noqa: S101 - set by `open`
        assert self._layers is not None  # noqa: S101 - set by `open`
        layers = [str(place) for place in self._layers.of(container.image)]
        group = self._hierarchy.group(container.name) if self._hierarchy else None
        make_disk = self._programs.make_disk
        return {
            "folder": str(self._folder / container.name),
            "group": asdict(group) if group else None,
            **asdict(size),
            "layer_folders": layers,
            "layers": len(layers),
            "runc": str(self._programs.runc),
            "network": str(self._programs.network) if container.internet else None,
            "make_disk": str(make_disk) if make_disk else None,
            "disk_pattern": str(self._disks / str(size.disk_mb)),
            "disk_limit": None if make_disk else size.disk_mb * 1_000_000,
            "run": asdict(run),
            "image": container.image.name,
            "config": dict(container.image.config),
            "single_user": self._single_user,
            "seccomp": self._seccomp,
            "fuse": self._programs.fuse,
        }

    def _send(self, job: Message, files: tuple[int, ...]) -> None:
        if self._jobs is None:
            raise UnavailableError("the engine is closed")
        link.send(self._jobs, job, files)


def _clear(sandboxes: Iterable[Path], groups: Iterable[cgroups.Group] = ()) -> None:
    """Remove what is left of sandboxes, by their folders; one whose group does not go stays, to be found again."""
    for each in groups:
        each.remove()
    for folder in sandboxes:
        group = cgroups.recorded(folder)
        if group is None or group.remove():
            folders.remove(folder)


def _seccomp(program: Path) -> Any:
    """The usual filter of system calls, for the capabilities that a container has."""
    capabilities = [part for name in oci.CAPABILITIES for part in ("--cap", name)]
    said = subprocess.run(
        [str(program), "seccomp", *capabilities], capture_output=True, text=True, timeout=_SECCOMP_SECONDS, check=False
    )
    if said.returncode:
        raise UnavailableError(f"{program} gives no filter of system calls: {said.stderr.strip()}")
    return json.loads(said.stdout)


def _environment() -> dict[str, str]:
    """Nothing of the emulator's own environment is a container's business, tokens least of all."""
    return {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(_ROOT)}
