"""What the packages' scripts would have set up, as far as a sandbox needs it."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from . import programs
from .layer import Layer
from .system import DROPPED

_MERGED: Final = ("bin", "sbin", "lib", "lib64")
_FOLDERS: Final = {
    **dict.fromkeys(("boot", "dev", "home", "media", "mnt", "opt", "proc", "run", "srv", "sys"), 0o755),
    **dict.fromkeys(("tmp", "var/tmp", "run/lock"), 0o1777),
    "root": 0o700,
    **dict.fromkeys(("container-server", "workspace", "var/backups", "var/cache/apt/archives/partial"), 0o755),
    **dict.fromkeys(("var/lib/apt/lists/partial", "var/log/apt", "var/mail", "usr/local/bin", "usr/local/lib"), 0o755),
}
_CERTIFICATES: Final = "usr/share/ca-certificates"
_BUNDLE: Final = "etc/ssl/certs/ca-certificates.crt"
_SHELLS: Final = ("/bin/sh", "/usr/bin/sh", "/bin/bash", "/usr/bin/bash", "/bin/dash", "/usr/bin/dash")
_PAM: Final = {
    "account": "account required pam_unix.so\n",
    "auth": "auth required pam_unix.so nullok\n",
    "password": "password required pam_unix.so obscure yescrypt\n",
    "session": "session required pam_unix.so\n",
    "session-noninteractive": "session required pam_unix.so\n",
}
# Only root is mapped where an ordinary user builds, so apt cannot become anybody else.
_APT: Final = 'APT::Sandbox::User "root";\nAPT::Install-Recommends "false";\n'


def folders(layer: Layer) -> None:
    """Add the links and folders that have to be there before any package."""
    for name in _MERGED:
        layer.directory(f"usr/{name}")
        layer.symlink(name, f"usr/{name}")
    for path, mode in _FOLDERS.items():
        layer.directory(path, mode)
    layer.symlink("var/run", "/run")
    layer.symlink("var/lock", "/run/lock")


def settings(layer: Layer, kept: Path, sources: str) -> None:
    """Add the settings; `kept` has what they are made from, `sources` is where apt finds packages."""
    _users(layer, kept)
    _certificates(layer, kept)
    for name, path in (("dot.bashrc", "root/.bashrc"), ("dot.profile", "root/.profile"), ("profile", "etc/profile")):
        layer.file(path, (kept / "usr/share/base-files" / name).read_bytes())
    layer.file("etc/nsswitch.conf", (kept / "usr/share/libc-bin/nsswitch.conf").read_bytes())
    layer.file("etc/shells", "".join(f"{shell}\n" for shell in _SHELLS))
    layer.file("etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
    layer.file("etc/resolv.conf", "")
    layer.file("etc/environment", "")
    for name, content in _PAM.items():
        layer.file(f"etc/pam.d/common-{name}", content)
    layer.file("etc/apt/apt.conf.d/90sandbox", _APT)
    layer.file("etc/apt/sources.list", sources)
    left_out = "".join(f"path-exclude=/{folder}*\n" for folder in DROPPED)
    layer.file("etc/dpkg/dpkg.cfg.d/90sandbox", f"{left_out}path-include=/usr/share/doc/*/copyright\n")


def _users(layer: Layer, kept: Path) -> None:
    """Add the users and groups that every Debian has; nobody has a password."""
    masters = kept / "usr/share/base-passwd"
    users = (masters / "passwd.master").read_text()
    layer.file("etc/passwd", users.replace(":*:", ":x:"))
    layer.file("etc/group", (masters / "group.master").read_text().replace(":*:", ":x:"))
    names = [line.partition(":")[0] for line in users.splitlines() if line]
    layer.file("etc/shadow", "".join(f"{name}:*::0:99999:7:::\n" for name in names), 0o600)


def _certificates(layer: Layer, kept: Path) -> None:
    """Add the authorities as one file and, for OpenSSL, as links named by hash."""
    folder = kept / _CERTIFICATES
    found = sorted(folder.rglob("*.crt"))
    layer.file("etc/ca-certificates.conf", "".join(f"{path.relative_to(folder)}\n" for path in found))
    layer.file(_BUNDLE, b"".join(path.read_bytes() for path in found))
    with tempfile.TemporaryDirectory() as scratch:
        for path in found:
            shutil.copy(path, Path(scratch, f"{path.stem}.pem"))
            layer.symlink(f"etc/ssl/certs/{path.stem}.pem", f"/{_CERTIFICATES}/{path.relative_to(folder)}")
        programs.run(kept, "usr/bin/openssl", ["rehash", scratch], env={"OPENSSL_CONF": "/dev/null"})
        for path in sorted(Path(scratch).iterdir()):
            if path.is_symlink():
                layer.symlink(f"etc/ssl/certs/{path.name}", path.readlink().name)
