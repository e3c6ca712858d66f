"""The stand-in server holds what its own suite says, is always the same file, and starts quickly.

The suite itself is in `emulator/base_image/server/test/`; here it is one test among those about the whole.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.emulator.base_image.server.conftest import SOURCES, ServerSources

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(os.uname().sysname != "Linux", reason="the server is a Linux program"),
]

MAX_MB = 130


def test_types(server_sources: ServerSources) -> None:
    for project in (".", "test"):
        server_sources.run("node_modules/typescript/bin/tsc", "--noEmit", "-p", project)


def test_suite(server_sources: ServerSources, server_program: Path) -> None:
    said = server_sources.run("node_modules/vitest/vitest.mjs", "run", env={"SANDBOX_SERVER": str(server_program)})
    passed = re.search(r"Tests +(\d+) passed \((\d+)\)", said)
    assert passed, said
    assert passed[1] == passed[2]
    assert int(passed[1]) > 190


def test_the_program_is_the_same_wherever_it_is_built(
    server_sources: ServerSources, server_program: Path, tmp_path: Path
) -> None:
    # Links instead of copies would lead the builder back to the first folder.
    shutil.copytree(SOURCES, tmp_path / "copy", ignore=shutil.ignore_patterns("node_modules", "dist"))
    shutil.copytree(SOURCES / "node_modules", tmp_path / "copy" / "node_modules", symlinks=True)
    other = tmp_path / "other"
    server_sources.run(tmp_path / "copy" / "build.mjs", "--node", server_sources.node / "node", "--out", other)
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in (server_program, other)]
    assert digests[0] == digests[1]
    assert server_program.stat().st_size < MAX_MB * 1_000_000


def test_the_program_needs_no_more_than_every_debian_image_has(server_program: Path) -> None:
    listed = subprocess.run(["ldd", server_program], capture_output=True, text=True, check=True).stdout
    libraries = set(re.findall(r"^\s*(lib[a-z_+]+|linux-vdso)[.\d]*\.so", listed, re.MULTILINE))
    assert libraries <= {"linux-vdso", "libdl", "libstdc++", "libm", "libgcc_s", "libpthread", "libc", "libatomic"}


def test_nothing_of_the_machine_is_in_the_program(server_sources: ServerSources, server_program: Path) -> None:
    program = server_program.read_bytes()
    assert str(SOURCES).encode() not in program
    assert str(server_sources.node).encode() not in program
