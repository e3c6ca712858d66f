"""The emulator as a program of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.paths import ROOT

TOKEN = "program_token_0123456789_0123456789_0123"
"""What its account is asked with."""


@contextmanager
def started(state: Path, *options: str | Path, **env: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run it until the block ends: its process, and the address of its API."""
    argv = [sys.executable, "-m", "emulator", "--port", "0", "--state", str(state), *map(str, options)]
    environment = {**os.environ, "CLOUDFLARE_API_TOKEN": TOKEN, **env}
    process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url, "the emulator did not start; it has said why"
        yield process, url
    finally:
        process.terminate()
        process.communicate()
