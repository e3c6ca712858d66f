"""An installation of Debian's packages, layer by layer, without running their scripts.

`dpkg` in the finished image finds its database as it would have written it, so that packages can be added there. What
the scripts would have set up is in `configuration.py`; alternatives are read out of them here.
"""

import hashlib
import os
import shutil
import tarfile
from pathlib import Path
from typing import IO, Final

from .layer import Layer
from .packages import Package

LIBRARIES: Final = "usr/lib/x86_64-linux-gnu"
_MERGED: Final = frozenset({"bin", "sbin", "lib", "lib32", "lib64", "libx32"})
_DATABASE: Final = "var/lib/dpkg"
# What people do not read in a container. Debian's and Ubuntu's own images leave the same out.
DROPPED: Final = tuple(f"usr/share/{each}/" for each in ("bug", "doc", "info", "lintian", "locale", "man"))
_LICENCE: Final = "/copyright"
# With it pip refuses to install anything beside Debian's packages; the official image's pip does not.
_NO_PIP: Final = "/EXTERNALLY-MANAGED"
# Settings, what they are made from, and programs that make them.
_KEPT: Final = (
    "etc/",
    *("usr/bin/openssl", "usr/bin/python3", "usr/bin/zstd"),
    "usr/lib/python3",
    *(f"usr/share/{each}" for each in ("base-files/", "base-passwd/", "ca-certificates/", "libc-bin/", "pam/")),
)
# Of an alternative whose script builds its names while it runs.
_ALTERNATIVES: Final = {"usr/bin/w": ("w", "/usr/bin/w.procps")}


def merged(path: str) -> str:
    """Return where a path of a package lies in a system whose /bin, /lib and so on are links into /usr."""
    first = path.partition("/")[0]
    return f"usr/{path}" if first in _MERGED else path


class System:
    """What is installed so far. Files that are needed to finish the image are kept on disk as well, in `kept`."""

    def __init__(self, kept: Path) -> None:
        self.kept = kept
        self.packages: dict[str, Package] = {}
        self._status: dict[str, str] = {}

    def install(self, layer: Layer, packages: tuple[Package, ...]) -> None:
        """Add packages to a layer, and the database that knows them and those of the layers below."""
        for package in packages:
            listed, checksums = self._unpack(layer, package)
            self.packages[package.name] = package
            self._status[package.name] = _stanza(package, checksums)
            _describe(layer, package, listed)
        status = "".join(f"{self._status[name]}\n" for name in sorted(self._status))
        layer.file(f"{_DATABASE}/status", status, replace=True)
        layer.file(f"{_DATABASE}/info/format", "1\n")
        for name in ("available", "diversions", "statoverride"):
            layer.file(f"{_DATABASE}/{name}", "")
        for name in ("alternatives", "parts", "triggers", "updates"):
            layer.directory(f"{_DATABASE}/{name}")
        for link, (name, target) in self._alternatives(packages).items():
            if layer.has(merged(target.lstrip("/"))) and not layer.has(link):
                layer.symlink(link, f"/etc/alternatives/{name}")
                layer.symlink(f"etc/alternatives/{name}", target)

    def _unpack(self, layer: Layer, package: Package) -> tuple[list[str], dict[str, str]]:
        """Add what a package contains; the paths it lists, and the checksums of its settings."""
        listed, checksums = [], {}
        with package.contents() as archive:
            for entry in archive:
                name = entry.name.removeprefix(".").strip("/")
                listed.append(f"/{name or '.'}")
                path = merged(name)
                if name in _MERGED or _is_dropped(path, entry):
                    continue
                self._add(layer, archive, entry, path)
                if f"/{name}" in package.conffiles:
                    checksums[f"/{name}"] = self._checksum(path)
        return listed, checksums

    def _add(self, layer: Layer, archive: tarfile.TarFile, entry: tarfile.TarInfo, path: str) -> None:
        mtime = int(entry.mtime)
        if entry.isdir():
            layer.directory(path, _mode(entry), mtime)
        elif entry.issym():
            layer.symlink(path, entry.linkname, mtime)
            self._keep_link(path, entry.linkname)
        elif entry.islnk():
            layer.hardlink(path, merged(entry.linkname.removeprefix("./")), mtime)
        elif content := archive.extractfile(entry):
            self._file(layer, path, content, entry)

    def _file(self, layer: Layer, path: str, content: IO[bytes], entry: tarfile.TarInfo) -> None:
        if not _is_kept(path):
            layer.stream(path, content, entry.size, _mode(entry), int(entry.mtime))
            return
        copy = self.kept / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("wb") as target:
            shutil.copyfileobj(content, target)
        copy.chmod(0o755)
        os.utime(copy, (entry.mtime, entry.mtime))  # compiled modules name the time of their source
        with copy.open("rb") as source:
            layer.stream(path, source, entry.size, _mode(entry), int(entry.mtime))

    def _keep_link(self, path: str, target: str) -> None:
        link = self.kept / path
        if _is_kept(path) and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)

    def _checksum(self, path: str) -> str:
        content = (self.kept / path).read_bytes()
        return hashlib.md5(content, usedforsecurity=False).hexdigest()

    def _alternatives(self, packages: tuple[Package, ...]) -> dict[str, tuple[str, str]]:
        """Return by link its name and target, of the highest priority."""
        found: dict[str, tuple[int, str, str]] = {}
        for package in packages:
            for priority, link, name, target in _declared(
                package.control.get("postinst", b"").decode(errors="replace")
            ):
                if priority > found.get(link, (-1, "", ""))[0]:
                    found[link] = (priority, name, target)
        return _ALTERNATIVES | {merged(link.lstrip("/")): entry[1:] for link, entry in found.items()}


def _declared(script: str) -> list[tuple[int, str, str, str]]:
    """Read the alternatives that a script installs: priority, link, name and target of each and of its slaves."""
    declared = []
    for line in script.replace("\\\n", " ").splitlines():
        words = line.split()
        if "update-alternatives" not in words or "--install" not in words:
            continue
        link, name, target, priority = words[words.index("--install") + 1 :][:4]
        if not (link.startswith("/") and priority.isdigit()):
            continue
        declared.append((int(priority), link, name, target))
        slaves = [index for index, word in enumerate(words) if word == "--slave"]
        declared += [(int(priority), *words[index + 1 : index + 4]) for index in slaves if len(words) > index + 3]  # type: ignore[misc]
    return declared


def _stanza(package: Package, checksums: dict[str, str]) -> str:
    """Describe an installed package as dpkg does in its database."""
    first, _, rest = package.control["control"].decode().rstrip("\n").partition("\n")
    lines = [first, "Status: install ok installed", rest]
    if checksums:
        lines += ["Conffiles:", *(f" {path} {checksum}" for path, checksum in checksums.items())]
    return "\n".join(lines) + "\n"


def _describe(layer: Layer, package: Package, listed: list[str]) -> None:
    """Write the files of dpkg's database that are about one package."""
    shared = package.fields.get("Multi-Arch") == "same"
    base = f"{_DATABASE}/info/{package.name}" + (f":{package.fields['Architecture']}" if shared else "")
    layer.file(f"{base}.list", "".join(f"{path}\n" for path in listed))
    for name, content in sorted(package.control.items()):
        if name != "control":
            is_script = name in {"preinst", "postinst", "prerm", "postrm", "config"}
            layer.file(f"{base}.{name}", content, 0o755 if is_script else 0o644)


def _mode(entry: tarfile.TarInfo) -> int:
    """Return the mode without the privilege of an owner that root takes the place of."""
    mode = entry.mode & 0o7777
    mode &= ~0o4000 if entry.uid else 0o7777
    return mode & (~0o2000 if entry.gid else 0o7777)


def _is_dropped(path: str, entry: tarfile.TarInfo) -> bool:
    if path.endswith(_NO_PIP):
        return True
    if not f"{path}/".startswith(DROPPED):
        return False
    return not path.endswith(_LICENCE) and not (entry.issym() and path.rpartition("/")[0] == "usr/share/doc")


def _is_kept(path: str) -> bool:
    return path.startswith(_KEPT) or path.rpartition("/")[0] == LIBRARIES
