"""What fails on the way leaves Worker, images and applications as they were, says so, and is repaired by the next run.

On the real engine, with ready images; `test_order.py` has what builds. docs/order.md is the table of all of it.
"""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from components.platform.sdk import SDK_VERSION
from emulator.settings import Account
from emulator.testing import running
from testbed.cloud import Cloud, Program, copy_of_the_program
from testbed.project import Project
from tools.local import engine
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load

BUNDLE = """
export class Sandbox { async fetch() { return new Response("RELEASE"); } }
export class SandboxPython { async fetch() { return new Response("RELEASE"); } }
export default { async fetch() { return new Response("RELEASE"); } };
"""
_LONG = 1000
KINDS = ("sandbox-test-main", "sandbox-test-py")
GENERATION_1 = {"generation": "1.x", "version": "1.0.3"}


class Pair(Program):
    """A Worker with two kinds of sandboxes, each with a ready image."""

    def release(self, number: int, *images: str, **further: Any) -> None:
        """Write code and images of a release."""
        (self.project.folder / "worker.js").write_text(BUNDLE.replace("RELEASE", str(number)))
        main, python = ({"reference": image} for image in images)
        rolled = {} if further else {"container": {"rollout": {"kind": "immediate"}}}
        none = {role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")}
        self.settings(
            {
                "environment": "throw-away",
                "storage": none,
                "sdk": {"version": SDK_VERSION},
                "worker": {"bundle": "worker.js"},
                "image": main,
                **rolled,
                "further_sandboxes": {"py": {"class_name": "SandboxPython", "image": python, **rolled}},
                **further,
            }
        )

    def images(self, tag: str) -> list[str]:
        """Push an image of each kind."""
        found = []
        for kind in ("main", "py"):
            body = {"repository": f"{self.cloud.account}/{kind}", "tags": [tag], "labels": {"tag": tag}}
            made = self.cloud.control("POST", "/registry/images", json=body)
            found.append(f"registry.cloudflare.com/{body['repository']}@{made['digest']}")
        return found

    def live(self) -> dict[str, Any]:
        """What serves: the Worker's version and the applications' images, by kind."""
        scripts = {each["id"] for each in self.cloud.api("GET", "/workers/scripts")}
        served = self.cloud.api("GET", "/workers/scripts/sandbox-test/deployments") if scripts else {"deployments": []}
        applications = self.cloud.api("GET", "/containers/applications")
        return {
            "version": [each["versions"][0]["version_id"] for each in served["deployments"][:1]],
            "images": {each["name"]: each["configuration"].get("image") for each in applications},
        }

    @contextmanager
    def rolling(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """Run the block when rollouts of both kinds are under way: however slow the machine is, none ends before."""
        self.cloud.clear_journal()
        self._steps(_LONG)
        while sum(each["method"] == "POST" and each["path"].endswith("/rollouts") for each in self.cloud.journal()) < 2:
            assert not is_over()
            time.sleep(0.05)
        yield
        self._steps(0)
        self.cloud.control("POST", "/clock", json={"advance": 100 * _LONG})

    def _steps(self, seconds: float) -> None:
        self.cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": seconds, "preparation": 0})

    def failed(self) -> str:
        shown = self.project.fail("up", "--yes", "--skip-preview")
        assert "Traceback" not in shown
        return re.sub(r"\s+", " ", shown)


@pytest.fixture
def pair(tools_provided: Toolchain, tmp_path: Path) -> Iterator[Pair]:
    with running(tmp_path / "emulator", accounts=(Account(),)) as served:
        cloud = Cloud(served)
        cloud.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0.3, "preparation": 0})
        folder = tmp_path / "checkout"
        copy_of_the_program(folder)
        project = Project(folder, engine.isolated(tools_provided, tmp_path / "engine", extra=cloud.env))
        project.succeed("stack", "init", "test")
        yield Pair(project, cloud, "")
        cloud.http.close()


@pytest.mark.long
def test_rollouts_uploads_and_a_killed_engine(pair: Pair):
    """One stack through all of it, of two kinds of sandboxes."""
    cloud, first, second = pair.cloud, pair.images("1"), pair.images("2")

    # A first deployment whose upload is refused, then one whose second application is: nothing runs a wrong image.
    pair.release(1, *first)
    cloud.fault(operation="workers.upload_script", status=400, message="too large", times=1)
    assert "too large" in pair.failed()
    assert pair.live() == {"version": [], "images": {}}
    cloud.fault(operation="containers.create_application", status=400, message="over the limit", nth=2)
    assert "over the limit" in pair.failed()
    assert set(pair.live()["images"].values()) < set(first)
    pair.up()
    before = pair.live()
    assert before["images"] == dict(zip(KINDS, first, strict=True))

    # An upload that is refused.
    pair.release(2, *second)
    cloud.fault(operation="workers.upload_script", status=400, message="too large", times=1)
    assert "too large" in pair.failed()
    assert pair.live() == before

    # A rollout that fails, of one kind: both go back, and the Worker with them.
    applications = {each["name"]: each["id"] for each in cloud.api("GET", "/containers/applications")}
    failure = {"event": "ImagePullError", "message": "no such layer", "then": "revert"}
    path = f"/containers/{cloud.account}/applications/{applications['sandbox-test-py']}/rollout-failure"
    cloud.control("PUT", path, json=failure)
    with ThreadPoolExecutor(1) as pool:
        failing = pool.submit(pair.failed)
        with pair.rolling(failing.done):
            pass
        shown = failing.result()
    (version,) = before["version"]
    assert "no such layer" in shown
    assert f"the application, with version {version} of the Worker, is back at what ran before" in shown
    assert "so is application sandbox-test-main, whose own rollout had gone well" in shown
    assert pair.live() == before

    # The engine is killed when the Worker is new and the rollouts are under way; the next run goes on with them.
    with pair.project.started("up", "--yes", "--skip-preview") as cli, pair.rolling(lambda: cli.poll() is not None):
        half = pair.live()
        cli.kill()
        cli.wait()
    assert half["images"] == before["images"]
    assert half["version"] != before["version"]
    pair.project.succeed("cancel", "--yes")
    pair.up()
    assert pair.live()["images"] == dict(zip(KINDS, second, strict=True))
    pair.up("--expect-no-changes")
    pair.destroy()
    assert cloud.deployed().keys().isdisjoint({"worker", "container_application", "do_namespace"})


@pytest.mark.long
def test_a_preparation_that_fails(pair: Pair):
    """Generation 1.x: a Worker may name an image only when Cloudflare has prepared it."""
    cloud, first, second = pair.cloud, pair.images("1"), pair.images("2")
    refuse = f"/containers/{cloud.account}/image-preparation-failure"

    pair.release(1, *first, sdk=GENERATION_1)
    cloud.control("PUT", refuse, json={"image": first[1], "reason": "too many layers"})
    shown = pair.failed()
    assert f"image {first[1]} could not be prepared: too many layers; no Worker was uploaded, so nothing" in shown
    assert pair.live() == {"version": [], "images": {}}

    third = pair.images("3")
    pair.release(1, *third, sdk=GENERATION_1)
    pair.up()
    before = pair.live()
    pair.release(2, *second, sdk=GENERATION_1)
    cloud.control("PUT", refuse, json={"image": second[0], "reason": "too many layers"})
    kept = "the Worker and its applications stay as they were, with the images they run. Fix the image and run"
    assert f"could not be prepared: too many layers; {kept}" in pair.failed()
    assert pair.live() == before
    pair.release(2, *pair.images("4"), sdk=GENERATION_1)
    pair.up()
    assert pair.live()["version"] != before["version"]
