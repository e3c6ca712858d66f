"""Settings of examples on the real engine: up, a second up that changes nothing, destroy that leaves nothing.

tests/examples types what their READMEs show; here the account is looked at, too.
"""

import base64
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.cli import main
from components.platform.sdk import SDK_VERSION
from testbed.cloud import Cloud, Program
from tests import stack_files
from tools.paths import ROOT

pytestmark = pytest.mark.engine

EXAMPLES = ROOT / "examples"


LEAST: dict[str, Any] = {
    "access": {"api_keys": {"team": {"sha256": "6b" * 32, "tenant": "team", "scopes": ["exec", "files:*"]}}},
    "worker": {"workers_dev": True},
}
DATA_SCIENCE: dict[str, Any] = {
    "name": "data",
    "environment": "throw-away",
    "image": {
        "variant": "python",
        "pip": ["polars==1.31.0", "duckdb==1.3.1"],
        "environment": {"PYTHON_POOL_MIN_SIZE": "1"},
    },
    "container": {"instance_type": "standard-2", "max_instances": 5},
    "further_sandboxes": {
        "shell": {"class_name": "SandboxShell", "container": {"instance_type": "lite", "max_instances": 20}}
    },
    "storage": {"files": {"cors_origins": ["https://notebooks.example.com"]}},
}


def settings_of(example: str) -> dict[str, Any]:
    return stack_files.settings(EXAMPLES / example / "Pulumi.production.yaml")


def stand_in_shell() -> bytes:
    """A program for linux/amd64 that ends at once and is content: no step of a build does anything with it."""
    code = bytes.fromhex("31ff b83c000000 0f05".replace(" ", ""))
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += (2).to_bytes(2, "little") + (62).to_bytes(2, "little") + (1).to_bytes(4, "little")
    head += (0x400078).to_bytes(8, "little") + (64).to_bytes(8, "little") + bytes(8) + bytes(4)
    head += b"".join(each.to_bytes(2, "little") for each in (64, 56, 1, 0, 0, 0))
    size = 120 + len(code)
    segment = (1).to_bytes(4, "little") + (5).to_bytes(4, "little") + bytes(8)
    segment += (0x400000).to_bytes(8, "little") * 2 + size.to_bytes(8, "little") * 2 + (4096).to_bytes(8, "little")
    return head + segment + code


def seed_python_base(cloud: Cloud) -> None:
    content = base64.b64encode(stand_in_shell()).decode()
    image = {
        "repository": "cloudflare/sandbox",
        "tags": [f"{SDK_VERSION}-python"],
        "files": {"/bin/sh": {"content": content, "mode": 0o755}},
    }
    cloud.control("POST", "/registry/images", json=image)


def live_and_die(program: Program) -> dict[str, Any]:
    """Deploy twice, look, and destroy; the outputs."""
    program.up()
    program.cloud.calls()
    program.up("--expect-no-changes")
    assert program.cloud.writes() == []
    outputs = program.outputs()
    program.destroy()
    assert program.cloud.deployed() == {}
    return outputs


def test_the_least_that_an_account_needs(program: Program):
    program.settings({**LEAST, "environment": "throw-away"})
    outputs = live_and_die(program)
    assert outputs["worker_name"] == "sandbox-test"
    assert outputs["api_url"].startswith("https://sandbox-test.")


@pytest.mark.long
def test_packages_and_a_further_kind(program: Program):
    seed_python_base(program.cloud)
    program.settings(DATA_SCIENCE)
    outputs = live_and_die(program)
    assert sorted(outputs["images"]) == ["main", "shell"]
    assert sorted(outputs["application_ids"]) == ["main", "shell"]


def test_promotion_deploys_the_very_image_another_stack_built(program: Program):
    program.settings({"name": "staging", "environment": "throw-away"})
    program.up()
    tested = program.outputs()["images"]["main"]

    document = settings_of("promotion")
    assert document["image"].keys() == {"reference"}
    program.project.succeed("stack", "init", "production")
    stack = program.project.folder / "Pulumi.production.yaml"
    promoted = {**document, "environment": "throw-away", "image": {"reference": tested}}
    kept = yaml.safe_load(stack.read_text())
    stack.write_text(yaml.safe_dump({**kept, "config": {"sandbox-stack:settings": promoted}}))
    program.cloud.calls()
    program.up()
    assert program.outputs()["images"]["main"] == tested
    pushed = [each for each in program.cloud.calls() if "/v2/" in each and not each.startswith(("GET", "HEAD"))]
    assert pushed == []
    program.destroy()
    program.project.succeed("stack", "select", "test")
    program.destroy()
    assert program.cloud.deployed() == {}


def test_from_wrangler(tmp_path: Path):
    """`tests/wrangler` takes such projects over with the real wrangler; this one is what docs/wrangler.md shows."""
    folder = shutil.copytree(EXAMPLES / "from-wrangler", tmp_path / "project")
    assert main(["import", str(folder), "--offline", "--sdk-version", SDK_VERSION]) == 0
    assert (folder / "Pulumi.production.yaml").exists()
    assert main(["check", str(folder)]) == 0
