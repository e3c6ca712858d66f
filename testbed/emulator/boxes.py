"""Durable Objects with containers, in workerd, on an emulator of their own: one object per test."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.machine import parts
from testbed.emulator.runtime_stage import PACKAGES, Stage, fetch_runtime
from tools.paths import ROOT, cache_root
from tools.setup import toolchain

TOKEN = "container_test_token_0123456789_0123456789"
LAYERS = cache_root() / "layers"
SOURCE = (Path(__file__).parent / "box.js").read_text()
SERVER = (Path(__file__).parent / "server.js").read_text()
SERVE = {"entrypoint": ["node", "-e", SERVER]}
SLEEP = {"entrypoint": ["sleep", "600"]}
HOST = "boxes.localhost"
BINDING = {"type": "durable_object_namespace", "name": "BOX", "class_name": "Box"}
MIGRATION = {"new_tag": "v1", "new_sqlite_classes": ["Box"]}


class ObjectError(Exception):
    """An error that the object caught."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.name, self.exit_code = error.get("name"), error.get("exitCode")


class Object:
    """One Durable Object."""

    def __init__(self, boxes: "Boxes", name: str) -> None:
        self.boxes, self.name = boxes, name

    def __call__(self, method: str, *args: Any) -> Any:
        """Call one of its methods; raises what it throws."""
        answer = self.boxes.stage.ask(f"/run/{self.name}", HOST, "POST", json={"method": method, "args": args})
        assert answer.status_code == 200, answer.text
        said = answer.json()
        if "error" in said:
            raise ObjectError(said["error"])
        return said.get("value")

    def call(self, member: str, *args: Any) -> Any:
        """Call a member of its container."""
        return self("call", member, args)

    @property
    def running(self) -> bool:
        found: bool = self.call("running")
        return found

    def begin(self, options: dict[str, Any] | None = None) -> "Object":
        """Start its container and watch it."""
        assert self("begin", {**SLEEP, **(options or {})}) is True
        return self

    def end(self) -> Any:
        """How it ended, once it has: None or what its monitor was rejected with."""
        said = self("end")
        return ObjectError(said["error"]) if "error" in said else said["value"]

    def path(self, port: int, path: str) -> str:
        """Where a request to a port of its container goes."""
        return f"/to/{self.name}/{port}{path}"


class Boxes:
    """The Worker, its class and its application."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.application: dict[str, Any] = {}

    def take_base_image(self, layout: Path) -> str:
        """Put the base image into the registry; its reference."""
        taken = self.stage.raw.control(
            "POST", "/registry/layouts", json={"repository": "cloudflare/sandbox", "folder": str(layout)}
        )
        return f"docker.io/cloudflare/sandbox@{next(iter(taken['tags'].values()))}"

    def upload(self, source: str = SOURCE, **metadata: Any) -> None:
        """Upload the Worker; the first time with the migration that makes its class."""
        given: dict[str, Any] = {
            "compatibility_date": "2026-10-01",
            "bindings": [BINDING],
            "containers": [{"class_name": "Box"}],
        }
        if not self.stage.uploads.classes("boxes"):
            given["migrations"] = MIGRATION
        self.stage.uploads.put("boxes", source, **{**given, **metadata})

    def apply(self, image: str, **changes: Any) -> None:
        """Make the application."""
        body = {
            "name": "boxes",
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": 50,
            # One processor: less makes starts slow and shows nothing more.
            "configuration": {"image": image, "vcpu": 1, "memory_mib": 3072, "disk": {"size_mb": 2000}},
            "durable_objects": {"namespace_id": self.stage.uploads.classes("boxes")["Box"]["id"]},
            **changes,
        }
        made = self.stage.raw.api("POST", f"/accounts/{self.stage.account}/containers/applications", json=body)
        assert made.status_code == 201, made.text
        self.application = made.json()["result"]

    def deploy(self, **changes: Any) -> None:
        """Upload, take the image, make the application."""
        self.upload()
        self.apply(self.take_base_image(parts()[1]), **changes)

    def object(self, name: str) -> Object:
        return Object(self, name)


def make(folder: Path, containers: Path | None) -> Iterator[Boxes]:
    """An emulator with the Worker and no application yet."""
    node = toolchain.load().node
    with running(folder, packages=PACKAGES, node=node, containers=containers, layers=LAYERS) as emulator:
        control = Control(emulator)
        control.http.timeout = 60
        made = Boxes(Stage(control))
        made.upload()
        yield made
        control.http.close()
        made.stage.http.close()


@dataclass
class Program:
    """An emulator that runs as a program."""

    process: subprocess.Popen[str]
    boxes: Boxes
    complaints: Path

    @property
    def said(self) -> str:
        """What it has written to its error output."""
        return self.complaints.read_text()

    def resident(self) -> int:
        """Bytes of memory it uses."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def handles(self) -> int:
        """How many files it has open."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())


@contextmanager
def program(state: Path) -> Iterator[Program]:
    """Run the emulator as a program until the block ends; killed then, if it still runs."""
    fetch_runtime()
    tools, _ = parts()
    state.mkdir(parents=True, exist_ok=True)
    complaints = state.parent / f"{state.name}.{time.monotonic_ns()}.log"
    argv = [sys.executable, "-m", "emulator", "--port", "0", "--state", str(state), "--packages", str(PACKAGES)]
    argv += ["--node", str(toolchain.load().node), "--containers", str(tools), "--layers", str(LAYERS)]
    with complaints.open("w") as file:
        process = subprocess.Popen(
            argv,
            cwd=ROOT,
            env={**os.environ, "CLOUDFLARE_API_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url, complaints.read_text()
        account = httpx.get(f"{url}/accounts", headers={"authorization": f"Bearer {TOKEN}"}).json()["result"][0]["id"]
        control = Control(_Handle(url, account, TOKEN), TOKEN)  # type: ignore[arg-type]
        control.http.timeout = 60
        yield Program(process, Boxes(Stage(control)), complaints)
    finally:
        process.kill()
        process.communicate()


@dataclass
class _Handle:
    """As much of a running emulator as a stage needs."""

    url: str
    account_id: str
    token: str

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/client/v4")
