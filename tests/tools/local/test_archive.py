"""A local stack as a file: what is in it comes back, and what else an archive holds is refused before it is written."""

import gzip
import io
import json
import stat
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.errors import SetupError
from tools.local import archive, emulator
from tools.local.stack import LocalStack

ABOUT = {"format": 1, "project": "demo", "stack": "dev"}
KEYS = '{"account": "a2V5", "token": "dG9rZW4=", "passphrase": "cGFzcw==", "api_key": "YXBp"}'
FILES = {
    "emulator/state.sqlite3": b"the account",
    "emulator/blobs/76/abc": b"a blob",
    "emulator/runtime/objects/one.sqlite": b"an object",
    "state/.pulumi/meta.yaml": b"version: 1\n",
    "state/.pulumi/stacks/demo/dev.json": b"{}",
    "project/demo/dev/Pulumi.dev.yaml": b"config: {}\n",
    "project/demo/dev/taken.json": b"[]",
    # Stacks share account and backend, so the others' settings belong to it as their states do.
    "state/.pulumi/stacks/shop/live.json": b"{}",
    "project/shop/live/Pulumi.live.yaml": b"config: {a: b}\n",
    "project/shop/live/taken.json": b'["a"]',
}
SECRETS = {"emulator/key": b"key", "emulator/token": b"token", "passphrase": b"pass", "api-key": b"api"}


def stack_at(folder: Path) -> LocalStack:
    folder.mkdir()
    return LocalStack(folder.parent, "demo", "dev", folder, "sandbox-stack local")


@pytest.fixture
def empty(tmp_path: Path) -> LocalStack:
    return stack_at(tmp_path / "empty")


def entry(name: str, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def archive_with(folder: Path, *members: tuple[tarfile.TarInfo, bytes], about: object = ABOUT) -> Path:
    file = folder / "some.stack"
    with tarfile.open(file, "w:") as tar:
        for member, content in ((entry("about.json"), json.dumps(about).encode()), *members):
            if member.isreg():
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    archive.keys_of(file).write_text(KEYS)
    return file


def refusal(stack: LocalStack, file: Path) -> str:
    with pytest.raises(SetupError) as caught:
        archive.load(stack, file, any_stack=True)
    assert [path.name for path in stack.folder.iterdir()] in ([], ["stack.lock"])
    return str(caught.value)


def test_what_is_saved_comes_back_for_its_owner_alone(tmp_path: Path, empty: LocalStack):
    full = stack_at(tmp_path / "full")
    left_out = {"logs/emulator.log": b"", "pulumi-home/log": b"", "emulator/runtime/log/x": b"", "emulator/lock": b""}
    for name, content in (FILES | SECRETS | left_out).items():
        (full.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (full.folder / name).write_bytes(content)
    (full.folder / "emulator" / "blobs" / "link").symlink_to("/etc/passwd")
    found = archive.save(full, tmp_path / "demo.stack", io.StringIO())
    assert (found.files, found.size) == (len(FILES), found.file.stat().st_size)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (found.file, found.keys)} == {0o600}
    with tarfile.open(found.file, "r:") as tar:
        assert sorted(tar.getnames()) == sorted(["about.json", *FILES])

    assert archive.load(replace(empty, name="local"), found.file, any_stack=True).name == "dev"
    (empty.folder / "stack.lock").unlink()
    written = {path.relative_to(empty.folder).as_posix(): path for path in empty.folder.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in written.items()} == FILES | SECRETS
    assert {stat.S_IMODE(path.stat().st_mode) for path in written.values()} == {0o600}
    with pytest.raises(SetupError, match="there is a stack already"):
        archive.load(empty, found.file, any_stack=True)


PART = "emulator/blobs/a"


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (entry("../outside"), "'../outside' in it is no part of a stack"),
        (entry("emulator/blobs/../../../outside"), "is no part of a stack"),
        (entry("/etc/cron.d/evil"), "is no part of a stack"),
        (entry("emulator/blobs//a"), "is no part of a stack"),
        (entry("emulator/blobs/..\\a"), "is no part of a stack"),
        (entry("emulator/key"), "is no part of a stack"),
        (entry("project/Pulumi.yaml"), "is no part of a stack"),
        (entry("project/Pulumi.other.yaml"), "is no part of a stack"),
        (entry("project/demo/dev/Pulumi.other.yaml"), "is no part of a stack"),
        (entry("project/demo/dev/Pulumi.yaml"), "is no part of a stack"),
        (entry("pulumi-home/plugins/resource-cloudflare-v6.23.1/pulumi-resource-cloudflare"), "is no part of a stack"),
        (entry(PART, type=tarfile.SYMTYPE, linkname="/etc/passwd"), "is no plain file"),
        (entry(PART, type=tarfile.LNKTYPE, linkname="about.json"), "is no plain file"),
        (entry(PART, type=tarfile.DIRTYPE), "is no plain file"),
        (entry(PART, type=tarfile.CHRTYPE), "is no plain file"),
        (entry(PART, type=tarfile.FIFOTYPE), "is no plain file"),
    ],
)
def test_anything_but_plain_files_of_a_stack_is_refused(
    empty: LocalStack, tmp_path: Path, member: tarfile.TarInfo, why: str
):
    good = (entry("emulator/state.sqlite3"), b"x")
    told = refusal(empty, archive_with(tmp_path, good, (member, b"content")))
    assert told.startswith("some.stack was not loaded: ")
    assert why in told
    assert not (tmp_path / "outside").exists()


def test_a_file_that_is_there_twice_is_refused(empty: LocalStack, tmp_path: Path):
    twice = [(entry(PART), b"one"), (entry(PART), b"two")]
    assert f"'{PART}' is in it twice" in refusal(empty, archive_with(tmp_path, *twice))


def damaged(change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        file = archive_with(folder, (entry(PART), b"x" * 4096))
        file.write_bytes(change(file.read_bytes()))
        return file

    return make


def sparse(folder: Path) -> Path:
    """Claim a terabyte of nothing in a small file, as GNU tar writes it."""
    header = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": PART}
    member = entry(PART, pax_headers=header | {"GNU.sparse.realsize": str(1 << 40)})
    return archive_with(folder, (member, b"1\n0\n1\n".ljust(512, b"\0") + b"x"))


def claims_more(folder: Path) -> Path:
    file = archive_with(folder)
    huge = entry(PART, size=1 << 40).tobuf(tarfile.GNU_FORMAT)
    file.write_bytes(file.read_bytes()[:1024] + huge)
    return file


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (damaged(gzip.compress), "it is no archive of a stack, or damaged"),
        (damaged(lambda content: content[:2048]), "claims to hold more"),
        (damaged(lambda _: b""), "it is no archive of a stack, or damaged"),
        (damaged(lambda _: b"\xff" * 4096), "it is no archive of a stack, or damaged"),
        (sparse, "is no plain file"),
        (claims_more, "it claims to hold more than it can"),
        (lambda folder: archive_with(folder, about=[]), "not one that this version understands"),
        (lambda folder: archive_with(folder, about={**ABOUT, "format": 2}), "not one that this version understands"),
        (lambda folder: archive_with(folder, about={**ABOUT, "stack": "../x"}), "names no project and stack"),
        (lambda folder: archive_with(folder, about={**ABOUT, "project": "other"}), "it is of the project other"),
    ],
)
def test_what_is_no_saved_stack_is_refused(empty: LocalStack, tmp_path: Path, make: Callable[[Path], Path], why: str):
    assert why in refusal(empty, make(tmp_path))


@pytest.mark.parametrize("keys", ["", "[]", '{"account": 1}', '{"account": "!"}', '{"../x": "a2V5"}', None])
def test_without_its_keys_nothing_is_loaded(empty: LocalStack, tmp_path: Path, keys: str | None):
    file = archive_with(tmp_path, (entry(PART), b"x"))
    if keys is None:
        archive.keys_of(file).unlink()
    else:
        archive.keys_of(file).write_text(keys)
    assert refusal(empty, file).startswith("some.stack.keys cannot be used: ")


def test_another_stack_than_the_one_that_was_asked_for_is_refused(empty: LocalStack, tmp_path: Path):
    file = archive_with(tmp_path, (entry(PART), b"x"))
    with pytest.raises(SetupError, match="it is the stack dev, and local was asked for"):
        archive.load(replace(empty, name="local"), file, any_stack=False)


def test_a_stack_that_is_not_up_is_not_saved(empty: LocalStack, tmp_path: Path):
    with pytest.raises(SetupError, match="demo/dev was not saved: it is not up"):
        archive.save(empty, tmp_path / "x", io.StringIO())


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("there", "there would be overwritten. Name another file, or remove what is there"),
        ("half", "half.keys would be overwritten. Name another file, or remove what is there"),
        ("missing/file", "/missing. Make it, or name a file elsewhere"),
        ("folder", "it is a folder. Name a file in it, such as {tmp}/folder/dev.stack"),
        ("stack/file", "`down` takes {tmp}/stack away. Name a file outside of it"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_anything_stops(
    tmp_path: Path, place: str, why: str, monkeypatch: pytest.MonkeyPatch
):
    stack = stack_at(tmp_path / "stack")
    (tmp_path / "folder").mkdir()
    for name in ("there", "half.keys", "stack/state/.pulumi/stacks/demo/dev.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("kept")
    monkeypatch.setattr(emulator, "halt", lambda _: pytest.fail("the emulator was stopped"))
    with pytest.raises(SetupError) as caught:
        archive.save(stack, tmp_path / place, io.StringIO())
    assert str(caught.value).startswith(f"demo/dev was not saved to {tmp_path / place}: ")
    assert str(caught.value).endswith(why.format(tmp=tmp_path))
    assert [(tmp_path / name).read_text() for name in ("there", "half.keys")] == ["kept", "kept"]


def test_nothing_is_loaded_while_somebody_works_on_the_stack(
    empty: LocalStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class BusyError(Exception):
        pass

    def busy(path: Path, **_: object) -> None:
        raise BusyError(path)

    monkeypatch.setattr("tools.local.stack.locked", busy)
    with pytest.raises(BusyError, match=r"stack\.lock"):
        archive.load(empty, archive_with(tmp_path), any_stack=True)
    assert list(empty.folder.iterdir()) == []


def test_names_that_lead_elsewhere_are_refused(empty: LocalStack, tmp_path: Path):
    file = archive_with(tmp_path, about={**ABOUT, "stack": ".."})
    assert "its description names no project and stack" in refusal(empty, file)
