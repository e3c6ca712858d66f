"""What goes live in which order: new Worker code only with the images it was made for."""

from typing import Any

import pytest

from components.platform.sdk import OFFICIAL_IMAGE
from components.stack import LEFT_ALONE, MAYBE_AHEAD
from testbed.cloud import Program

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load

SMALL: dict[str, Any] = {
    "environment": "throw-away",
    "access": {"api_keys": {"a": {"sha256": "c" * 64, "tenant": "t", "scopes": ["*"]}}},
}
FAILING = {"dockerfile": "own/Dockerfile"}
UPLOAD = "/workers/scripts/sandbox-test"


def write_dockerfile(program: Program, *lines: str) -> None:
    folder = program.project.folder / "own"
    folder.mkdir(exist_ok=True)
    (folder / "Dockerfile").write_text("\n".join([f"FROM {OFFICIAL_IMAGE}", *lines, ""]))


def live(program: Program) -> dict[str, Any]:
    """What serves: the Worker's deployments, and what applications run."""
    account = f"{program.cloud.emulator.url}/accounts/{program.cloud.emulator.account_id}"
    get = program.cloud.http.get
    applications = get(f"{account}/containers/applications").json()["result"]
    return {
        "deployments": get(f"{account}{UPLOAD}/deployments").json()["result"],
        "applications": [(each["configuration"]["image"], each["version"]) for each in applications],
    }


def words(text: str) -> str:
    """A text without the line breaks of the engine's display."""
    return " ".join(text.split())


def failed_up(program: Program) -> str:
    return words(program.project.fail("up", "--yes", "--skip-preview"))


@pytest.mark.long
def test_a_build_that_fails_leaves_worker_image_and_application_as_they_were_and_says_so(program: Program):
    write_dockerfile(program, "COPY missing /")
    program.settings({**SMALL, "image": FAILING})
    assert LEFT_ALONE in failed_up(program)
    found = program.cloud.deployed()
    assert found.keys().isdisjoint({"worker", "do_namespace", "container_application", "image_manifest"})

    write_dockerfile(program)
    program.up()
    before = live(program)
    images = program.cloud.deployed()["image_manifest"]
    write_dockerfile(program, "COPY missing /")
    changed = {**SMALL, "image": FAILING, "worker": {"variables": {"SLEEP_AFTER": "5m"}}}
    program.settings(changed)
    assert LEFT_ALONE in failed_up(program)
    assert live(program) == before
    assert program.cloud.deployed()["image_manifest"] == images

    write_dockerfile(program, "LABEL fixed=true")
    program.cloud.calls()
    program.up()
    assert went_live(program) == ["image", "Worker"]


def went_live(program: Program) -> list[str]:
    """What was put into the account since the last time, in order: images and code."""
    puts = [call for call in program.cloud.calls() if call.startswith("PUT ")]
    found = ["image" if "/manifests/" in call else "Worker" if call.endswith(UPLOAD) else "" for call in puts]
    return [kind for kind in found if kind]


def write_python_dockerfile(program: Program, *lines: str) -> None:
    (program.project.folder / "own" / "Python").write_text("\n".join([f"FROM {OFFICIAL_IMAGE}", *lines, ""]))


@pytest.mark.long
def test_one_image_of_several_that_fails_keeps_the_worker_and_the_others_back(program: Program):
    write_dockerfile(program)
    write_python_dockerfile(program, "COPY missing /")
    python = {"class_name": "SandboxPython", "image": {"dockerfile": "own/Python"}}
    several = {**SMALL, "image": FAILING, "further_sandboxes": {"py": python}}
    program.settings(several)
    assert LEFT_ALONE in failed_up(program)
    assert program.cloud.deployed().keys().isdisjoint({"worker", "container_application"})

    write_python_dockerfile(program, "LABEL kind=python")
    program.up()
    before = live(program)
    assert len(before["applications"]) == 2
    write_dockerfile(program, "LABEL release=2")
    write_python_dockerfile(program, "COPY missing /")
    program.settings({**several, "worker": {"variables": {"SLEEP_AFTER": "5m"}}})
    assert LEFT_ALONE in failed_up(program)
    assert live(program) == before

    # The image that could be built is kept for the next run. An upload that is refused changes nothing either.
    assert program.cloud.deployed()["image_manifest"] == 3
    write_python_dockerfile(program, "LABEL kind=python release=2")
    program.cloud.fault(operation="workers.upload_script", status=400, message="too large", times=1)
    program.cloud.calls()
    assert "too large" in failed_up(program)
    assert live(program) == before
    assert went_live(program)[-1] == "Worker", "every image comes before it"
    assert program.cloud.deployed()["image_manifest"] == 4, "both of the old images and both of the new ones"

    program.up()
    assert went_live(program) == ["Worker"], "what was pushed before is used"
    after = live(program)
    assert not {image for image, _ in before["applications"]} & {image for image, _ in after["applications"]}
    assert program.cloud.deployed()["image_manifest"] == 2, "old images are deleted when nothing runs them"


def test_packages_that_cannot_be_installed_are_told_with_their_setting(program: Program):
    program.settings({**SMALL, "image": {"apt": ["jq=1.6"]}})
    shown = failed_up(program)
    assert "there is no new image (image.apt could not be installed; what the command says is above, in" in shown
    assert LEFT_ALONE in shown


def test_a_worker_that_does_not_wait_may_be_ahead_of_its_image(program: Program):
    write_dockerfile(program, "COPY missing /")
    program.settings({**SMALL, "image": FAILING, "worker": {"waits_for_images": False}})
    assert MAYBE_AHEAD in failed_up(program)
