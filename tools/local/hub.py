"""Docker Hub, or a mirror of it: whether it answers, and ready images from there as layouts on this machine.

`DOCKER_HUB_MIRROR`, an address such as `https://mirror.example`, names a registry to ask in its place.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlencode, urlsplit

from emulator.engine.oci import architecture_of
from tools.errors import SetupError
from tools.progress import Board
from tools.setup import cache

VARIABLE: Final = "DOCKER_HUB_MIRROR"
_OFFICIAL: Final = "https://registry-1.docker.io"
_ANSWER_SECONDS: Final = 3
_READ_SECONDS: Final = 60
_INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_PARAMETER: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Hub:
    """Where the official images are published."""

    address: str = _OFFICIAL

    @classmethod
    def of_this_machine(cls) -> "Hub":
        """Return the mirror that the environment names, or Docker Hub itself."""
        return cls((os.environ.get(VARIABLE) or _OFFICIAL).rstrip("/"))

    @property
    def mirror(self) -> str:
        """Return the address to ask in place of Docker Hub; empty for the Hub itself."""
        return "" if self.address == _OFFICIAL else self.address

    @property
    def name(self) -> str:
        """Say how people call it."""
        return urlsplit(self.address).netloc if self.mirror else "Docker Hub"

    def why_not(self) -> str:
        """Say why it cannot be used; empty when it answers as a registry does, which it is given a few seconds for."""
        said = [f"no answer within {_ANSWER_SECONDS} s"]
        # Looking up a name has no time limit of its own, so the whole question gets one.
        asking = threading.Thread(target=lambda: said.append(self._ask()), daemon=True)
        asking.start()
        asking.join(_ANSWER_SECONDS)
        return said[-1]

    def _ask(self) -> str:
        try:
            with self._open("/v2/", seconds=_ANSWER_SECONDS):
                return ""
        except urllib.error.HTTPError as error:
            return (
                ""
                if error.code == 401 and "www-authenticate" in error.headers
                else f"it answers with status {error.code}"
            )
        except (OSError, ValueError) as error:
            return str(getattr(error, "reason", error))

    def fetch(self, repository: str, tag: str, board: Board) -> Path:
        """Return a layout with the image of a tag, fetched if it is not in the cache."""
        try:
            content, media_type = self._manifest(repository, tag)
            digest = hashlib.sha256(content).hexdigest()

            def produce(folder: Path) -> None:
                with board.step(f"{repository}:{tag} from {self.name}"):
                    self._fill(folder, repository, tag, content, media_type)

            return cache.entry(f"image-{digest[:12]}-{tag}", produce, board=board)
        except (OSError, ValueError, KeyError) as error:
            why = f"{self.name} says: {getattr(error, 'reason', error)}"
            raise SetupError(f"cannot fetch {repository}:{tag}", why, "Run the same command again") from error

    def _manifest(self, repository: str, reference: str) -> tuple[bytes, str]:
        """Return the manifest that a tag means, and its media type: for this machine, else the first for Linux."""
        with self._get(repository, f"manifests/{reference}") as answer:
            content, media_type = answer.read(), answer.headers.get_content_type()
        if media_type not in _INDEXES:
            return content, media_type
        found = [entry for entry in json.loads(content)["manifests"] if _platform(entry, "os") == "linux"]
        if not found:
            raise ValueError(f"{reference} has no image for Linux")
        ours = architecture_of(platform.machine())
        chosen = next((entry for entry in found if _platform(entry, "architecture") == ours), found[0])
        return self._manifest(repository, chosen["digest"])

    def _fill(self, folder: Path, repository: str, tag: str, content: bytes, media_type: str) -> None:
        blobs = folder / "blobs" / "sha256"
        blobs.mkdir(parents=True)
        manifest = json.loads(content)
        for digest in dict.fromkeys(entry["digest"] for entry in (manifest["config"], *manifest["layers"])):
            expected = digest.removeprefix("sha256:")
            with self._get(repository, f"blobs/{digest}") as answer, (blobs / expected).open("wb") as file:
                shutil.copyfileobj(answer, file, 1 << 20)
            with (blobs / expected).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                    raise ValueError(f"{digest} came damaged")
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        described = {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}
        described["annotations"] = {"org.opencontainers.image.ref.name": tag}
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}\n')
        (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}))

    def _get(self, repository: str, path: str) -> Any:
        """Open something of a repository, with a token if the registry asks for one."""
        address = f"/v2/{repository}/{path}"
        try:
            return self._open(address)
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
            return self._open(address, token=_token(error.headers.get("www-authenticate", "")))

    def _open(self, path: str, *, token: str = "", seconds: float = _READ_SECONDS) -> Any:
        request = urllib.request.Request(f"{self.address}{path}")  # noqa: S310 - an address of the user's or the Hub's
        request.add_header("Accept", ", ".join((*_INDEXES, *_MANIFESTS, "*/*")))
        if token:
            # Where blobs are redirected to, the token is not for.
            request.add_unredirected_header("Authorization", f"Bearer {token}")
        return urllib.request.urlopen(request, timeout=seconds)  # noqa: S310 - as above


def _platform(entry: dict[str, Any], field: str) -> str:
    """Say whom an image of an index is for."""
    return str((entry.get("platform") or {}).get(field, ""))


def _token(challenge: str) -> str:
    """Get the token that a refusal says how to get."""
    told = dict(_PARAMETER.findall(challenge))
    query = urlencode({name: told[name] for name in ("service", "scope") if name in told})
    with urllib.request.urlopen(f"{told['realm']}?{query}", timeout=_READ_SECONDS) as answer:  # noqa: S310 - told so
        return _text(answer)


def _text(answer: IO[bytes]) -> str:
    body = json.load(answer)
    return str(body.get("token") or body["access_token"])
