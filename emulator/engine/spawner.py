"""Makes the processes of sandboxes: a small program beside the emulator that copies itself, which is quick.

Run as `python -m emulator.engine.spawner`, with the link to the emulator as standard input. Each job it receives
becomes a shim: a process that makes the group and the disk, waits for the sandbox inside its namespaces, and clears
up. Both learn from their links that the emulator is gone, however it ended, and a shim outlives it for as long as
clearing up takes.
"""

import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

from . import cgroups, confine, disk, folders, link
from .fuse import mounts
from .network.own_addresses import OwnAddresses
from .network.usernet import UserNetwork
from .supervisor import Supervisor


def main() -> int:
    """Take jobs until the emulator is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the emulator
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # shims tell their end by themselves
    jobs = socket.socket(fileno=0)
    while received := link.receive(jobs):
        job, files = received
        try:
            forked = os.fork()
        except OSError as error:
            _refuse(files[0], f"this machine has no room for another process: {error.strerror}")
            forked = -1
        if forked == 0:
            jobs.detach()
            _keep(job, files)
        for each in files:
            os.close(each)
    return 0


def _refuse(control: int, reason: str) -> None:
    """Say why a sandbox does not start."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(control)) as link_to_emulator:
        link.send(link_to_emulator, {"event": "failed", "reason": reason})


def _keep(job: link.Message, files: list[int]) -> NoReturn:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        # Standard input was the link to the emulator; closed, its number would go to whatever is opened next.
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        code = _sandbox(job, files)
    except OSError as error:
        _refuse(files[0], str(error))
    finally:
        os._exit(code)


def _sandbox(job: link.Message, files: list[int]) -> int:
    control = socket.socket(fileno=files[0])
    folder = Path(job["folder"])
    group = cgroups.Group(**job["group"]) if job["group"] else None
    handles: tuple[int, ...] = ()
    addresses = _own_addresses(control) if job["network"] else None
    network = UserNetwork(job["network"]) if addresses else None
    try:
        folder.mkdir(mode=0o700, parents=True)
        if group:
            group.record(folder)
            group.make(cgroups.Limits(job["vcpu"], job["memory_mib"]))
            handles = tuple(
                os.open(f"{each}/cgroup.procs", os.O_WRONLY) for each in sorted(set(group.folders.values()))
            )
        bounds = [confine.BindMount(path, f"layers/{number}") for number, path in enumerate(job["layer_folders"])]
        bounds.append(confine.BindMount(job["runc"], "runc"))
        made = _make_disk(folder, job)
        if not made:
            bounds.append(confine.BindMount(str(_make_folder(folder)), "disk", writable=True))
        heard = _prepared(network)
        kept = (control.fileno(), *handles, *heard, *([addresses.fileno()] if addresses else ()))
        device = confine.Device("device/fuse", *mounts.DEVICE) if job["fuse"] and confine.is_root() else None
        if job["fuse"] and not device:
            bounds.append(confine.BindMount("/dev/fuse", "device/fuse", writable=True))
        around = confine.Surroundings(tuple(bounds), made, device, kept, control.fileno())
        supervisor = Supervisor(job, control, handles, heard, addresses)
        return confine.run(around, supervisor.run, network.start if network else None)
    finally:
        if network:
            network.stop()
        ended = {"event": "gone", "out_of_memory": group.out_of_memory() if group else 0}
        for handle in handles:
            os.close(handle)
        if group is None or group.remove():
            folders.remove(folder)
        with contextlib.suppress(OSError):
            link.send(control, ended)


def _own_addresses(control: socket.socket) -> OwnAddresses | None:
    """What no internet may lead to; where that is not known there is no internet."""
    try:
        return OwnAddresses()
    except OSError as error:
        problem = f"its own addresses, which sandboxes must not reach, are not known: {error.strerror}"
        with contextlib.suppress(OSError):
            link.send(control, {"event": "network", "problem": problem})
        return None


def _prepared(network: UserNetwork | None) -> tuple[int, ...]:
    """What the supervisor listens to of its network."""
    if network is None:
        return ()
    network.prepare()
    return network.ready, network.words


def _make_disk(folder: Path, job: link.Message) -> confine.Disk | None:
    """A file system of the size the sandbox may fill, where one can be made."""
    if not job["make_disk"]:
        return None
    file = folder / "disk"
    disk.make(job["make_disk"], file, job["disk_mb"] * 1_000_000, Path(job["disk_pattern"]))
    return confine.Disk(str(file), "disk")


def _make_folder(folder: Path) -> Path:
    place = folder / "disk"
    place.mkdir(mode=0o700)
    if confine.is_root():
        os.chown(place, confine.FIRST_ID, confine.FIRST_ID)
    return place


if __name__ == "__main__":
    sys.exit(main())
