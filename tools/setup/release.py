"""Downloads a program from its vendor's release and verifies it against the digest published with the release.

Hosts that cannot be reached cost seconds, not minutes. An archive whose digest is missing or wrong is never unpacked.
"""

import hashlib
import http.client
import json
import platform
import shutil
import tarfile
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from tools import interrupt
from tools.errors import FinalError, SetupError

API: Final = "https://api.github.com"
DOWNLOADS: Final = "https://github.com"
_SILENCE_SECONDS: Final = 5
_DOWNLOAD_SECONDS: Final = 600
_REMEDY: Final = "It is built from source instead where that is possible"


@dataclass(frozen=True)
class Release:
    """One archive of one release, and the programs wanted from it."""

    repository: str
    tag: str
    asset: str
    programs: tuple[str, ...]


def machine(*, amd64: str) -> str:
    """Name this machine as vendors do; they disagree only on what to call amd64."""
    processor = {"x86_64": amd64, "amd64": amd64, "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    return f"{platform.system().lower()}-{processor or platform.machine()}"


def fetch(release: Release, folder: Path, *, api: str = API, downloads: str = DOWNLOADS) -> None:
    """Put the release's programs into `folder`, or raise a SetupError that says why not."""
    what = f"cannot download {release.asset}"
    try:
        expected = _published_digest(release, api)
        with tempfile.TemporaryFile(dir=folder) as archive:
            actual = _download(
                f"{downloads}/{release.repository}/releases/download/{release.tag}/{release.asset}", archive
            )
            if actual != expected:
                why = f"its SHA-256 is {actual}, published is {expected}"
                raise FinalError(what, why, "Something on the way changes downloads: find out what before going on")
            archive.seek(0)
            _unpack(archive, release.programs, folder)
    except (LookupError, TypeError) as error:
        raise SetupError(what, "the vendor's answer makes no sense", _REMEDY) from error
    except (OSError, http.client.HTTPException, ValueError, tarfile.TarError) as error:
        reason = getattr(error, "reason", None) or error
        raise SetupError(what, str(reason), _REMEDY) from error


def _published_digest(release: Release, api: str) -> str:
    address = f"{api}/repos/{release.repository}/releases/tags/{release.tag}"
    with _open(address) as answer:
        assets = json.load(answer)["assets"]
    digest = next((str(asset.get("digest") or "") for asset in assets if asset["name"] == release.asset), "")
    if not digest.startswith("sha256:"):
        raise ValueError("the release publishes no SHA-256 for it")
    return digest.removeprefix("sha256:")


def _download(address: str, target: IO[bytes]) -> str:
    digest = hashlib.sha256()
    deadline = time.monotonic() + _DOWNLOAD_SECONDS
    with _open(address) as answer:
        while chunk := answer.read(1 << 20):
            interrupt.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"not done after {_DOWNLOAD_SECONDS} s")
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def _open(address: str) -> http.client.HTTPResponse:
    request = urllib.request.Request(address, headers={"User-Agent": "pulumi-cloudflare-sandbox-setup"})  # noqa: S310 - constants above
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=_SILENCE_SECONDS)  # noqa: S310 - as above
    return response


def _unpack(archive: IO[bytes], programs: tuple[str, ...], folder: Path) -> None:
    """Take only the named programs, by base name: nothing in the archive decides where a file goes."""
    missing = set(programs)
    with tarfile.open(fileobj=archive, mode="r:gz") as members:
        for member in members:
            name = Path(member.name).name
            if member.isfile() and name in missing and (source := members.extractfile(member)):
                with (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
                (folder / name).chmod(0o755)
                missing.remove(name)
    if missing:
        raise ValueError(f"the archive has no {', '.join(sorted(missing))}")
