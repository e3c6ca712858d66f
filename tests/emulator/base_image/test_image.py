"""The image that set-up has made: what it says of itself, what is in it, and that it works."""

import hashlib
import subprocess
import tarfile
from pathlib import Path

import pytest

from emulator.base_image import image as maker
from emulator.base_image.layout import Layout
from tests.emulator.base_image.conftest import Image
from tools.paths import sdk_version

pytestmark = pytest.mark.engine
VERSION = sdk_version()
# What the SDK and its server call; the protocol's fact sheet lists them.
TOOLS = [
    "bash",
    "mkfifo",
    "file",
    "timeout",
    "git",
    "find",
    "stat",
    "inotifywait",
    "curl",
    "dd",
    "truncate",
    "mountpoint",
    "s3fs",
    "fusermount",
    "fusermount3",
    "mksquashfs",
    "unsquashfs",
    "squashfuse",
    "fuse-overlayfs",
    "jq",
    "zip",
    "unzip",
    "awk",
    "which",
    "ps",
    "script",
    "stty",
    "setpriv",
]
PROVE = """
import io, ssl, sqlite3, IPython, matplotlib, numpy, pandas
matplotlib.use("agg")
from matplotlib import pyplot
assert pandas.DataFrame({"a": numpy.arange(3)}).a.sum() == 3
pyplot.plot([1, 2]); buffer = io.BytesIO(); pyplot.savefig(buffer)
assert buffer.getvalue().startswith(b"\\x89PNG")
assert len(ssl.create_default_context().get_ca_certs()) > 100
print("proved")
"""


def test_it_says_what_it_is(image: Image):
    assert set(image.tags()) == {VERSION, f"{VERSION}-python", f"{VERSION}-opencode"}
    for tag in image.tags():
        config = image.config(tag)["config"]
        assert config["Labels"]["stand-in"] == "true"
        assert config["Labels"]["org.opencontainers.image.title"] == f"Stand-in for docker.io/cloudflare/sandbox:{tag}"
        assert config["Labels"]["org.opencontainers.image.description"].endswith("; not the official image.")
        assert f"SANDBOX_VERSION={VERSION}" in config["Env"]
        assert config["Entrypoint"] == ["/container-server/sandbox"]
        assert config["WorkingDir"] == "/container-server"
        assert "3000/tcp" in config["ExposedPorts"]


@pytest.mark.parametrize(("suffix", "waiting"), [("", "0 3 3"), ("-opencode", "0 3 3"), ("-python", "3 3 3")])
def test_interpreters_wait_as_in_the_official_variants(image: Image, suffix: str, waiting: str):
    env = dict(entry.split("=", 1) for entry in image.config(f"{VERSION}{suffix}")["config"]["Env"])
    languages = ("PYTHON", "JAVASCRIPT", "TYPESCRIPT")
    assert " ".join(env[f"{language}_POOL_MIN_SIZE"] for language in languages) == waiting


def test_variants_share_all_layers_but_pythons(image: Image):
    plain, python = (
        [layer["digest"] for layer in image.manifest(f"{VERSION}{suffix}")["layers"]] for suffix in ("", "-python")
    )
    assert [digest for digest in python if digest in plain] == plain
    assert len(python) == len(plain) + 1


def test_every_blob_is_what_its_name_says(image: Image):
    for blob in (image.folder / "blobs" / "sha256").iterdir():
        with blob.open("rb") as content:
            assert hashlib.file_digest(content, "sha256").hexdigest() == blob.name


def test_a_new_server_changes_its_layer_alone_and_the_same_one_nothing(image: Image, tmp_path: Path):
    found = []
    launcher = tmp_path / "launcher"
    launcher.write_text("the same")
    for number, text in enumerate(("one", "one", "two")):
        server, folder = tmp_path / f"server-{number}", tmp_path / f"layout-{number}"
        server.write_text(text)
        folder.mkdir()
        maker.make(image.made_of, maker.Programs(server, launcher), VERSION, folder)
        found.append(Image(folder, image.made_of))
    assert found[0].tags() == found[1].tags()
    first, other = ([layer["digest"] for layer in each.manifest(VERSION)["layers"]] for each in (found[0], found[2]))
    assert first[:-1] == other[:-1]
    assert first[-1] != other[-1]
    assert Layout(found[0].folder).path(first[0]).stat().st_nlink > 1, "the layers are not copied"


def test_it_works(image: Image, tmp_path: Path):
    """All layers unpacked into a folder, and its programs run in there by whoever runs the tests."""
    root, python = tmp_path / "root", ""
    root.mkdir()
    for number, layer in enumerate(image.manifest(f"{VERSION}-python")["layers"]):
        tar = image.tar(layer["digest"], tmp_path / "layer.tar")
        assert f"sha256:{_sha256(tar)}" == image.config(f"{VERSION}-python")["rootfs"]["diff_ids"][number]
        if layer["digest"] == image.made_of.python.digest:
            assert not (root / "usr/bin/python3").exists(), "the default variant has no Python"
            python = "seen"
        _unpack(tar, root)
    assert python
    missing = _inside(root, f"for tool in {' '.join(TOOLS)}; do command -v $tool > /dev/null || echo $tool; done")
    assert missing == ""
    assert _inside(root, "node --version && npm --version && npx --version").startswith("v")
    assert _inside(root, f"python3 -c '{PROVE}'") == "proved"
    assert _inside(root, "python3 -m pip --version").startswith("pip ")
    assert _inside(root, "dpkg --audit && dpkg-query -W bash") != ""
    assert "numpy" in (root / "etc/stand-in").read_text()
    assert oct((root / "tmp").stat().st_mode)[-4:] == "1777"
    assert (root / "workspace").is_dir()
    assert (root / "var/backups").is_dir()
    assert (root / "container-server/sandbox").stat().st_mode & 0o111


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _unpack(tar: Path, root: Path) -> None:
    with tarfile.open(tar) as archive:
        assert {(entry.uid, entry.gid) for entry in archive} == {(0, 0)}
    subprocess.run(["tar", "-xf", str(tar), "-C", str(root), "--no-same-owner"], check=True)


def _inside(root: Path, script: str) -> str:
    """Run a script in the image, in a user namespace in which whoever runs this is root."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    command = ["unshare", "--map-root-user", f"--root={root}", "/bin/bash", "-c", script]
    env = {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8"}
    program = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in env.items()), *command]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
