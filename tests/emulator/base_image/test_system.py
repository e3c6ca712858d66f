"""Packages become a layer and a dpkg database without any of their scripts being run."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from emulator.base_image import packages
from emulator.base_image.layer import Layer
from emulator.base_image.system import System
from tests.emulator.base_image import debs

ALTERNATIVE = """#!/bin/sh
update-alternatives --install /usr/bin/which which /usr/bin/which.mine 0 \\
    --slave /usr/share/man/man1/which.1.gz which.1.gz /usr/share/man/man1/which.mine.1.gz
update-alternatives --install "$BIN"/x x "$BIN"/y 5
"""


@pytest.fixture
def tar(tmp_path: Path) -> Path:
    """A layer with two packages."""
    folder = tmp_path / "debs"
    folder.mkdir()
    shared = "Multi-Arch: same\n"
    debs.make(folder, "shared", {"/lib/x86_64-linux-gnu/libx.so.1": "lib"}, control=shared)
    files = {
        "/bin/which.mine": "#!/bin/sh\n",
        "/usr/bin/which.mine": "#!/bin/sh\n",
        "/bin/sh": "-> which.mine",
        "/etc/tool.conf": "a=1\n",
        "/usr/share/doc/tool/copyright": "free",
        "/usr/share/doc/tool/README": "long",
        "/usr/share/man/man1/which.mine.1.gz": "manual",
        "/usr/lib/python3.11/EXTERNALLY-MANAGED": "no",
    }
    debs.make(folder, "tool", files, conffiles="/etc/tool.conf\n", postinst=ALTERNATIVE)
    return layer(folder, tmp_path / "one")


def layer(debs: Path, folder: Path) -> Path:
    with Layer(folder.with_suffix(".tar")) as made:
        System(folder / "kept").install(made, packages.read(debs))
    return folder.with_suffix(".tar")


def test_the_same_packages_give_the_same_bytes(tar: Path, tmp_path: Path):
    again = layer(tmp_path / "debs", tmp_path / "two")
    assert hashlib.sha256(tar.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()


def test_everything_belongs_to_root_and_lies_below_usr(tar: Path):
    with tarfile.open(tar) as archive:
        entries = {entry.name: entry for entry in archive}
    assert {(entry.uid, entry.gid, entry.uname) for entry in entries.values()} == {(0, 0, "")}
    assert not {name for name in entries if name.split("/")[0] in {"bin", "lib"}}
    assert entries["usr/bin/sh"].linkname == "which.mine"
    assert "usr/lib/x86_64-linux-gnu/libx.so.1" in entries


def test_documentation_stays_out_but_licences_do_not(tar: Path):
    with tarfile.open(tar) as archive:
        names = archive.getnames()
    assert "usr/share/doc/tool/copyright" in names
    assert "usr/share/doc/tool/README" not in names
    assert not [name for name in names if name.startswith("usr/share/man")]
    assert "usr/lib/python3.11/EXTERNALLY-MANAGED" not in names


def test_alternatives_are_set_up(tar: Path):
    with tarfile.open(tar) as archive:
        assert archive.getmember("usr/bin/which").linkname == "/etc/alternatives/which"
        assert archive.getmember("etc/alternatives/which").linkname == "/usr/bin/which.mine"
        assert "etc/alternatives/x" not in archive.getnames()
        assert "etc/alternatives/which.1.gz" not in archive.getnames(), "its target was left out"


def test_dpkg_reads_its_database(tar: Path, tmp_path: Path):
    (tmp_path / "root").mkdir()
    subprocess.run(["tar", "-xf", tar, "-C", tmp_path / "root"], check=True)
    database = ["--admindir", str(tmp_path / "root/var/lib/dpkg")]

    def query(*arguments: str) -> str:
        return subprocess.run(
            ["dpkg-query", *database, *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    assert query("-W", "-f", "${binary:Package} ${Version} ${Status}\n").splitlines() == [
        "shared:amd64 1.0-1 install ok installed",
        "tool 1.0-1 install ok installed",
    ]
    checksum = hashlib.md5(b"a=1\n", usedforsecurity=False).hexdigest()
    assert query("-W", "-f", "${Conffiles}", "tool") == f"/etc/tool.conf {checksum}"
    assert "/bin/which.mine" in query("-L", "tool").splitlines(), "as the package has it, not where it lies"
    assert query("-S", "/lib/x86_64-linux-gnu/libx.so.1").startswith("shared:amd64: ")


def test_an_ordinary_user_makes_the_same_bytes(tar: Path, tmp_path: Path):
    """Whoever runs the tests; when that is root, nobody does it once more."""
    with tempfile.TemporaryDirectory() as shared:
        folder = Path(shared)
        shutil.copytree(tmp_path / "debs", folder / "debs")
        folder.chmod(0o755)
        (folder / "made").mkdir(mode=0o777)
        (folder / "made").chmod(0o777)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                layer(folder / "debs", folder / "made" / "one")
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert (folder / "made" / "one.tar").read_bytes() == tar.read_bytes()
