"""What the local stack's settings get from this machine."""

from typing import Any

import pytest

from components.settings import SandboxSettings
from tools import builder, local_inputs
from tools.builder import Builder
from tools.emulated import Emulated

CLOUD = Emulated("http://127.0.0.1:1/client/v4", "a" * 32, "token")
READY = f"docker.io/cloudflare/sandbox@sha256:{'0' * 64}"
OWN = f"docker.io/library/debian@sha256:{'1' * 64}"


@pytest.fixture(autouse=True)
def _nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "seed", lambda *_: READY)
    monkeypatch.setattr(local_inputs, "_key", lambda: "key")


def completed(built_by: Builder, **document: Any) -> SandboxSettings:
    whole = local_inputs.completed({"sandbox-stack:settings": document}, CLOUD, built_by)
    return SandboxSettings.parse(whole["sandbox-stack:settings"])


def test_every_kind_of_sandbox_gets_the_builder():
    further = {"py": {"class_name": "Py", "image": {"ports": [8080]}}, "js": {"class_name": "Js", "image": None}}
    found = completed(Builder(name="here"), image={"ports": [9000]}, further_sandboxes=further)
    assert [(kind.name, kind.image.builder.name, kind.image.ports) for kind in found.kinds] == [
        ("main", "here", (9000,)),
        ("js", "here", ()),
        ("py", "here", (8080,)),
    ]


def test_without_a_builder_every_kind_gets_the_ready_image():
    found = completed(Builder(reason="none"), image={"ports": [9000]}, further_sandboxes={"py": {"class_name": "Py"}})
    assert [kind.image.reference for kind in found.kinds] == [READY, READY]


@pytest.mark.parametrize("built_by", [Builder(name="here"), Builder(reason="none")])
def test_an_image_that_is_ready_stays(built_by: Builder):
    assert completed(built_by, image={"reference": OWN}).image.reference == OWN


def test_keys_of_ones_own_stay_beside_the_local_one():
    mine = {"sha256": "c" * 64, "tenant": "team", "scopes": ["exec"]}
    found = completed(Builder(name="here"), access={"api_keys": {"team": mine}})
    assert {name: key.tenant for name, key in found.access.api_keys.items()} == {"team": "team", "local": "local"}
    assert completed(Builder(name="here"), access=None).access.api_keys.keys() == {"local"}
