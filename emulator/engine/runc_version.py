"""Which releases of runc hold a sandbox: those with the fix for CVE-2024-21626, which let it reach the host's files."""

import re

_FIXED = (1, 1, 12)
# Debian 12 has put the fix into the release it had; what runc then calls its commit is the package's version.
_BACKPORT = re.compile(r"^commit: 1\.1\.5\+ds1-1\+deb12u[1-9]\d*\b", re.MULTILINE)
_RELEASE = re.compile(r"^runc version (\d+)\.(\d+)\.(\d+)", re.MULTILINE)


def why_not(said: str) -> str | None:
    """Why a runc is refused, by what it says of its version; None when it is not."""
    found = _RELEASE.search(said)
    if not found:
        return "it does not tell its version"
    if tuple(map(int, found.groups())) >= _FIXED or _BACKPORT.search(said):
        return None
    return f"its version is {'.'.join(found.groups())}, which has no fix for CVE-2024-21626"
