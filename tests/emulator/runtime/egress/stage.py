"""A stage for tests of what leaves sandboxes: real ones, and a host beyond this machine that they may reach."""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from emulator.engine.network.netlink import Network
from testbed.emulator.runtime_stage import Stage
from tools.paths import LOCAL, ROOT, sdk_version
from tools.setup.toolchain import Toolchain

SOURCE = (Path(__file__).parent / "worker.js").read_text()
# Two addresses set aside for documentation, and no more than these: whatever else this machine reaches stays in reach.
FAR, NEAR, PREFIX = IPv4Address("192.0.2.250"), IPv4Address("192.0.2.249"), 30
CABLE = "egress-test"
LATER = IPv4Address("203.0.113.249")  # for this machine's end of the cable, which takes it along


@dataclass(frozen=True)
class Said:
    """How a command in a sandbox ended."""

    code: int
    out: str
    err: str


class RefusedError(Exception):
    """What the object threw."""


class Boxes:
    """Sandboxes of one Worker."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def deploy(self, tools: Toolchain) -> None:
        """Take the base image in, upload the Worker, and make its application."""
        raw, account = self.stage.raw, self.stage.account
        assert tools.base_image is not None, "There is no base image here; `make setup` says why."
        layout = {"repository": "cloudflare/sandbox", "folder": str(tools.base_image)}
        taken = raw.control("POST", "/registry/layouts", json=layout, timeout=120)
        self.upload()
        spaces = raw.api("GET", f"/accounts/{account}/workers/durable_objects/namespaces").json()["result"]
        image = f"docker.io/cloudflare/sandbox@{taken['tags'][sdk_version()]}"
        application = {
            "name": "boxes",
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": 20,
            "configuration": {"image": image, "instance_type": "standard-1"},
            "durable_objects": {"namespace_id": spaces[0]["id"]},
        }
        raw.api("POST", f"/accounts/{account}/containers/applications", json=application).raise_for_status()

    def upload(self, code: str = SOURCE) -> None:
        """Upload the Worker, again and changed perhaps."""
        metadata: dict[str, Any] = {
            "compatibility_date": "2026-10-01",
            "bindings": [{"type": "durable_object_namespace", "name": "BOX", "class_name": "Box"}],
            "containers": [{"class_name": "Box"}],
        }
        if not self.stage.uploads.classes("boxes"):
            metadata["migrations"] = {"new_tag": "v1", "new_sqlite_classes": ["Box"]}
        self.stage.uploads.put("boxes", code, **metadata)

    def ask(self, box: str, method: str, argument: Any = None) -> Any:
        """Call a method of an object."""
        body = {"box": box, "method": method, "argument": argument}
        answer = self.stage.ask("/", "boxes.localhost", "POST", json=body, timeout=40)
        assert answer.status_code == 200, answer.text
        if "error" in answer.json():
            raise RefusedError(answer.json()["error"])
        return answer.json()["result"]

    @contextlib.contextmanager
    def box(self, name: str, *, internet: bool = False, taken: dict[str, str] | None = None) -> Iterator["Box"]:
        """A sandbox while the block runs; `taken` is who takes what is intercepted, by address."""
        self.ask(name, "start", {"internet": internet, "taken": list((taken or {}).items())})
        try:
            yield Box(self, name)
        finally:
            self.ask(name, "end")


@dataclass(frozen=True)
class Box:
    """A sandbox that runs."""

    boxes: Boxes
    name: str

    def run(self, command: str) -> Said:
        """Run a command in it."""
        return Said(**self.boxes.ask(self.name, "run", command))

    def curl(self, arguments: str) -> Said:
        """Ask for an address in it."""
        return self.run(f"curl --silent --show-error --max-time 10 {arguments}")

    def serve(self, port: int) -> None:
        """Have something listen on a port, which answers with one word."""
        script = f"require('http').createServer((q, s) => s.end('own')).listen({port}, () => console.log('up'))"
        started = f'node -e "{script}" > up.{port} 2>&1 < /dev/null &'
        waited = f"until grep -q up up.{port}; do sleep 0.05; done"
        assert self.run(f"{started}\ntimeout 10 bash -c '{waited}'").code == 0

    def take(self, address: str, label: str) -> None:
        """Intercept more."""
        self.boxes.ask(self.name, "take", [[address, label]])


@contextlib.contextmanager
def far_host() -> Iterator[None]:
    """A host at `FAR`, in a network of its own, that ends with its process.

    It answers on ports 80 and 8080, and within TLS on 443. This machine has one network: tests of several processes
    take turns.
    """
    with (LOCAL / "far-host.lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield from _host()


def _host() -> Iterator[None]:
    host = subprocess.Popen(
        [sys.executable, "-m", "tests.emulator.runtime.egress.host", CABLE, str(FAR), str(PREFIX)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        with Network() as network:
            network.add_address(CABLE, NEAR, PREFIX)
            network.raise_up(CABLE)
        yield
    finally:
        host.kill()
        host.wait()
        if host.stdout:
            host.stdout.close()
