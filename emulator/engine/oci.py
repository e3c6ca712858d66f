"""From an image's configuration to that of the runtime: pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What the usual engines give a container's root, without NET_RAW: packets of its own making could carry addresses that
# no route would let out. All of it counts within the sandbox's own user namespace only.
CAPABILITIES = tuple(
    f"CAP_{name}"
    for name in (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
_HIDDEN = (
    *(f"/proc/{name}" for name in ("acpi", "asound", "kcore", "keys", "latency_stats", "sched_debug", "scsi")),
    *("/proc/timer_list", "/proc/timer_stats", "/sys/firmware", "/sys/devices/virtual/powercap"),
)
_FIXED = tuple(f"/proc/{name}" for name in ("bus", "fs", "irq", "sys", "sysrq-trigger"))
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NO_ID, _LONGEST_ID = 2**32 - 1, 10
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the place in a container


class ImageError(Exception):
    """The image cannot be run; the message says why."""


@dataclass(frozen=True)
class Run:
    """How a container is started, besides what its image says."""

    hostname: str
    env: Mapping[str, str] = field(default_factory=dict)
    entrypoint: Sequence[str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # put there for it to read: content by place


def architecture_of(machine: str) -> str:
    """What images call a kind of machine."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def check_platform(name: str, config: Mapping[str, Any], machine: str) -> None:
    """Refuse an image for another kind of machine."""
    wanted = architecture_of(machine)
    system, architecture = config.get("os") or "linux", config.get("architecture") or wanted
    if (system, architecture) != ("linux", wanted):
        raise ImageError(
            f"the image {name} is for {system}/{architecture} and this machine is linux/{wanted}; "
            f"build it for linux/{wanted}"
        )


def arguments(name: str, config: Mapping[str, Any], run: Run) -> list[str]:
    """What is executed: as `ctx.container.start` has it, an entry point given there takes the place of both."""
    said = config.get("config") or {}
    if run.entrypoint:
        return list(run.entrypoint)
    argv = [*(said.get("Entrypoint") or ()), *(said.get("Cmd") or ())]
    if not argv:
        raise ImageError(f"the image {name} has neither an entry point nor a command, so there is nothing to run")
    return argv


def environment(config: Mapping[str, Any], run: Run, default: Mapping[str, str]) -> list[str]:
    """The image's variables over those that are given by default and under those of this start."""
    said = dict(each.split("=", 1) for each in (config.get("config") or {}).get("Env") or () if "=" in each)
    return [f"{key}={value}" for key, value in {**default, "PATH": _PATH, "HOME": "/root", **said, **run.env}.items()]


def user(config: Mapping[str, Any], passwd: str, group: str) -> tuple[int, int]:
    """The ids of the user an image runs as, looked up in its own files where it is a name."""
    wanted = str((config.get("config") or {}).get("User") or "")
    name, _, group_name = wanted.partition(":")
    row = _row(passwd, name, ids=2)
    uid = _id(name) if name.isdecimal() else (int(row[2]) if row else None)
    if name and uid is None:
        raise ImageError(f"the image runs as the user {name}, which its /etc/passwd does not have")
    found = _row(group, group_name, ids=1)
    if group_name and not group_name.isdecimal() and not found:
        raise ImageError(f"the image runs in the group {group_name}, which its /etc/group does not have")
    gid = _id(group_name) if group_name.isdecimal() else int(found[2]) if found else int(row[3]) if row else 0
    return uid or 0, gid


def _id(text: str) -> int:
    if not _is_id(text):
        raise ImageError(f"{text[:80]} is no id of a user or a group")
    return int(text)


def _is_id(text: str) -> bool:
    """Whether it is a number that the kernel takes; other digits than these are decimal too."""
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_ID and int(text) < _NO_ID


def _row(table: str, name: str, *, ids: int) -> list[str] | None:
    """The row of a name or an id, with so many ids from the third field on; a container may write anything there."""
    rows = (line.split(":") for line in table.splitlines())
    sound = (row for row in rows if len(row) >= 4 and all(map(_is_id, row[2 : 2 + ids])))
    return next((row for row in sound if name and name in (row[0], row[2])), None)


def runtime(
    process: Mapping[str, Any],
    run: Run,
    seccomp: Mapping[str, Any],
    rlimits: Mapping[str, int],
    *,
    fuse: str | None = None,
) -> Any:
    """The runtime's configuration. User and network namespace are those of the process that starts it.

    `fuse` is where the device of that name is, for sandboxes that have it.
    """
    return {
        "ociVersion": "1.0.2",
        "hostname": run.hostname,
        "root": {"path": "rootfs"},
        "annotations": dict(run.labels),
        "process": {
            **process,
            "terminal": False,
            "noNewPrivileges": True,
            "capabilities": {kind: list(CAPABILITIES) for kind in ("bounding", "effective", "permitted")},
            "rlimits": [{"type": f"RLIMIT_{name}", "soft": value, "hard": value} for name, value in rlimits.items()],
        },
        "mounts": [*_mounts(run.files), *([_device("/dev/fuse", fuse)] if fuse else [])],
        "linux": {
            "namespaces": [{"type": each} for each in ("pid", "mount", "ipc", "uts", "cgroup")],
            "maskedPaths": list(_HIDDEN),
            "readonlyPaths": list(_FIXED),
            "seccomp": seccomp,
        },
    }


def given(place: str) -> str:
    """Where in the bundle a file lies that is put somewhere in the container."""
    return f"etc/given-{place.strip('/').replace('/', '-')}"


def _device(place: str, source: str) -> dict[str, Any]:
    return {"destination": place, "type": "bind", "source": source, "options": ["bind", "nosuid", "noexec"]}


def _mounts(files: Iterable[str]) -> list[dict[str, Any]]:
    quiet = ["nosuid", "noexec", "nodev"]
    own = [
        *((f"/etc/{name}", f"etc/{name}", ()) for name in ("hostname", "hosts", "resolv.conf")),
        *((place, given(place), ("ro", "noexec")) for place in files),
    ]
    return [
        {"destination": "/proc", "type": "proc", "source": "proc", "options": quiet},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
        {
            "destination": "/dev/pts",
            "type": "devpts",
            "source": "devpts",
            "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
        },
        {
            "destination": _SHARED_MEMORY,
            "type": "tmpfs",
            "source": "shm",
            "options": [*quiet, "mode=1777", "size=65536k"],
        },
        {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": quiet},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": [*quiet, "ro"]},
        *(
            {"destination": place, "type": "bind", "source": source, "options": ["bind", "nosuid", "nodev", *more]}
            for place, source, more in own
        ),
    ]
