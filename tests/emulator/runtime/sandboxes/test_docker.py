"""Containers of running Workers where our own engine cannot run: with a Docker engine, and without one.

The Docker engine here is a stand-in that pulls for real from the emulated registry and starts nothing.
"""

import base64
import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest

from emulator.engine import programs
from emulator.engine.programs import NO_RUNC
from emulator.runtime.sandboxes.docker import Docker
from emulator.runtime.sandboxes.images import images_of
from testbed.emulator.runtime_stage import Stage

pytestmark = pytest.mark.workerd

SIDECAR = "sidecar.test/proxy:1"
SOURCE = """import { DurableObject } from "cloudflare:workers";
export class Box extends DurableObject {
  look() { try { return this.see(this.ctx.container); } catch (error) { return error.message; } }
  see(container) { return container ? `container, running: ${container.running}` : "no container"; }
}
export default { async fetch(request, env) { return new Response(await env.BOX.getByName("one").look()); } };"""
BINDING = {"type": "durable_object_namespace", "name": "BOX", "class_name": "Box"}
MIGRATION = {"new_tag": "v1", "new_sqlite_classes": ["Box"]}


class Engine(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Holds the images that were pulled; each is fetched with the credentials that came along."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), _Handler)
        self.path = path
        self.images = {SIDECAR}
        self.refuses = ""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Inspect an image, or anything else workerd wants to know."""
        name = unquote(self.path).removeprefix("/images/").removesuffix("/json")
        self._answer(200 if name in cast("Engine", self.server).images else 404, {})

    def do_POST(self) -> None:
        """Pull an image."""
        engine = cast("Engine", self.server)
        image = parse_qs(urlsplit(self.path).query)["fromImage"][0]
        if engine.refuses:
            return self._answer(200, {"status": "Pulling"}, {"error": engine.refuses})
        account = json.loads(base64.urlsafe_b64decode(self.headers["x-registry-auth"]))
        host, _, rest = image.partition("/")
        repository, _, digest = rest.partition("@")
        path = f"http://{host}/v2/{repository}/manifests/{digest}"
        fetched = httpx.get(path, auth=(account["username"], account["password"]))
        if fetched.status_code != 200:
            return self._answer(404, {"message": fetched.text})
        engine.images.add(image)
        return self._answer(200, {"status": "Pulling"}, {"status": "Done"})

    def _answer(self, status: int, *events: dict[str, str]) -> None:
        self.send_response(status)
        self.end_headers()
        for event in events:
            self.wfile.write(json.dumps(event).encode() + b"\n")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(autouse=True)
def no_engine_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_folder: Path | None) -> programs.Programs:
        raise programs.UnavailableError(NO_RUNC)

    monkeypatch.setattr(programs, "find", nowhere)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    with Engine(tmp_path / "docker.sock") as engine:
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{engine.path}")
        monkeypatch.setenv("MINIFLARE_CONTAINER_EGRESS_IMAGE", SIDECAR)
        yield engine
        engine.shutdown()


def deploy(stage: Stage) -> str:
    """A Worker with a container-enabled class, and its application; the reference of the image."""
    given = {"bindings": [BINDING], "migrations": MIGRATION, "containers": [{"class_name": "Box"}]}
    stage.uploads.put("boxes", SOURCE, compatibility_date="2026-10-01", **given)
    repository = f"{stage.account}/box"
    image = stage.raw.control("POST", "/registry/images", json={"repository": repository, "tags": ["1"]})
    reference = f"{repository}@{image['digest']}"
    body = {
        "name": "boxes",
        "scheduling_policy": "default",
        "instances": 0,
        "max_instances": 1,
        "configuration": {"image": f"registry.cloudflare.com/{reference}", "instance_type": "lite"},
        "durable_objects": {"namespace_id": stage.uploads.classes("boxes")["Box"]["id"]},
    }
    made = stage.raw.api("POST", f"/accounts/{stage.account}/containers/applications", json=body)
    assert made.status_code == 201, made.text
    return reference


def test_an_engine_gets_the_image_from_the_emulated_registry(stage: Stage, engine: Engine):
    reference = deploy(stage)
    assert stage.ask("/", "boxes.localhost").text == "container, running: false"
    assert engine.images == {SIDECAR, f"{urlsplit(stage.emulator.origin).netloc}/{reference}"}
    assert stage.raw.control("GET", "/runtime")["containers"] == {"engine": "docker", "available": True, "reason": None}


def test_an_image_that_cannot_be_pulled_is_named(stage: Stage, engine: Engine):
    engine.refuses = "disk full."
    reference = deploy(stage)
    assert stage.ask("/", "boxes.localhost").text == "no container"
    image = f"{urlsplit(stage.emulator.origin).netloc}/{reference}"
    reason = f"Sandboxes cannot start: the Docker engine has no image {image} and cannot pull it: disk full."
    assert stage.raw.control("GET", "/runtime")["containers"] == {
        "engine": "docker",
        "available": False,
        "reason": reason,
    }


def test_without_any_engine_everything_else_works(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    deploy(stage)
    reason = f"Sandboxes cannot start on this machine: {NO_RUNC}."
    expected = f"Containers have not been enabled for this Durable Object class on this machine: {reason}"
    assert stage.ask("/", "boxes.localhost").text == expected
    told = stage.raw.control("GET", "/runtime")["containers"]
    assert (told["engine"], told["available"], told["reason"], told["running"]) == ("runc", False, reason, 0)


def test_references_as_the_engine_calls_them():
    docker = Docker("/socket", "127.0.0.1:8787", "secret", SIDECAR)
    digest = "sha256:" + "0" * 64
    assert docker.reference(f"registry.cloudflare.com/a/b:1@{digest}") == f"127.0.0.1:8787/a/b@{digest}"
    assert docker.reference("127.0.0.1:1/a/b:1") == "127.0.0.1:8787/a/b:1"
    assert docker.reference("docker.io/library/alpine:3") == "docker.io/library/alpine:3"


def test_objects_that_choose_their_image_have_several(stage: Stage):
    store = stage.emulator.state.store
    namespace = {"id": "n", "class": "Box", "container": True}
    entry = {"name": "box", "images": {"small": "registry.cloudflare.com/a/s:1", "large": {"image": "x/l:1"}}}
    linked = {"Box": {"type": "durable-object", "container": "box"}}
    expected = {"small": "registry.cloudflare.com/a/s:1", "large": "x/l:1"}
    by_export = {"containers": [entry], "exports": linked}
    by_class = {"containers": [{**entry, "class_name": "Box"}], "exports": None}
    assert images_of(store, stage.account, namespace, by_export) == expected
    assert images_of(store, stage.account, namespace, by_class) == expected
    assert images_of(store, stage.account, {**namespace, "class": "Other"}, by_class) == {}
    assert images_of(store, stage.account, {**namespace, "container": False}, by_class) == {}
