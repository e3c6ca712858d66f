"""Who takes how much processor time: an emulator, the workerd below it, a sandbox's server, and the commands it ran."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_SERVER, _COMMANDS = "server in the sandbox", "commands it ran"
_PARTS = {"workerd": "workerd", "sandbox": _SERVER, "launcher": _SERVER}


def spent(emulator: int) -> dict[str, float]:
    """Seconds so far by part. Commands count when they have ended, with what waited for them."""
    seconds: dict[str, float] = defaultdict(float)
    for pid in _tree(emulator):
        try:
            program = Path(Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].decode()).name
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile, and is counted with its parent
            continue
        own, ended = ((int(fields[at]) + int(fields[at + 1])) / _TICK for at in (11, 13))
        part = "emulator" if pid == emulator else _PARTS.get(program, "supervisor")
        seconds[part] += own
        if part == _SERVER:
            seconds[_COMMANDS] += ended
    return seconds


def since(emulator: int, before: dict[str, float]) -> dict[str, float]:
    """Seconds by part since then, the greatest first."""
    parts = {part: seconds - before.get(part, 0) for part, seconds in spent(emulator).items()}
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = children.read_text().split()
        except OSError:
            continue
        for child in found:
            yield from _tree(int(child))
