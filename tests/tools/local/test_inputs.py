"""What the local stack's settings get from this machine."""

from dataclasses import replace
from typing import Any

import pytest

from components.settings import SandboxSettings
from tools.errors import SetupError
from tools.local import inputs
from tools.local.bases import Bases
from tools.local.builder import Builder
from tools.local.inputs import Machine

DIGESTS = {"default": "0" * 64, "python": "2" * 64}
BASES = Bases("", "", lambda variant: f"docker.io/cloudflare/sandbox@sha256:{DIGESTS[variant]}", tuple(DIGESTS))
READY = BASES.ready("default")
OWN = f"docker.io/library/debian@sha256:{'1' * 64}"


def whole(built_by: Builder, document: dict[str, Any]) -> dict[str, Any]:
    return inputs.completed(document, Machine(built_by, BASES, "0" * 32, 8787, "key"))


def completed(built_by: Builder, **document: Any) -> SandboxSettings:
    return SandboxSettings.parse(whole(built_by, document))


def test_every_kind_of_sandbox_gets_the_builder():
    further = {"py": {"class_name": "Py", "image": {"ports": [8080]}}, "js": {"class_name": "Js", "image": None}}
    found = completed(Builder(name="here"), image={"ports": [9000]}, further_sandboxes=further)
    assert [(kind.name, kind.image.builder.name, kind.image.ports) for kind in found.kinds] == [
        ("main", "here", (9000,)),
        ("js", "here", ()),
        ("py", "here", (8080,)),
    ]


def test_without_a_builder_every_kind_gets_the_ready_image():
    further = {"py": {"class_name": "Py", "image": {"variant": "python"}}}
    found = completed(Builder(reason="none"), image={"ports": [9000]}, further_sandboxes=further)
    assert [kind.image.reference for kind in found.kinds] == [READY, BASES.ready("python")]


@pytest.mark.parametrize(("mounts", "variables"), [(True, {}), (False, {"LOCAL_BUCKETS": "true"})])
def test_files_are_copied_only_where_nothing_can_be_mounted(mounts: bool, variables: dict[str, str]):
    machine = Machine(Builder(name="here"), BASES, "0" * 32, 8787, "key", mounts=mounts)
    whole = inputs.completed({}, machine)
    assert (whole.get("worker") or {}).get("variables", {}) == variables


def test_a_variant_that_cannot_be_had_is_refused_before_anything_is_built():
    with pytest.raises(SetupError) as caught:
        completed(Builder(name="here"), image={"variant": "musl"})
    assert str(caught.value) == (
        "the image variant musl cannot be had: Docker Hub does not answer, and there is no stand-in for this variant. "
        "Use one of default, python meanwhile"
    )


def test_packages_are_refused_where_the_base_has_no_operating_system(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(f"{__name__}.BASES", replace(BASES, has_system=False))
    with pytest.raises(SetupError) as caught:
        completed(Builder(name="here"), image={"apt": ["jq=1.6"], "pip": ["idna==3.10"], "npm": []})
    assert str(caught.value) == (
        "image.apt and image.pip cannot be installed: the base image on this machine has no operating system, as "
        "neither Docker Hub nor Debian is reached. Remove the setting meanwhile, or use another machine"
    )
    assert completed(Builder(name="here"), image={"ports": [9000]}).image.ports == (9000,)


@pytest.mark.parametrize("built_by", [Builder(name="here"), Builder(reason="none")])
def test_an_image_that_is_ready_stays(built_by: Builder):
    assert completed(built_by, image={"reference": OWN}).image.reference == OWN


def test_keys_of_ones_own_stay_beside_the_local_one():
    mine = {"sha256": "c" * 64, "tenant": "team", "scopes": ["exec"]}
    found = completed(Builder(name="here"), access={"api_keys": {"team": mine}})
    assert {name: key.tenant for name, key in found.access.api_keys.items()} == {"team": "team", "local": "local"}
    assert completed(Builder(name="here"), access=None).access.api_keys.keys() == {"local"}


def test_the_api_is_told_where_the_emulator_serves_it_and_other_hosts_are_left_alone():
    here = {"hostname": "sandbox.localhost", "api_hostname": "api.sandbox.localhost"}
    found = completed(Builder(name="here"), domain=here).domain
    assert found is not None
    assert found.api_url == "http://api.sandbox.localhost:8787"
    elsewhere = completed(Builder(name="here"), domain={"hostname": "previews.example"}).domain
    assert elsewhere is not None
    assert elsewhere.local_port is None


def test_ids_of_an_account_elsewhere_are_not_taken_along():
    elsewhere = {"hostname": "previews.example", "zone_id": "f" * 32}
    found = completed(Builder(name="here"), account_id="a" * 32, domain=elsewhere)
    assert (found.account_id, found.domain and found.domain.zone_id) == ("0" * 32, None)
    assert inputs.zones({"domain": elsewhere}) == ["previews.example"]
    assert inputs.zones({"domain": {**elsewhere, "zone": "example"}}) == ["example"]
    assert inputs.zones({}) == []


def test_what_was_there_before_the_stack_elsewhere_is_made_here():
    buckets = {"FILES": {"name": "theirs"}}
    assert completed(Builder(name="here"), storage={"existing": {"buckets": buckets}}).storage.existing.create
    assert not completed(Builder(name="here")).storage.existing.create


def test_routes_that_exist_elsewhere_are_made_here_in_zones_that_the_account_gets():
    ids = {"zone_id": "f" * 32, "id": "e" * 32}
    routes = [{"pattern": "https://*.shop.example/api/*", **ids}, {"pattern": "a.b.example/*", "zone": "b.example"}]
    found = completed(Builder(name="here"), worker={"routes": routes}).worker.routes
    assert [(each.pattern, each.zone, each.zone_id, each.id) for each in found] == [
        ("https://*.shop.example/api/*", "shop.example", None, None),
        ("a.b.example/*", "b.example", None, None),
    ]
    document = {"domain": {"hostname": "b.example"}, "worker": {"routes": routes}}
    assert inputs.zones(document) == ["b.example", "shop.example"]


@pytest.mark.parametrize(
    "document",
    [
        {"image": "debian"},
        {"domain": ["previews.example"]},
        {"worker": {"variables": []}},
        {"worker": {"routes": "example.com/*"}},
        {"worker": {"routes": ["example.com/*"]}},
        {"worker": {"routes": [None]}},
        {"storage": {"existing": ["bucket"]}},
        {"access": {"api_keys": "mine"}},
        {"further_sandboxes": {"py": None}},
        {"further_sandboxes": []},
    ],
)
def test_settings_of_a_wrong_form_are_left_for_the_program_to_refuse(document: dict[str, Any]):
    assert whole(Builder(name="here"), document) is document
    assert inputs.zones(document) == []
