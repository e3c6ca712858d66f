"""The real wrangler with containers: deploy twice, change the image, both policies, image and container commands."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from emulator.testing import Running

CODE = """
import { DurableObject } from "cloudflare:workers";
export class Sandbox extends DurableObject {}
export default { fetch() { return new Response("sandbox"); } };
"""
BOUND = {
    "durable_objects": {"bindings": [{"name": "SANDBOX", "class_name": "Sandbox"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Sandbox"]}],
}


@pytest.fixture
def image(raw: Any, account: str) -> Any:
    """Put an image into the registry; its digest."""

    def make(tag: str) -> str:
        body = {"repository": f"{account}/sandbox", "tags": [tag], "labels": {"tag": tag}}
        return str(raw.control("POST", "/registry/images", json=body)["digest"])

    return make


def registry_env(emulator: Running) -> dict[str, str]:
    """How wrangler is told where the managed registry is."""
    return {"CLOUDFLARE_CONTAINER_REGISTRY": emulator.origin.removeprefix("http://")}


def config(container: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": "boxes",
        "main": "index.js",
        "compatibility_date": "2026-11-01",
        "containers": [{"class_name": "Sandbox", **container}],
        **BOUND,
        **more,
    }


def calls(raw: Any) -> list[str]:
    """Operations of Containers in the journal, which is then cleared; every call of wrangler must be known."""
    journal = raw.control("GET", "/journal")
    assert [f"{each['method']} {each['path']}" for each in journal if not each["operation"]] == []
    raw.control("DELETE", "/journal")
    return [each["operation"] for each in journal if each["operation"].startswith("containers.")]


def applications(raw: Any, account: str) -> Any:
    return raw.api("GET", f"/accounts/{account}/containers/applications").json()["result"]


def test_deploy_twice_then_change_then_delete(wrangler: Any, raw: Any, account: str, image: Any, tmp_path: Path):
    image("v1")
    image("v2")
    reference = f"registry.cloudflare.com/{account}/sandbox"
    container = {"image": f"{reference}:v1", "max_instances": 5, "instance_type": "basic"}
    folder = wrangler.project(tmp_path / "boxes", config(container), {"index.js": CODE})
    raw.control("DELETE", "/journal")
    assert "Created application" in wrangler("deploy", cwd=folder).stdout
    assert calls(raw) == ["containers.list_applications", "containers.create_application"]
    (made,) = applications(raw, account)
    assert (made["name"], made["configuration"]["image"], made["version"]) == ("boxes-sandbox", f"{reference}:v1", 1)
    assert made["constraints"] == {"tiers": [1, 2]}
    raw.control("DELETE", "/journal")
    assert "no changes" in wrangler("deploy", cwd=folder).stdout.lower()
    assert calls(raw) == ["containers.list_applications"]
    wrangler.project(folder, config({**container, "image": f"{reference}:v2", "max_instances": 7}), {})
    assert "Modified application" in wrangler("deploy", cwd=folder).stdout
    assert calls(raw)[-2:] == ["containers.edit_application", "containers.create_rollout"]
    raw.advance(60)
    (changed,) = applications(raw, account)
    assert (changed["version"], changed["max_instances"]) == (2, 7)
    assert changed["configuration"]["image"] == f"{reference}:v2"
    listed = wrangler("containers", "list", "--json", cwd=folder).stdout
    assert json.loads(listed)[0]["id"] == changed["id"]
    assert "boxes-sandbox" in wrangler("containers", "info", changed["id"], cwd=folder).stdout
    deleted = wrangler("delete", "--force", cwd=folder)
    assert changed["id"] in deleted.stdout + deleted.stderr  # it warns that the application goes on
    assert [each["id"] for each in applications(raw, account)] == [changed["id"]]
    wrangler("containers", "delete", changed["id"], cwd=folder)
    raw.advance(4)
    assert applications(raw, account) == []


def test_the_registry_by_its_address(wrangler: Any, raw: Any, account: str, image: Any, tmp_path: Path):
    image("v1")
    env = registry_env(wrangler.emulator)
    host = env["CLOUDFLARE_CONTAINER_REGISTRY"]
    reference = f"{host}/{account}/sandbox:v1"
    folder = wrangler.project(tmp_path / "boxes", config({"image": reference}), {"index.js": CODE})
    for _ in range(2):
        wrangler("deploy", cwd=folder, env=env)
    (made,) = applications(raw, account)
    assert made["configuration"]["image"] == reference
    assert (made["max_instances"], made["configuration"]["instance_type"]) == (20, "lite")
    credentials = wrangler("containers", "registries", "credentials", "--push", "--json", cwd=folder, env=env)
    assert json.loads(credentials.stdout)["registry_host"] == host
    assert host in wrangler("containers", "registries", "list", "--json", cwd=folder, env=env).stdout


def test_a_managed_application(wrangler: Any, raw: Any, account: str, image: Any, tmp_path: Path):
    raw.control("PUT", "/containers/durations", json={"preparation": 0})
    env = registry_env(wrangler.emulator)
    host = env["CLOUDFLARE_CONTAINER_REGISTRY"]
    container = {
        "name": "managed",
        "scheduling_policy": "durable_object",
        "images": {"main": {"image": f"{host}/{account}/sandbox@{image('v1')}"}},
    }
    folder = wrangler.project(tmp_path / "boxes", config(container), {"index.js": CODE})
    raw.control("DELETE", "/journal")
    for _ in range(2):
        wrangler("deploy", cwd=folder, env=env)
    found = calls(raw)
    assert found.count("containers.create_application") == 1
    assert found.count("containers.prepare_image") == 2
    (made,) = applications(raw, account)
    assert (made["id"], made["scheduling_policy"]) == (made["durable_objects"]["namespace_id"], "durable_object")


def test_an_image_built_and_pushed_by_wrangler(wrangler: Any, raw: Any, account: str, tmp_path: Path):
    docker = tmp_path / "docker"
    script = Path(__file__).with_name("fake_docker.py")
    docker.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    docker.chmod(0o755)
    env = {
        **registry_env(wrangler.emulator),
        "WRANGLER_DOCKER_BIN": str(docker),
        "FAKE_DOCKER": str(tmp_path / "docker.json"),
    }
    files = {"index.js": CODE, "Dockerfile": "FROM scratch\n"}
    folder = wrangler.project(tmp_path / "boxes", config({"image": "./Dockerfile"}), files)
    raw.control("DELETE", "/journal")
    wrangler("deploy", cwd=folder, env=env)
    first = calls(raw)
    assert first == [
        f"containers.{each}" for each in ("get_me", "generate_credentials", "list_applications", "create_application")
    ]
    (made,) = applications(raw, account)
    host = env["CLOUDFLARE_CONTAINER_REGISTRY"]
    assert made["configuration"]["image"].startswith(f"{host}/{account}/boxes-sandbox@sha256:")
    wrangler.project(folder, config({"image": "./Dockerfile"}), {"Dockerfile": "FROM scratch\nLABEL a=b\n"})
    wrangler("deploy", cwd=folder, env=env)
    raw.advance(60)
    (changed,) = applications(raw, account)
    assert changed["version"] == 2
    assert changed["configuration"]["image"] != made["configuration"]["image"]


def test_refusals_reach_the_user(wrangler: Any, account: str, image: Any, tmp_path: Path):
    image("v1")
    missing = {"image": f"registry.cloudflare.com/{account}/sandbox:none"}
    folder = wrangler.project(tmp_path / "boxes", config(missing), {"index.js": CODE})
    failed = wrangler("deploy", cwd=folder, ok=False)
    assert failed.returncode != 0
    assert "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE" in failed.stdout + failed.stderr
    custom = {"vcpu": 1, "memory_mib": 2048, "disk_mb": 9000}
    wrong = {"image": f"registry.cloudflare.com/{account}/sandbox:v1", "instance_type": custom}
    wrangler.project(folder, config(wrong), {})
    failed = wrangler("deploy", cwd=folder, ok=False)
    assert failed.returncode != 0
    assert "at least 3 GiB of memory per vCPU" in failed.stdout + failed.stderr
