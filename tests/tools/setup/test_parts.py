"""The order of sources, and the one sentence when none works."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import pins
from tools.errors import FinalError, SetupError
from tools.progress import Board
from tools.setup import golang, parts, wheels
from tools.setup.parts import Part


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


Source = Callable[[Path, Board], None]


def works(folder: Path, _: Board) -> None:
    assert list(folder.iterdir()) == [], "a source starts with an empty folder"
    (folder / "tool").touch()


def fails(what: str, reason: str) -> Source:
    def source(folder: Path, _: Board) -> None:
        (folder / "half").mkdir()
        raise SetupError(what, reason, "Try elsewhere")

    return source


def part(*sources: Source, found: Path | None = None) -> Part:
    return Part("the tool", "tool-1", lambda: found, sources, "Install the tool")


def test_path_comes_before_everything(tmp_path: Path):
    assert parts.provide(part(fails("never", "asked"), found=tmp_path), Board()) == tmp_path


def test_the_cache_comes_before_the_sources():
    folder = parts.provide(part(works), Board())
    assert parts.provide(part(fails("never", "asked")), Board()) == folder


def test_the_next_source_takes_over_from_a_failed_one():
    assert (parts.provide(part(fails("cannot download", "offline"), works), Board()) / "tool").exists()


def test_all_reasons_are_in_the_message_when_nothing_works():
    with pytest.raises(SetupError) as caught:
        parts.provide(part(fails("cannot download", "offline"), fails("cannot build", "no Go")), Board())
    assert str(caught.value) == (
        "cannot get the tool: cannot download (offline); cannot build (no Go). Install the tool"
    )


def test_a_final_failure_is_not_papered_over_by_the_next_source():
    def tampered(_folder: Path, _board: Board) -> None:
        raise FinalError("cannot download", "its SHA-256 is wrong", "Find out why")

    with pytest.raises(FinalError, match=r"^cannot download: its SHA-256 is wrong\. Find out why$"):
        parts.provide(part(tampered, works), Board())


def test_no_go_and_no_download_is_one_clear_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The engine, on a machine with neither Go nor any way to download."""

    def unreachable(*_: object, what: str = "cannot download it", **__: object) -> None:
        raise SetupError(what, "Name or service not known", "It is built from source instead")

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(parts.release, "fetch", unreachable)
    monkeypatch.setattr(wheels, "install", unreachable)
    monkeypatch.setattr(golang, "_require_space", lambda _: None)
    with pytest.raises(SetupError) as caught:
        parts.provide(parts.engine(), Board())
    assert str(caught.value) == (
        "cannot get the Pulumi engine: cannot download it (Name or service not known); "
        "no Go 1.26 or newer on PATH and no wheel of it (Name or service not known). "
        f"Install Pulumi {pins.PULUMI} or newer so that `pulumi` is on PATH, or connect to the network"
    )


def test_a_changed_source_gets_a_cache_entry_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(golang, "GO_MODULES", tmp_path)
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "go.mod").write_text("module a")
    before = golang.source_key("engine")
    assert golang.source_key("engine") == before
    (tmp_path / "engine" / "go.mod").write_text("module b")
    assert golang.source_key("engine") != before


def test_an_engine_on_path_needs_its_language_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pulumi = tmp_path / "pulumi"
    pulumi.write_text("#!/bin/sh\necho v3.300.0\n")
    pulumi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    find = parts.engine().find
    assert find
    assert find() is None
    (tmp_path / "pulumi-language-python").touch(0o755)
    assert find() == tmp_path
    pulumi.write_text("#!/bin/sh\necho v3.100.0\n")
    assert find() is None


def test_room_is_asked_for_once_and_less_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(golang.command, "require_space", lambda _folder, gigabytes, **_: asked.append(gigabytes))
    monkeypatch.setattr(golang, "_space_checked", threading.Event())
    monkeypatch.setattr(golang, "_go_cache", lambda: tmp_path)
    with (tmp_path / "modules").open("wb") as sparse:
        sparse.truncate(4_000_000_000)
    golang._require_space("build")
    golang._require_space("build")
    assert asked == [pytest.approx(3.0)]


def test_only_the_module_proxy_of_the_users_go_settings_is_kept(monkeypatch: pytest.MonkeyPatch):
    for key, value in {"GOPROXY": "p", "GOAMD64": "v3", "GOEXPERIMENT": "x", "GOFLAGS": "-race", "GOOS": "js"}.items():
        monkeypatch.setenv(key, value)
    settings = {key: value for key, value in golang._environment().items() if key.startswith("GO")}
    assert settings["GOPROXY"] == "p"
    assert not settings.keys() & {"GOAMD64", "GOEXPERIMENT", "GOOS"}
    assert settings["GOFLAGS"] == "-mod=readonly -modcacherw -trimpath"
