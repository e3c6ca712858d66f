"""sandbox-layers: layers become what overlayfs mounts, stay inside their folder, and are the ones the image names."""

import gzip
import hashlib
import io
import os
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.tools.go.user_namespaces import Way, ways, workplace
from tools.setup.toolchain import Toolchain

pytestmark = pytest.mark.engine
PLAIN: Final = "application/vnd.oci.image.layer.v1.tar"
Entry = tuple[str, dict[str, Any]]


@pytest.fixture(params=ways().values(), ids=ways().keys())
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen


@pytest.fixture
def place(way: Way) -> Iterator[Path]:
    with workplace(way) as folder:
        yield folder


@pytest.fixture
def program(tools_provided: Toolchain, place: Path) -> Path:
    """A copy that the way's user can reach."""
    assert tools_provided.containers
    copied = Path(shutil.copy(tools_provided.containers / "sandbox-layers", place / "sandbox-layers"))
    copied.chmod(0o755)
    return copied


def archive(*entries: Entry) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as target:
        for name, fields in entries:
            member = tarfile.TarInfo(name)
            content = fields.get("content", b"")
            member.mode = 0o755 if fields.get("type") == tarfile.DIRTYPE else 0o644
            for field, value in fields.items():
                if field != "content":
                    setattr(member, field, value)
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def folder(name: str, **fields: Any) -> Entry:
    return name, {"type": tarfile.DIRTYPE, **fields}


def file(name: str, content: bytes = b"", **fields: Any) -> Entry:
    return name, {"content": content, **fields}


def unpack(
    program: Path, way: Way, content: bytes, target: Path, *, media_type: str = PLAIN, diff_id: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the program; the blob is as it is given, the diff id is that of its plain content."""
    blob = target.with_suffix(".blob")
    blob.write_bytes(content)
    blob.chmod(0o644)
    target.mkdir()
    if os.geteuid() == 0:
        os.chown(target, way.first, way.first)
    plain = gzip.decompress(content) if media_type.endswith("gzip") and not diff_id else content
    diff_id = diff_id or f"sha256:{hashlib.sha256(plain).hexdigest()}"
    argv = ["--blob", str(blob), "--media-type", media_type, "--diff-id", diff_id, "--to", str(target)]
    return subprocess.run(
        [*way.outside, str(program), "unpack", *argv, *way.options], capture_output=True, text=True, check=False
    )


def unpacked(program: Path, way: Way, content: bytes, target: Path, **options: str) -> Path:
    done = unpack(program, way, content, target, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return target


def mounted(way: Way, place: Path, layers: list[Path]) -> dict[str, str]:
    """Mount layers, topmost first, as the engine does; give mode, owner, kind and links of each path."""
    for name in ("upper", "work", "merged"):
        (place / name).mkdir()
        if os.geteuid() == 0:
            os.chown(place / name, way.first, way.first)
    lower = ":".join(map(str, layers))
    options = f"userxattr,lowerdir={lower},upperdir={place}/upper,workdir={place}/work"
    look = r'find "$2" -mindepth 1 \( -type f -printf "%P\t%m %U:%G f%n\n" -o -printf "%P\t%m %U:%G %y %l\n" \)'
    script = f'mount -t overlay overlay -o "$1" "$2" && {look}'
    done = subprocess.run(
        [*way.inside, "sh", "-c", script, "sh", options, str(place / "merged")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return {path: seen.strip() for path, seen in (line.split("\t") for line in done.stdout.splitlines())}


def test_layers_are_merged_as_the_image_means_them(program: Path, way: Way, place: Path):
    below = archive(
        folder("kept"),
        file("kept/file", b"from below"),
        file("kept/gone", b"x"),
        folder("hidden"),
        file("hidden/old", b"x"),
        folder("secret", mode=0o700),
        file("secret/file", b"x", mode=0o4755, uid=1000, gid=42),
        ("secret/again", {"type": tarfile.LNKTYPE, "linkname": "secret/file"}),
        ("absolute", {"type": tarfile.SYMTYPE, "linkname": "/kept/file"}),
        folder("sticky", mode=0o1777),
        ("pipe", {"type": tarfile.FIFOTYPE}),
    )
    above = archive(
        folder("kept"),
        file("kept/.wh.gone"),
        file("kept/new", b"x"),
        folder("hidden"),
        file("hidden/.wh..wh..opq"),
        file("hidden/new", b"x"),
        file("implied/file", b"x"),
    )
    layers = [unpacked(program, way, content, place / name) for name, content in (("b", below), ("a", above))]
    seen = mounted(way, place, layers[::-1])
    # With one id every file is that one's; with a range the owners of the image are kept.
    other = "1000:42" if way.all_ids else "0:0"
    assert seen == {
        "absolute": "777 0:0 l /kept/file",
        "hidden": "755 0:0 d",
        "hidden/new": "644 0:0 f1",
        "implied": "755 0:0 d",
        "implied/file": "644 0:0 f1",
        "kept": "755 0:0 d",
        "kept/file": "644 0:0 f1",
        "kept/new": "644 0:0 f1",
        "pipe": "644 0:0 p",
        "secret": "700 0:0 d",
        "secret/again": f"4755 {other} f2",
        "secret/file": f"4755 {other} f2",
        "sticky": "1777 0:0 d",
    }
    assert os.getxattr(layers[1] / "hidden", "user.overlay.opaque") == b"y"
    whiteout = (layers[1] / "kept" / "gone").lstat()
    assert stat.S_ISCHR(whiteout.st_mode)
    assert whiteout.st_rdev == 0


def test_attributes_are_kept_and_cannot_pass_for_those_of_overlayfs(program: Path, way: Way, place: Path):
    attributes = {"SCHILY.xattr.user.note": "kept", "SCHILY.xattr.user.overlay.opaque": "y"}
    layer = unpacked(program, way, archive(folder("one", pax_headers=attributes)), place / "layer")
    assert os.getxattr(layer / "one", "user.note") == b"kept"
    with pytest.raises(OSError, match="No data available"):
        os.getxattr(layer / "one", "user.overlay.opaque")


def test_devices_become_empty_files(program: Path, way: Way, place: Path):
    devices = [(name, {"type": kind, "devmajor": 1, "devminor": 3}) for name, kind in (("c", b"3"), ("b", b"4"))]
    layer = unpacked(program, way, archive(*devices), place / "layer")
    assert {path.name: (path.is_file(), path.stat().st_size) for path in layer.iterdir()} == {
        "c": (True, 0),
        "b": (True, 0),
    }


@pytest.mark.parametrize(
    "entries",
    [
        [file("../../outside", b"x")],
        [file("/outside", b"x")],
        [("out", {"type": tarfile.SYMTYPE, "linkname": "{outside}"}), file("out/file", b"x")],
        [("out", {"type": tarfile.SYMTYPE, "linkname": "../.."}), file("out/outside", b"x")],
        [("out", {"type": tarfile.SYMTYPE, "linkname": "{outside}"}), file("out/.wh.victim")],
        [file("../victims/.wh.victim")],
        [("out", {"type": tarfile.SYMTYPE, "linkname": "{outside}"}), folder("out", mode=0o777)],
    ],
    ids=["dots", "absolute", "link", "relative link", "whiteout by link", "whiteout by dots", "folder over link"],
)
def test_hostile_names_stay_inside(program: Path, way: Way, place: Path, *, entries: list[Entry]):
    outside = place / "victims"
    outside.mkdir()
    (outside / "victim").write_bytes(b"untouched")
    if os.geteuid() == 0:
        os.chown(outside, way.first, way.first)
    meant = [
        (name, {key: value.format(outside=outside) if key == "linkname" else value for key, value in fields.items()})
        for name, fields in entries
    ]
    before = {path: path.lstat().st_mode for path in place.rglob("*")}
    layer = unpacked(program, way, archive(*meant), place / "layer")
    after = {path: path.lstat().st_mode for path in place.rglob("*") if layer not in (path, *path.parents)}
    del after[layer.with_suffix(".blob")]
    assert after == before
    assert (outside / "victim").read_bytes() == b"untouched"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([("hard", {"type": tarfile.LNKTYPE, "linkname": "/etc/hostname"})], "no such file or directory"),
        ([("./", {"type": tarfile.SYMTYPE, "linkname": "/etc"})], "refusing to change type of root directory"),
    ],
    ids=["hard link outside", "root as a link"],
)
def test_what_cannot_be_meant_well_is_refused(program: Path, way: Way, place: Path, *, entries: list[Entry], why: str):
    done = unpack(program, way, archive(folder("closed", mode=0), *entries), place / "layer")
    assert done.returncode == 1
    assert done.stderr.startswith(f"sandbox-layers: cannot unpack layer {place}/layer.blob: ")
    assert why in done.stderr
    assert list((place / "layer").iterdir()) == []


def test_compressed_layers_are_known_by_their_media_type(program: Path, way: Way, place: Path):
    content = gzip.compress(archive(file("file", b"content")))
    for number, media_type in enumerate((f"{PLAIN}+gzip", "application/vnd.docker.image.rootfs.diff.tar.gzip")):
        layer = unpacked(program, way, content, place / f"layer{number}", media_type=media_type)
        assert (layer / "file").read_bytes() == b"content"


def test_zstd(program: Path, way: Way, place: Path):
    """A frame of raw blocks, as the format allows: nothing here can compress."""
    plain = archive(file("file", b"content"))
    block = ((len(plain) << 3) | 1).to_bytes(3, "little")
    frame = b"\x28\xb5\x2f\xfd" + b"\xa0" + len(plain).to_bytes(4, "little") + block + plain
    diff_id = f"sha256:{hashlib.sha256(plain).hexdigest()}"
    layer = unpacked(program, way, frame, place / "layer", media_type=f"{PLAIN}+zstd", diff_id=diff_id)
    assert (layer / "file").read_bytes() == b"content"


@pytest.mark.parametrize(
    ("content", "options", "why"),
    [
        (
            archive(file("a")),
            {"diff_id": f"sha256:{'0' * 64}"},
            f"and the image names sha256:{'0' * 64}: it is damaged",
        ),
        (archive(file("a")), {"media_type": "text/plain"}, '"text/plain" is no media type of a layer'),
        (archive(file("a", b"x" * 4096))[:2000], {}, "unexpected EOF"),
        (archive(file("a")), {"media_type": f"{PLAIN}+gzip", "diff_id": f"sha256:{'0' * 64}"}, "it is not gzip"),
    ],
    ids=["another layer", "unknown type", "cut short", "not compressed"],
)
def test_a_layer_that_is_not_what_it_should_be_is_one_sentence(
    program: Path, way: Way, place: Path, *, content: bytes, options: dict[str, str], why: str
):
    done = unpack(program, way, content, place / "layer", **options)
    assert done.returncode == 1
    assert done.stderr.startswith(f"sandbox-layers: cannot unpack layer {place}/layer.blob: ")
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list((place / "layer").iterdir()) == []


def test_it_works_inside_a_namespace_that_is_there_already(program: Path, way: Way, place: Path):
    within = Way(() if way.all_ids else ("--rootless",), way.first, way.all_ids, way.inside, way.inside)
    layer = unpacked(program, within, archive(file("file", b"x", uid=7, gid=8)), place / "layer")
    owner = ((layer / "file").stat().st_uid, (layer / "file").stat().st_gid)
    assert owner == ((way.first + 7, way.first + 8) if way.all_ids else (way.first, layer.stat().st_gid))


def test_outside_of_a_user_namespace_it_refuses(program: Path, way: Way, place: Path):
    within = Way((), way.first, way.all_ids, way.outside, way.inside)
    done = unpack(program, within, archive(file("file")), place / "layer")
    assert "this is no user namespace; give --ids or --rootless" in done.stderr


def test_a_folder_that_is_not_empty_is_left_alone(program: Path, way: Way, place: Path):
    unpacked(program, way, archive(file("file", b"x")), place / "layer")
    argv = ["--blob", "x", "--media-type", PLAIN, "--diff-id", f"sha256:{'0' * 64}", "--to", str(place / "layer")]
    done = subprocess.run([program, "unpack", *argv, *way.options], capture_output=True, text=True, check=False)
    assert done.stderr == f"sandbox-layers: cannot unpack into {place}/layer: it is not empty\n"
    assert (place / "layer" / "file").exists()
