"""SandboxImage on the real engine: built by BuildKit on a stand-in base, pushed to the emulated registry, deleted."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.testing import Running, running
from tests.emulator.oci import Registry
from tests.project import MakeProject, Project
from tools import bases, builder
from tools.emulated import Emulated
from tools.paths import ROOT
from tools.toolchain import Toolchain

pytestmark = pytest.mark.engine

VERSION = "0.12.10"
PLUGIN = f"plugins: {{providers: [{{name: cloudflare-sandbox, path: {ROOT}/components/provider/bin}}]}}\n"
PROGRAM = f"""
import json, pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
import pulumi
from components.image import ImageArgs, SandboxImage
from components.provider.resources import ContainerApplication, WorkerScript
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


class World:
    """A project with an image, a builder and an emulated account."""

    version = VERSION

    def __init__(self, project: Project, emulator: Running, settings: dict[str, Any]) -> None:
        self.project, self.emulator, self.settings = project, emulator, settings
        self.http = httpx.Client(headers={"authorization": f"Bearer {emulator.token}"}, timeout=30)
        env = {"CLOUDFLARE_API_TOKEN": emulator.token, "CLOUDFLARE_BASE_URL": emulator.url}
        project.pulumi.env.update(env)  # type: ignore[attr-defined]
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

    def control(self, method: str, path: str, **body: Any) -> Any:
        address = f"{self.emulator.origin}/_emulator{path}"
        return self.http.request(method, address, json=body or None).raise_for_status().json()["result"]

    def applications(self) -> list[str]:
        """Images that applications run."""
        address = f"{self.emulator.url}/accounts/{self.emulator.account_id}/containers/applications"
        return [each["configuration"]["image"] for each in self.http.get(address).json()["result"]]

    def calls(self) -> list[str]:
        """What was asked since the last time."""
        found = [f"{each['method']} {each['path']}" for each in self.control("GET", "/journal")]
        self.control("DELETE", "/journal")
        return [each for each in found if "/_emulator/" not in each]

    def deployed(self) -> dict[str, int]:
        found: dict[str, int] = self.control("GET", "/state")["deployed"]
        return found

    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.project.succeed("stack", "output", "--json"))
        return found

    def registry(self, *permissions: str) -> Registry:
        """The registry, with credentials."""
        address = f"{self.emulator.url}/accounts/{self.emulator.account_id}"
        minted = self.http.post(
            f"{address}/containers/registries/registry.cloudflare.com/credentials",
            json={"expiration_minutes": 5, "permissions": permissions},
        ).json()["result"]
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
def world(
    emulator: Running, make_project: MakeProject, tools_provided: Toolchain, isolated_engine: Any
) -> Iterator[World]:
    project = make_project(PROGRAM, name="images", extra_yaml=PLUGIN)
    host = emulator.origin.removeprefix("http://")
    with builder.serving(
        tools_provided, host, Path(isolated_engine.env["DOCKER_CONFIG"]), mirror=f"http://{host}"
    ) as serving:
        assert serving.reason == ""
        yield World(project, emulator, {"builder": {"name": serving.name}})


@pytest.mark.long
def test_the_whole_life(world: World):
    world.set(files={"/app": "app"}, environment={"GREETING": 'say "hi" to $USER \\ ok'}, ports=[8080])
    world.calls()
    assert "+ 4 to create" in world.project.succeed("preview")
    assert [each for each in world.calls() if not each.startswith("GET")] == []
    world.project.up()
    first = world.outputs()
    host, account = world.emulator.origin.removeprefix("http://"), world.emulator.account_id
    name = re.escape(f"{host}/{account}/sandbox-test-image@")
    assert re.fullmatch(rf"{name}sha256:[0-9a-f]{{64}}", first["reference"])
    assert first["repository"] == "sandbox-test-image"
    assert first["size"] > 100
    config = world.config()
    assert config["architecture"] == "amd64"
    assert config["config"]["Labels"]["stand-in"] == "true"
    assert config["config"]["Entrypoint"] == ["/container-server/sandbox"]
    assert 'GREETING=say "hi" to $USER \\ ok' in config["config"]["Env"]
    assert "8080/tcp" in config["config"]["ExposedPorts"]
    world.calls()
    world.project.up("--expect-no-changes")
    assert world.calls() == [
        f"POST /client/v4/accounts/{account}/containers/registries/registry.cloudflare.com/credentials"
    ]
    world.project.succeed("preview", "--expect-no-changes")
    assert world.calls() == []
    world.project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    world.write("app/main.py", "print(2)\n")
    shown = world.project.succeed("preview")
    assert "update" in shown
    assert "replace" in shown
    world.project.up()
    second = world.outputs()
    assert second["reference"] != first["reference"]
    assert second["context_hash"] != first["context_hash"]
    assert world.deployed()["image_manifest"] == 1
    world.project.succeed("destroy", "--yes", "--skip-preview")
    assert world.deployed() == {}


def test_a_dockerfile_of_ones_own_is_built_with_secrets_that_stay_out_of_everything(world: World):
    secret = "value-of-the-build-secret"
    world.project.succeed("config", "set", "--secret", "INDEX_TOKEN", secret)
    base = f"FROM docker.io/cloudflare/sandbox:{VERSION}"
    world.write("own/Dockerfile", f"{base}\nCOPY kept.txt left-out* /data/\nLABEL made=here\n")
    world.write("own/.dockerignore", "left-out*\n")
    world.write("own/kept.txt", "kept")
    world.write("own/left-out.txt", "left out")
    world.set(dockerfile="own/Dockerfile", build_secrets=["INDEX_TOKEN"])
    shown = world.project.up("--diff")
    first = world.outputs()
    assert world.config()["config"]["Labels"]["made"] == "here"
    world.write("own/left-out.txt", "changed")
    world.project.up("--expect-no-changes")
    state = world.project.succeed("stack", "export")
    assert secret not in shown + state + json.dumps(world.config())
    world.write("own/kept.txt", "changed")
    world.project.up()
    assert world.outputs()["reference"] != first["reference"]
    world.write("own/Dockerfile", base.replace(VERSION, "0.12.9"))
    shown = world.project.fail("preview")
    assert (
        "own/Dockerfile: line 1: docker.io/cloudflare/sandbox:0.12.9 is not the version of @cloudflare/sandbox that "
        f"the Worker has ({VERSION}); write docker.io/cloudflare/sandbox:{VERSION}"
    ) in shown


def test_a_ready_image_needs_no_builder_and_asks_nothing(world: World):
    world.settings = {}
    reference = f"registry.example/team/sandbox@sha256:{'0' * 64}"
    world.set(reference=reference)
    world.calls()
    assert "+ 2 created" in world.project.up()
    assert world.calls() == []
    assert world.outputs() == {"reference": reference, "repository": "", "context_hash": ""}


def test_a_kept_image_survives(world: World):
    world.set(keep=True)
    world.project.up()
    world.project.succeed("destroy", "--yes", "--skip-preview")
    assert world.deployed()["image_manifest"] == 1


def test_going_back_to_an_earlier_image_works(world: World):
    world.set(files={"/app": "app"})
    for text in ("print(1)\n", "print(2)\n", "print(1)\n"):
        world.write("app/main.py", text)
        world.project.up()
        assert world.config()["architecture"] == "amd64"
        assert world.deployed()["image_manifest"] == 1
    world.project.up("--expect-no-changes")


def test_a_build_on_preview_shows_a_failing_build_and_pushes_nothing(world: World):
    world.settings["builder"]["on_preview"] = True
    world.write("own/Dockerfile", f"FROM docker.io/cloudflare/sandbox:{VERSION}\nCOPY missing /\n")
    world.set(dockerfile="own/Dockerfile")
    world.calls()
    assert "missing" in world.project.fail("preview")
    world.write("own/missing", "found")
    world.project.succeed("preview")
    assert [each for each in world.calls() if not each.startswith(("GET", "HEAD"))] == []


def test_the_old_image_stays_until_the_application_has_moved_and_stays_when_it_has_not(world: World):
    world.control("PUT", "/containers/pace", deletion=0, step=0, preparation=0)
    world.set(application=True, files={"/app": "app"})
    world.project.up()
    first = world.outputs()["reference"]
    assert world.applications() == [first]
    world.write("app/main.py", "print(2)\n")
    world.control("POST", "/faults", operation="containers.create_rollout", status=400, times=0)
    world.project.fail("up", "--yes", "--skip-preview")
    assert world.applications() == [first]
    assert world.deployed()["image_manifest"] == 2, "the application still runs the old one"
    world.control("DELETE", "/faults")
    world.write("app/main.py", "print(1)\n")
    world.project.up()
    (image,) = world.applications()
    assert image == world.outputs()["reference"]
    assert world.config()["architecture"] == "amd64", "what an unfinished run wanted to delete is used again"
    world.write("app/main.py", "print(3)\n")
    world.project.up()
    assert world.applications() == [world.outputs()["reference"]]
    world.project.succeed("destroy", "--yes", "--skip-preview")
    assert world.deployed() == {}


def test_the_helper_of_generation_1_is_copied_into_any_image(world: World):
    world.version = "1.0.3"
    helper = {"content": base64.b64encode(b"helper").decode(), "mode": 0o755}
    images = {"cloudflare/sandbox": {"/usr/local/bin/sandbox-shim": helper}, "library/debian": {}}
    for repository, files in images.items():
        world.control("POST", "/registry/images", repository=repository, tags=["1.0.3", "12.8"], files=files)
    world.set(from_image="docker.io/library/debian:12.8", files={"/app": "app"})
    world.project.up()
    config = world.config()
    assert len(config["rootfs"]["diff_ids"]) == 3
    assert "Entrypoint" not in config["config"]


def test_an_image_that_somebody_deleted_is_built_again_as_the_message_says(world: World):
    world.set()
    world.project.up()
    name, _, digest = world.outputs()["reference"].partition("/")[2].partition("@")
    assert world.registry("push")("DELETE", f"{name}/manifests/{digest}").status_code == 202
    world.project.succeed("refresh", "--yes", "--skip-preview")
    shown = world.project.fail("up", "--yes", "--skip-preview")
    assert f"the registry has no image {name}@{digest}; it was not pushed, or somebody deleted it. Build it" in shown
    resources = json.loads(world.project.succeed("stack", "export"))["deployment"]["resources"]
    (build,) = [each["urn"] for each in resources if each["type"] == "docker-build:index:Image"]
    world.project.up("--replace", build)
    assert world.config()["architecture"] == "amd64"


def test_the_stand_in_can_be_deployed_where_nothing_can_be_built(world: World):
    emulator = world.emulator
    reference = bases.seed_empty(Emulated(emulator.url, emulator.account_id, emulator.token))
    world.settings = {}
    world.set(application=True, reference=reference)
    world.project.up()
    assert world.applications() == [reference]


@pytest.mark.parametrize(
    "base", [{"variant": "python"}, {"from_image": f"docker.io/cloudflare/sandbox:{VERSION}-python"}]
)
def test_steps_that_install_packages_are_understood_and_need_an_operating_system(world: World, base: dict[str, str]):
    world.project.succeed("config", "set", "--secret", "INDEX", "value-of-the-build-secret")
    packages = {"apt": ["jq=1.6"], "pip": ["polars[numpy]==1.31.0"], "npm": ["@scope/tool@2.0.0"]}
    world.set(**base, **packages, build_secrets=["INDEX"])
    shown = world.project.fail("up", "--yes", "--skip-preview")
    # BuildKit tells why only when the step's own output reaches it before the step's end does.
    assert re.search(r'process "/bin/sh -c apt-get update .*jq=1\.6.*" did not complete successfully', shown), shown
    assert "value-of-the-build-secret" not in shown
    assert world.deployed() == {}
