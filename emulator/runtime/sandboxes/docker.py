"""A Docker engine, which runs the containers of Durable Objects where this machine's own engine cannot.

It is asked over its socket and pulls from the emulated registry. Where an image cannot be had, classes run without
containers: the SDK then answers every sandbox call with its own error, and the reason is told by
`GET /_emulator/runtime`; everything else works.
"""

import base64
import http.client
import json
import os
import socket
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from emulator.services.registry.names import MANAGED_HOST, parse_reference

_DEFAULT = "unix:///var/run/docker.sock"
_SIDECAR = "cloudflare/proxy-everything:3cb1195@sha256:0ef6716c52430096900b150d84a3302057d6cd2319dae7987128c85d0733e3c8"
_SIDECAR_VARIABLE = "MINIFLARE_CONTAINER_EGRESS_IMAGE"  # as the official tools call it
_TIMEOUT = 600.0  # seconds; a large image takes its time
NO_ENGINE = (
    "Sandboxes cannot start: no Docker engine listens on {address}. Start one, or name its socket in DOCKER_HOST "
    "before starting the emulator; everything else works without."
)
NO_IMAGE = "Sandboxes cannot start: the Docker engine has no image {image} and cannot pull it: {reason}."


class NoContainersError(Exception):
    """Classes have to run without containers; the message says why."""


@dataclass(frozen=True)
class Docker:
    """The engine's socket, and the emulated registry as the engine reaches it."""

    socket: str
    registry: str
    password: str
    sidecar: str

    def reference(self, image: str) -> str:
        """An image as the engine calls it: what is in the managed registry is in the emulated one."""
        found = parse_reference(image)
        if found is None or not (found.host == MANAGED_HOST or found.host.startswith(("127.0.0.1:", "localhost:"))):
            return image
        return f"{self.registry}/{found.repository}" + (f"@{found.digest}" if found.digest else f":{found.tag}")


def find_socket() -> str:
    """The socket of this machine's engine."""
    address = os.environ.get("DOCKER_HOST") or _DEFAULT
    path = Path(address.removeprefix("unix://"))
    try:
        there = address.startswith("unix://") and stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        there = False
    if not there:
        raise NoContainersError(NO_ENGINE.format(address=address))
    return str(path)


def has_engine() -> bool:
    """Whether this machine's engine has a socket now."""
    try:
        find_socket()
    except NoContainersError:
        return False
    return True


def sidecar() -> str:
    """The image beside every container, through which its traffic goes."""
    return os.environ.get(_SIDECAR_VARIABLE) or _SIDECAR


def pull(docker: Docker, images: Iterable[str]) -> None:
    """Have the engine hold the images, and the one that runs beside them."""
    for image in (*(docker.reference(each) for each in images), docker.sidecar):
        try:
            problem = _pull(docker, image)
        except OSError as error:
            problem = str(error)
        if problem:
            raise NoContainersError(NO_IMAGE.format(image=image, reason=problem.rstrip(".")))


def _pull(docker: Docker, image: str) -> str:
    if _ask(docker, "GET", f"/images/{quote(image, safe='/:@')}/json", {})[0] == http.HTTPStatus.OK:
        return ""
    account = {"username": "v1", "password": docker.password, "serveraddress": docker.registry}
    own = image.startswith(f"{docker.registry}/")
    headers = {"x-registry-auth": base64.urlsafe_b64encode(json.dumps(account).encode()).decode()} if own else {}
    status, body = _ask(docker, "POST", f"/images/create?fromImage={quote(image, safe='')}", headers)
    events = [json.loads(line) for line in body.splitlines() if line.strip()]
    told = [event.get("error") or event.get("message") for event in events if "error" in event or "message" in event]
    if told:
        return str(told[0])
    return "" if status == http.HTTPStatus.OK else f"it answered {status}"


def _ask(docker: Docker, method: str, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = _UnixConnection(docker.socket)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("docker", timeout=_TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
