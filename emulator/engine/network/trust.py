"""A certificate among those that programs in a sandbox trust, put where its distribution keeps such."""

import contextlib
import os
import stat
from collections.abc import Iterator

_OWN = "usr/local/share/ca-certificates"  # from where distributions make the bundle anew
_NAME = "emulator-r2.crt"
_BUNDLE = ("etc/ssl/certs", "ca-certificates.crt")  # of Debian, Ubuntu and Alpine; others have it elsewhere


def add(root: str, certificate: str) -> dict[str, str]:
    """Add it below a root; the variables for programs that bring certificates of their own (Node, Bun).

    An image may have links anywhere, which are not followed: where one is in the way, the certificate is not added.
    """
    content = certificate.encode("ascii")
    with contextlib.suppress(OSError), _folder(root, _OWN, make=True) as folder:
        _write(folder, _NAME, content, os.O_CREAT | os.O_TRUNC)
    with contextlib.suppress(OSError), _folder(root, _BUNDLE[0]) as folder:
        _write(folder, _BUNDLE[1], b"\n" + content, os.O_APPEND)
    return {"NODE_EXTRA_CA_CERTS": f"/{_OWN}/{_NAME}"}


@contextlib.contextmanager
def _folder(root: str, path: str, *, make: bool = False) -> Iterator[int]:
    handle = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        for part in path.split("/"):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=handle)
            inner = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _write(folder: int, name: str, content: bytes, how: int) -> None:
    file = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | how, 0o644, dir_fd=folder)
    with os.fdopen(file, "wb") as opened:
        if stat.S_ISREG(os.fstat(file).st_mode):
            opened.write(content)
