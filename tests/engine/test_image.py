"""SandboxImage on the real engine: built by BuildKit on a stand-in base, pushed to the emulated registry, deleted."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.platform.sdk import SDK_VERSION
from emulator.testing import Running, running
from testbed.cloud import Cloud
from testbed.project import MakeProject, Project
from tests.emulator.services.registry.oci import Registry
from tools.local import bases, builder
from tools.local.emulator import Emulated
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

pytestmark = pytest.mark.engine

PLUGIN = f"plugins: {{providers: [{{name: cloudflare-sandbox, path: {ROOT}/components/provider/bin}}]}}\n"
PROGRAM = f"""
import json, pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
import pulumi
from components.image import ImageArgs, SandboxImage
from components.cloudflare.sandbox import ContainerApplication, WorkerScript
from components.settings.image import ImageSettings

here = pathlib.Path(__file__).parent
given = json.loads((here / "settings.json").read_text())
secrets = {{name: pulumi.Config().require_secret(name) for name in given["image"].get("build_secrets", ())}}
image = SandboxImage("image", ImageArgs(
    settings=ImageSettings.parse(given["image"]),
    account_id=given["account"],
    repository="sandbox-test-image",
    sdk_version=given["version"],
    generation=given["generation"],
    project_folder=here,
    build_folder=here / "build",
    secrets=secrets,
))
for name in ("reference", "repository", "context_hash", "size"):
    pulumi.export(name, getattr(image, name))
if given.get("application"):
    script = WorkerScript("worker", {{
        "account_id": given["account"],
        "script_name": "small",
        "main_module": "index.js",
        "modules": {{"index.js": {{"file": "index.js"}}}},
        "compatibility_date": "2026-10-01",
        "bindings": {{"Sandbox": {{"type": "durable_object_namespace", "class_name": "Sandbox"}}}},
        "classes": {{"Sandbox": {{"container": {{}}}}}},
    }})
    ContainerApplication("application", {{
        "account_id": given["account"],
        "script_name": script.script_name,
        "class_name": "Sandbox",
        "image": image.reference,
        "max_instances": 1,
    }}, pulumi.ResourceOptions(depends_on=[script]))
"""
CODE = """
export class Sandbox { async fetch() { return new Response(); } }
export default { async fetch() { return new Response(); } };
"""


class ImageDeployment(Cloud):
    """A project with an image, a builder and an emulated account."""

    version = SDK_VERSION

    def __init__(self, project: Project, emulator: Running, settings: dict[str, Any]) -> None:
        super().__init__(emulator)
        self.project, self.settings = project, settings
        project.pulumi.env.update(self.env)  # type: ignore[attr-defined]
        self.write("app/main.py", "print(1)\n")

    def write(self, path: str, text: str) -> None:
        target = self.project.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def set(self, *, application: bool = False, **image: Any) -> None:
        generation = {"version": self.version, "generation": "1.x" if self.version.startswith("1.") else "0.12"}
        account = {"account": self.emulator.account_id, "application": application}
        given = {**account, **generation, "image": {**image, **self.settings}}
        self.write("settings.json", json.dumps(given))
        self.write("index.js", CODE)

    def applications(self) -> list[str]:
        """Images that applications run."""
        return [each["configuration"]["image"] for each in self.api("GET", "/containers/applications")]

    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.project.succeed("stack", "output", "--json"))
        return found

    def registry(self, *permissions: str) -> Registry:
        """The registry, with credentials."""
        wanted = {"expiration_minutes": 5, "permissions": permissions}
        minted = self.api("POST", "/containers/registries/registry.cloudflare.com/credentials", json=wanted)
        return Registry(self.emulator.origin, minted["password"])

    def config(self) -> Any:
        """Configuration of the image, as the registry has it."""
        registry = self.registry("pull")
        name, _, digest = self.outputs()["reference"].partition("/")[2].partition("@")
        manifest = registry("GET", f"{name}/manifests/{digest}").json()
        return registry("GET", f"{name}/blobs/{manifest['config']['digest']}").json()


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "emulator") as served:
        bases.seed_empty(Emulated(served.url, served.account_id, served.token))
        yield served


@pytest.fixture
def deployment(
    emulator: Running, make_project: MakeProject, tools_provided: Toolchain, isolated_engine: Any
) -> Iterator[ImageDeployment]:
    project = make_project(PROGRAM, name="images", extra_yaml=PLUGIN)
    host = emulator.origin.removeprefix("http://")
    with builder.serving(
        tools_provided, host, Path(isolated_engine.env["DOCKER_CONFIG"]), mirror=f"http://{host}"
    ) as serving:
        assert serving.reason == ""
        yield ImageDeployment(project, emulator, {"builder": {"name": serving.name}})


@pytest.mark.long
def test_the_whole_life(deployment: ImageDeployment):
    deployment.set(files={"/app": "app"}, environment={"GREETING": 'say "hi" to $USER \\ ok'}, ports=[8080])
    deployment.calls()
    assert "+ 4 to create" in deployment.project.succeed("preview")
    assert [each for each in deployment.calls() if not each.startswith("GET")] == []
    deployment.project.up()
    first = deployment.outputs()
    host, account = deployment.emulator.origin.removeprefix("http://"), deployment.emulator.account_id
    name = re.escape(f"{host}/{account}/sandbox-test-image@")
    assert re.fullmatch(rf"{name}sha256:[0-9a-f]{{64}}", first["reference"])
    assert first["repository"] == "sandbox-test-image"
    assert first["size"] > 100
    config = deployment.config()
    assert config["architecture"] == "amd64"
    assert config["config"]["Labels"]["stand-in"] == "true"
    assert config["config"]["Entrypoint"] == ["/container-server/sandbox"]
    assert 'GREETING=say "hi" to $USER \\ ok' in config["config"]["Env"]
    assert "8080/tcp" in config["config"]["ExposedPorts"]
    deployment.calls()
    deployment.project.up("--expect-no-changes")
    assert deployment.calls() == [
        f"POST /client/v4/accounts/{account}/containers/registries/registry.cloudflare.com/credentials"
    ]
    deployment.project.succeed("preview", "--expect-no-changes")
    assert deployment.calls() == []
    deployment.project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    deployment.write("app/main.py", "print(2)\n")
    shown = deployment.project.succeed("preview")
    assert "update" in shown
    assert "replace" in shown
    deployment.project.up()
    second = deployment.outputs()
    assert second["reference"] != first["reference"]
    assert second["context_hash"] != first["context_hash"]
    assert deployment.deployed()["image_manifest"] == 1
    deployment.project.succeed("destroy", "--yes", "--skip-preview")
    assert deployment.deployed() == {}


def test_a_dockerfile_of_ones_own_is_built_with_secrets_that_stay_out_of_everything(deployment: ImageDeployment):
    secret = "value-of-the-build-secret"
    deployment.project.succeed("config", "set", "--secret", "INDEX_TOKEN", secret)
    base = f"FROM docker.io/cloudflare/sandbox:{SDK_VERSION}"
    deployment.write("own/Dockerfile", f"{base}\nCOPY kept.txt left-out* /data/\nLABEL made=here\n")
    deployment.write("own/.dockerignore", "left-out*\n")
    deployment.write("own/kept.txt", "kept")
    deployment.write("own/left-out.txt", "left out")
    deployment.set(dockerfile="own/Dockerfile", build_secrets=["INDEX_TOKEN"])
    shown = deployment.project.up("--diff")
    first = deployment.outputs()
    assert deployment.config()["config"]["Labels"]["made"] == "here"
    deployment.write("own/left-out.txt", "changed")
    deployment.project.up("--expect-no-changes")
    state = deployment.project.succeed("stack", "export")
    assert secret not in shown + state + json.dumps(deployment.config())
    deployment.write("own/kept.txt", "changed")
    deployment.project.up()
    assert deployment.outputs()["reference"] != first["reference"]
    deployment.write("own/Dockerfile", base.replace(SDK_VERSION, "0.12.9"))
    shown = deployment.project.fail("preview")
    assert f"own/Dockerfile:1: the image has version 0.12.9, the package {SDK_VERSION} [versions/image-tag]" in shown
    assert f"remedy: Use the tag {SDK_VERSION} of docker.io/cloudflare/sandbox." in shown


def test_a_ready_image_needs_no_builder_and_asks_nothing(deployment: ImageDeployment):
    deployment.settings = {}
    reference = f"registry.example/team/sandbox@sha256:{'0' * 64}"
    deployment.set(reference=reference)
    deployment.calls()
    assert "+ 2 created" in deployment.project.up()
    assert deployment.calls() == []
    assert deployment.outputs() == {"reference": reference, "repository": "", "context_hash": ""}


def test_a_kept_image_survives(deployment: ImageDeployment):
    deployment.set(keep=True)
    deployment.project.up()
    deployment.project.succeed("destroy", "--yes", "--skip-preview")
    assert deployment.deployed()["image_manifest"] == 1


def test_going_back_to_an_earlier_image_works(deployment: ImageDeployment):
    deployment.set(files={"/app": "app"})
    for text in ("print(1)\n", "print(2)\n", "print(1)\n"):
        deployment.write("app/main.py", text)
        deployment.project.up()
        assert deployment.config()["architecture"] == "amd64"
        assert deployment.deployed()["image_manifest"] == 1
    deployment.project.up("--expect-no-changes")


def test_a_build_on_preview_shows_a_failing_build_and_pushes_nothing(deployment: ImageDeployment):
    deployment.settings["builder"]["on_preview"] = True
    deployment.write("own/Dockerfile", f"FROM docker.io/cloudflare/sandbox:{SDK_VERSION}\nCOPY missing /\n")
    deployment.set(dockerfile="own/Dockerfile")
    deployment.calls()
    assert "missing" in deployment.project.fail("preview")
    deployment.write("own/missing", "found")
    deployment.project.succeed("preview")
    assert [each for each in deployment.calls() if not each.startswith(("GET", "HEAD"))] == []


def test_the_old_image_stays_until_the_application_has_moved_and_stays_when_it_has_not(deployment: ImageDeployment):
    deployment.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})
    deployment.set(application=True, files={"/app": "app"})
    deployment.project.up()
    first = deployment.outputs()["reference"]
    assert deployment.applications() == [first]
    deployment.write("app/main.py", "print(2)\n")
    deployment.fault(operation="containers.create_rollout", status=400, times=0)
    deployment.project.fail("up", "--yes", "--skip-preview")
    assert deployment.applications() == [first]
    assert deployment.deployed()["image_manifest"] == 2, "the application still runs the old one"
    deployment.control("DELETE", "/faults")
    deployment.write("app/main.py", "print(1)\n")
    deployment.project.up()
    (image,) = deployment.applications()
    assert image == deployment.outputs()["reference"]
    assert deployment.config()["architecture"] == "amd64", "what an unfinished run wanted to delete is used again"
    deployment.write("app/main.py", "print(3)\n")
    deployment.project.up()
    assert deployment.applications() == [deployment.outputs()["reference"]]
    deployment.project.succeed("destroy", "--yes", "--skip-preview")
    assert deployment.deployed() == {}


def test_the_helper_of_generation_1_is_copied_into_any_image(deployment: ImageDeployment):
    deployment.version = "1.0.3"
    helper = {"content": base64.b64encode(b"helper").decode(), "mode": 0o755}
    images = {"cloudflare/sandbox": {"/usr/local/bin/sandbox-shim": helper}, "library/debian": {}}
    for repository, files in images.items():
        image = {"repository": repository, "tags": ["1.0.3", "12.8"], "files": files}
        deployment.control("POST", "/registry/images", json=image)
    deployment.set(from_image="docker.io/library/debian:12.8", files={"/app": "app"})
    deployment.project.up()
    config = deployment.config()
    assert len(config["rootfs"]["diff_ids"]) == 3
    assert "Entrypoint" not in config["config"]


def test_an_image_that_somebody_deleted_is_built_again_as_the_message_says(deployment: ImageDeployment):
    deployment.set()
    deployment.project.up()
    name, _, digest = deployment.outputs()["reference"].partition("/")[2].partition("@")
    assert deployment.registry("push")("DELETE", f"{name}/manifests/{digest}").status_code == 202
    deployment.project.succeed("refresh", "--yes", "--skip-preview")
    shown = deployment.project.fail("up", "--yes", "--skip-preview")
    assert f"the registry has no image {name}@{digest}; it was not pushed, or somebody deleted it. Build it" in shown
    resources = json.loads(deployment.project.succeed("stack", "export"))["deployment"]["resources"]
    (build,) = [each["urn"] for each in resources if each["type"] == "docker-build:index:Image"]
    deployment.project.up("--replace", build)
    assert deployment.config()["architecture"] == "amd64"


def test_the_stand_in_can_be_deployed_where_nothing_can_be_built(deployment: ImageDeployment):
    emulator = deployment.emulator
    reference = bases.seed_empty(Emulated(emulator.url, emulator.account_id, emulator.token))
    deployment.settings = {}
    deployment.set(application=True, reference=reference)
    deployment.project.up()
    assert deployment.applications() == [reference]


@pytest.mark.parametrize(
    "base", [{"variant": "python"}, {"from_image": f"docker.io/cloudflare/sandbox:{SDK_VERSION}-python"}]
)
def test_steps_that_install_packages_are_understood_and_need_an_operating_system(
    deployment: ImageDeployment, base: dict[str, str]
):
    deployment.project.succeed("config", "set", "--secret", "INDEX", "value-of-the-build-secret")
    packages = {"apt": ["jq=1.6"], "pip": ["polars[numpy]==1.31.0"], "npm": ["@scope/tool@2.0.0"]}
    deployment.set(**base, **packages, build_secrets=["INDEX"])
    shown = deployment.project.fail("up", "--yes", "--skip-preview")
    # BuildKit tells why only when the step's own output reaches it before the step's end does.
    assert re.search(r'process "/bin/sh -c apt-get update .*jq=1\.6.*" did not complete successfully', shown), shown
    assert "value-of-the-build-secret" not in shown
    assert deployment.deployed() == {}
