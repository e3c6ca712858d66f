"""Every example on the real engine: up, a second up that changes nothing, destroy that leaves nothing."""

import base64
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.cli import main
from tests.engine.cloud import Cloud, Program
from tools.paths import ROOT

pytestmark = pytest.mark.engine

EXAMPLES = ROOT / "examples"


def settings_of(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())["config"][
        "sandbox-stack:settings"
    ]
    return document


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
    cloud.control(
        "POST",
        "/registry/images",
        repository="cloudflare/sandbox",
        tags=["0.12.10-python"],
        files={"/bin/sh": {"content": content, "mode": 0o755}},
    )


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


def test_minimal(program: Program):
    program.settings({**settings_of("minimal"), "environment": "throw-away"})
    outputs = live_and_die(program)
    assert outputs["worker_name"] == "sandbox-test"
    assert outputs["api_url"].startswith("https://sandbox-test.")


def test_production(program: Program):
    program.settings({**settings_of("production"), "environment": "throw-away"})
    program.project.succeed("config", "set", "--secret", "MODEL_API_KEY", "hunter2")
    outputs = live_and_die(program)
    assert (outputs["api_url"], outputs["preview_hostname"]) == ("https://api.previews.example", "previews.example")
    assert outputs["service_tokens"] == "[secret]"


def test_production_is_protected():
    assert settings_of("production")["environment"] == "lasting"


@pytest.mark.long
def test_data_science(program: Program):
    seed_python_base(program.cloud)
    program.settings(settings_of("data-science"))
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
    assert main(["import", str(folder), "--offline", "--sdk-version", "0.12.10"]) == 0
    assert (folder / "Pulumi.production.yaml").exists()
    assert main(["check", str(folder)]) == 0


def test_every_example_is_run():
    names = {path.stem for path in EXAMPLES.glob("*.yaml")} | {
        path.name for path in EXAMPLES.iterdir() if path.is_dir()
    }
    here = Path(__file__).read_text() + Path(__file__).with_name("test_installed.py").read_text()
    assert [name for name in sorted(names) if f"test_{name.replace('-', '_')}" not in here] == []
