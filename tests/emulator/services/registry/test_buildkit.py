"""The registry judged by the real BuildKit: docker-build on the real engine builds, pushes and pulls.

Three images: one from nothing, one on a seeded stand-in for a Docker Hub image, and, by another daemon that knows
nothing yet, one on the first, which must therefore be pulled back with the minted credentials.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.testing import Running
from tests.emulator.services.registry.buildkit import daemon
from tests.emulator.services.registry.oci import Registry

PROGRAM = """
import json
import pulumi
import pulumi_docker_build as build

config = pulumi.Config()
host, account = config.require("host"), config.require("account")
login = build.RegistryArgs(address=host, username="v1", password=config.require_secret("password"))


def image(name, dockerfile, **more):
    return build.Image(
        name,
        tags=[f"{host}/{account}/{name}:v1"],
        dockerfile=build.DockerfileArgs(inline=dockerfile),
        context=build.BuildContextArgs(location="context"),
        platforms=[build.Platform.LINUX_AMD64],
        builder=build.BuilderConfigArgs(name="emulated"),
        registries=[login],
        push=True,
        opts=pulumi.ResourceOptions(**more),
    )


first = image("scratch", "FROM scratch\\nCOPY hello /hello\\nLABEL made=here\\n")
image("based", "FROM docker.io/cloudflare/sandbox:0.12\\nCOPY hello /hello\\n")
if config.get_bool("again"):
    image("again", f"FROM {host}/{account}/scratch:v1\\nCOPY hello /twice\\n", depends_on=[first])
pulumi.export("digest", first.digest)
"""


def docker_config(folder: Path, address: str) -> None:
    """Tell docker-build of a builder that is already running."""
    instances = folder / "buildx" / "instances"
    instances.mkdir(parents=True, exist_ok=True)
    node = {"Name": "emulated0", "Endpoint": address, "Platforms": None, "DriverOpts": None, "Flags": None}
    (instances / "emulated").write_text(
        json.dumps({"Name": "emulated", "Driver": "remote", "Nodes": [node], "Dynamic": False}), encoding="utf-8"
    )


@pytest.mark.engine
def test_build_push_and_pull(emulator: Running, raw: Any, tools_provided: Any, isolated_engine: Any, make_project: Any):
    host, account = emulator.origin.removeprefix("http://"), emulator.account_id
    base = {"repository": "cloudflare/sandbox", "tags": ["0.12"], "env": ["BASE=yes"]}
    raw.control("POST", "/registry/images", json=base)
    password = raw.api(
        "POST",
        f"/accounts/{account}/containers/registries/registry.cloudflare.com/credentials",
        json={"expiration_minutes": 15, "permissions": ["push", "pull"]},
    ).json()["result"]["password"]
    project = make_project(PROGRAM, name="images")
    (project.folder / "context").mkdir()
    (project.folder / "context" / "hello").write_text("hello", encoding="utf-8")
    for name, value in (("host", host), ("account", account)):
        project.succeed("config", "set", name, value)
    project.succeed("config", "set", "--secret", "password", password)
    builders = Path(isolated_engine.env["DOCKER_CONFIG"])
    with daemon(tools_provided.buildkit, host) as address:
        docker_config(builders, address)
        project.up()
        digest = project.succeed("stack", "output", "digest").strip()
        assert "3 unchanged" in project.up()
    project.succeed("config", "set", "again", "true")
    raw.control("DELETE", "/journal")
    with daemon(tools_provided.buildkit, host) as address:
        docker_config(builders, address)
        project.up()
    pulled = {
        each["path"] for each in raw.control("GET", "/journal") if (each["method"], each["status"]) == ("GET", 200)
    }
    assert f"/v2/{account}/scratch/manifests/{digest}" in pulled
    registry = Registry(emulator.origin, password)
    assert registry("GET", f"{account}/scratch/manifests/v1").headers["docker-content-digest"] == digest
    assert config_of(registry, f"{account}/scratch")["config"]["Labels"] == {"made": "here"}
    based = config_of(registry, f"{account}/based")
    assert based["config"]["Labels"]["stand-in"] == "true"
    assert "BASE=yes" in based["config"]["Env"]
    assert len(config_of(registry, f"{account}/again")["rootfs"]["diff_ids"]) == 2
    assert not [each for each in raw.control("GET", "/journal") if each["status"] >= 500]


def config_of(registry: Registry, repository: str) -> Any:
    """The configuration of the image for linux/amd64, through an index if there is one."""
    manifest = registry("GET", f"{repository}/manifests/v1").json()
    if "manifests" in manifest:
        entry = next(each for each in manifest["manifests"] if each["platform"]["architecture"] == "amd64")
        manifest = registry("GET", f"{repository}/manifests/{entry['digest']}").json()
    for layer in manifest["layers"]:
        content = registry("GET", f"{repository}/blobs/{layer['digest']}").content
        assert len(content) == layer["size"]
    return registry("GET", f"{repository}/blobs/{manifest['config']['digest']}").json()
