"""`make plugin`: the archives that `pulumi plugin install` takes the plugin from, in `dist/plugin`, and checksums.

An archive holds the wheel, the packages it was tested with by version and hash, and what starts it. Nothing in it is
made for one kind of machine, so all archives have the same content under the names that Pulumi asks for. The same
commit makes the same bytes.
"""

import gzip
import hashlib
import io
import shutil
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Final

from tools import command
from tools.paths import ROOT

FOLDER: Final = ROOT / "dist" / "plugin"
PROGRAM: Final = "pulumi-resource-cloudflare-sandbox"
MACHINES: Final = ("darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64")
CHECKSUMS: Final = "checksums.txt"
_SOURCES: Final = ROOT / "plugin"
PARTS: Final = {
    PROGRAM: _SOURCES / "archive" / PROGRAM,
    "prepare.py": _SOURCES / "archive" / "prepare.py",
    "python": ROOT / "tools" / "python",
    "requirements.txt": _SOURCES / "requirements.txt",
    "LICENSE": ROOT / "LICENSE",
}
_EXECUTABLE: Final = frozenset({PROGRAM, "python"})


def make(folder: Path = FOLDER) -> int:
    """Write the archives and `checksums.txt`, as `sha256sum --check` reads it."""
    content = archive(_parts())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    names = [f"{PROGRAM}-v{version}-{machine}.tar.gz" for machine in MACHINES]
    for name in names:
        (folder / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (folder / CHECKSUMS).write_text("".join(f"{digest}  {name}\n" for name in names))
    print(f"{len(names)} archives of {len(content) / 1e6:.1f} MB and {CHECKSUMS} are in {folder}")
    return 0


def archive(parts: dict[str, bytes]) -> bytes:
    """Return a tar.gz of files, by name; who made it, when and where leaves no trace."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as members,
    ):
        for name, content in sorted(parts.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755 if name in _EXECUTABLE else 0o644
            members.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _parts() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", scratch]
        argv = [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)]
        command.run(argv, what="cannot make the wheel", log="wheel", cwd=ROOT)
        (wheel,) = Path(scratch).glob("*.whl")
        return {wheel.name: wheel.read_bytes()} | {name: path.read_bytes() for name, path in PARTS.items()}
