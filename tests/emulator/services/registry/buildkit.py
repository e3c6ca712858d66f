"""A real BuildKit daemon for a test, told where the emulated registry is."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_START_SECONDS = 30


@contextmanager
def daemon(programs: Path, registry: str) -> Iterator[str]:
    """Serve until the block ends; the address. Docker Hub is mirrored by the registry, which speaks plain HTTP."""
    # A folder of its own: a socket's path must be short, and layers are large.
    folder = Path(tempfile.mkdtemp(prefix="bk-"))
    settings = folder / "buildkitd.toml"
    settings.write_text(
        f'[registry."docker.io"]\n  mirrors = ["{registry}"]\n[registry."{registry}"]\n  http = true\n',
        encoding="utf-8",
    )
    address = f"unix://{folder}/socket"
    command = [
        str(programs / "buildkitd"),
        *("--addr", address, "--root", str(folder / "root"), "--config", str(settings)),
        # Works on any file system, also inside a container.
        "--oci-worker-snapshotter=native",
    ]
    log = (folder / "log").open("w+", encoding="utf-8")
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        _wait_for(folder / "socket", process, folder / "log")
        yield address
    finally:
        process.terminate()
        process.wait(20)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(socket: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"buildkitd did not start:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.05)
