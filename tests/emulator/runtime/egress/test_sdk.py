"""Interception as the SDK's own class uses it, in real sandboxes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.bundle.worker import own_worker, packaged_worker
from components.platform import compatibility
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from tools.paths import LOCAL, cache_root, sdk_version
from tools.setup import toolchain

pytestmark = pytest.mark.workerd
SOURCE = Path(__file__).parent / "sdk_worker.js"
CLASSES = ("Guarded", "Encrypted")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    tools, folder = toolchain.load(), tmp_path_factory.mktemp("egress-sdk")
    layers = cache_root() / "layers"
    with running(
        folder / "state", packages=PACKAGES, node=tools.node, containers=tools.containers, layers=layers
    ) as emulator:
        stage = Stage(Control(emulator))
        deploy(stage, folder, str(tools.base_image))
        yield stage
        stage.raw.http.close()
        stage.http.close()


def deploy(stage: Stage, folder: Path, base_image: str) -> None:
    layout = {"repository": "cloudflare/sandbox", "folder": base_image}
    taken = stage.raw.control("POST", "/registry/layouts", json=layout, timeout=120)
    bindings = [{"type": "durable_object_namespace", "name": each.upper(), "class_name": each} for each in CLASSES]
    bundle = bundled(folder)
    metadata = {
        "main_module": bundle.main_module,
        "compatibility_date": compatibility.TESTED_DATE,
        "compatibility_flags": ["nodejs_compat"],
        "bindings": bindings,
        "migrations": {"new_tag": "v1", "new_sqlite_classes": list(CLASSES)},
        "containers": [{"class_name": each} for each in CLASSES],
    }
    files: dict[str, Any] = {"metadata": (None, json.dumps(metadata), "application/json")}
    for name, module in bundle.modules.items():
        files[name] = (name, module.file.read_bytes(), "application/javascript+module")
    stage.raw.api("PUT", f"/accounts/{stage.account}/workers/scripts/guard", files=files).raise_for_status()
    image = f"docker.io/cloudflare/sandbox@{taken['tags'][sdk_version()]}"
    for name, namespace in stage.uploads.classes("guard").items():
        application = {
            "name": name.lower(),
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": 2,
            "configuration": {"image": image, "instance_type": "standard-1"},
            "durable_objects": {"namespace_id": namespace["id"]},
        }
        stage.raw.api("POST", f"/accounts/{stage.account}/containers/applications", json=application).raise_for_status()


def bundled(folder: Path) -> Any:
    """The Worker with the packages of this project's own."""
    packaged_worker(LOCAL / "worker-build")
    packages = next((LOCAL / "worker-build" / "packages").glob("*/node_modules"))
    project = folder / "project"
    project.mkdir()
    for name in ("package.json", "package-lock.json"):
        (project / name).write_bytes((packages.parent / name).read_bytes())
    (project / "node_modules").symlink_to(packages)
    (project / "index.js").write_bytes(SOURCE.read_bytes())
    return own_worker(project / "index.js", folder / "build")


def ask(stage: Stage, box: str, command: str, allowed: list[str] | None = None) -> Any:
    body = {"box": box.upper(), "command": command, "allowed": allowed}
    return stage.ask("/", "guard.localhost", "POST", json=body, timeout=90).json()


def test_hosts_are_handled_by_name_and_the_allowed_ones_alone(stage: Stage) -> None:
    said = ask(stage, "Guarded", "curl -s -m 5 http://store.internal/x")
    assert said["result"]["out"] == "store: GET http://store.internal/x", said
    assert ask(stage, "Guarded", "curl -s -m 5 http://example.test/")["result"]["code"] == 6
    only = ["store.internal"]
    assert ask(stage, "Guarded", "curl -s -m 5 http://other.internal/", only)["result"]["out"] == "Origin is disallowed"
    assert ask(stage, "Guarded", "curl -s -m 5 http://store.internal/")["result"]["out"].startswith("store: GET")


def test_encrypted_requests_are_handled_by_name_and_every_program_trusts_that(stage: Stage) -> None:
    asked = {
        "curl": "curl -sS -m 5 https://store.internal/x",
        "node": "node -e \"fetch('https://store.internal/x').then(async (r) => process.stdout.write(await r.text()))\"",
    }
    for program, command in asked.items():
        assert ask(stage, "Encrypted", command)["result"]["out"] == "store: https://store.internal/x", program
