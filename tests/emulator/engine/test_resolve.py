"""From a reference to what the engine takes: images in the emulated registry."""

import json
from typing import Any

import pytest

from emulator.engine.oci import ImageError
from emulator.runtime.sandboxes.images import resolve
from emulator.services.registry import credentials
from testbed.emulator.control import Control
from tests.emulator.services.registry.oci import INDEX, MANIFEST, Registry, digest


@pytest.fixture
def seeded(raw: Control, account: str) -> dict[str, Any]:
    body = {"repository": f"{account}/box", "tags": ["v1"], "entrypoint": ["/serve"], "files": {}}
    made: dict[str, Any] = raw.control("POST", "/registry/images", json=body)
    return made


def refused(raw: Control, account: str, name: str) -> str:
    with pytest.raises(ImageError) as caught:
        resolve(raw.emulator.state, account, name)
    return str(caught.value)


def test_by_tag_and_by_digest(raw: Control, account: str, seeded: dict[str, Any]):
    state = raw.emulator.state
    by_tag = resolve(state, account, f"registry.cloudflare.com/{account}/box:v1")
    by_digest = resolve(state, account, f"registry.cloudflare.com/{account}/box@{seeded['digest']}")
    assert by_tag.digest == by_digest.digest == seeded["digest"]
    assert by_tag.config["config"]["Entrypoint"] == ["/serve"]
    assert by_tag.layers == by_digest.layers
    assert all(layer.blob.exists() and layer.diff_id.startswith("sha256:") for layer in by_tag.layers)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "registry.cloudflare.com/ACCOUNT/box:v2",
        "registry.cloudflare.com/ACCOUNT/none:v1",
        "registry.cloudflare.com/ACCOUNT/box@sha256:" + "0" * 64,
        "not a reference",
    ],
)
@pytest.mark.usefixtures("seeded")
def test_what_is_not_there(raw: Control, account: str, name: str):
    name = name.replace("ACCOUNT", account)
    assert refused(raw, account, name) == f"No such image available named {name}"


@pytest.mark.usefixtures("seeded")
def test_images_of_other_accounts_are_not_there(raw: Control, account: str):
    name = f"registry.cloudflare.com/{account}/box:v1"
    assert refused(raw, "0" * 32, name) == f"No such image available named {name}"


def test_other_registries_are_not_reached(raw: Control, account: str):
    name = "registry.example/team/box:1"
    expected = f"No such image available named {name}: this machine reaches no registry but its own"
    assert refused(raw, account, name) == expected


def test_an_index_gives_the_image_for_linux(raw: Control, account: str, seeded: dict[str, Any]):
    registry = _registry(raw, account)
    image = registry("GET", f"{account}/box/manifests/{seeded['digest']}", headers={"accept": MANIFEST}).content
    described = {"mediaType": MANIFEST, "digest": seeded["digest"], "size": len(image)}
    other = {**described, "platform": {"os": "windows", "architecture": "amd64"}}
    entries = [other, {**described, "platform": {"os": "linux", "architecture": "arm64"}}]
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}
    registry.push_manifest(f"{account}/box", "many", index)
    found = resolve(raw.emulator.state, account, f"registry.cloudflare.com/{account}/box:many")
    assert found.config["config"]["Entrypoint"] == ["/serve"]
    registry.push_manifest(f"{account}/box", "foreign", {**index, "manifests": [other]})
    name = f"registry.cloudflare.com/{account}/box:foreign"
    assert refused(raw, account, name) == f"No such image available named {name}"


@pytest.mark.parametrize("first", ["arm64", "amd64"])
def test_an_index_gives_the_image_for_the_machine(raw: Control, account: str, first: str):
    registry = _registry(raw, account)
    entries = []
    for architecture in (first, "s390x", "amd64" if first == "arm64" else "arm64"):
        body = {"repository": f"{account}/many", "tags": [architecture], "entrypoint": [architecture], "files": {}}
        made = raw.control("POST", "/registry/images", json=body)
        image = registry("GET", f"{account}/many/manifests/{made['digest']}", headers={"accept": MANIFEST}).content
        described = {"mediaType": MANIFEST, "digest": made["digest"], "size": len(image)}
        entries.append({**described, "platform": {"os": "linux", "architecture": architecture}})
    registry.push_manifest(f"{account}/many", "all", {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})
    name = f"registry.cloudflare.com/{account}/many:all"
    for machine, expected in (("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", first)):
        assert resolve(raw.emulator.state, account, name, machine).config["config"]["Entrypoint"] == [expected]


@pytest.mark.parametrize("content", ["/etc", "../../..", "sha256:../../../etc", "sha256:" + "0" * 63 + "\n", 7])
def test_a_layer_described_by_a_path_is_refused(raw: Control, account: str, content: Any):
    """The folder of a layer is named by what the image says of it."""
    name = _push(raw, account, {"rootfs": {"diff_ids": [content]}})
    told = refused(raw, account, name)
    if isinstance(content, str):
        assert told == f"the image {name} describes a layer as {content!r}, which is no digest: push it again"
    else:
        assert told == f"the image {name} is not described as OCI images are: push it again"


@pytest.mark.parametrize("config", [[], {"rootfs": []}, {"rootfs": {"diff_ids": 3}}])
def test_an_image_that_is_not_described_as_images_are(raw: Control, account: str, config: Any):
    name = _push(raw, account, config)
    assert refused(raw, account, name) == f"the image {name} is not described as OCI images are: push it again"


def test_an_image_that_does_not_describe_its_layers(raw: Control, account: str):
    registry = _registry(raw, account)
    registry.push_image(f"{account}/odd", "v1", b"one layer")
    name = f"registry.cloudflare.com/{account}/odd:v1"
    assert refused(raw, account, name) == f"the image {name} names 1 layers and describes 0"


def test_an_image_that_was_deleted(raw: Control, account: str, seeded: dict[str, Any]):
    name = f"registry.cloudflare.com/{account}/box@{seeded['digest']}"
    assert resolve(raw.emulator.state, account, name).digest == seeded["digest"]
    deleted = _registry(raw, account)("DELETE", f"{account}/box/manifests/{seeded['digest']}")
    assert deleted.status_code == 202, deleted.text
    assert refused(raw, account, name) == f"No such image available named {name}"


def _push(raw: Control, account: str, config: Any) -> str:
    """An image of one layer with this configuration; its reference."""
    registry, repository = _registry(raw, account), f"{account}/hostile"
    layer, content = b"one layer", json.dumps(config).encode()
    for each in (layer, content):
        registry.push_blob(repository, each)
    described = {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest(content)}
    registry.push_image(repository, "v1", layer, config={**described, "size": len(content)})
    return f"registry.cloudflare.com/{repository}:v1"


def _registry(raw: Control, account: str) -> Registry:
    password = credentials.mint(raw.emulator.state, account, ["pull", "push"], 60)
    return Registry(raw.emulator.origin, password)
