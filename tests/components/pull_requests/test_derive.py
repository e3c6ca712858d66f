"""The settings of a request's stack share nothing with those of the stack that it is made like."""

from typing import Any

import pytest

from components.pull_requests.derive import derived
from components.settings import SandboxSettings

ID = "0" * 32
TEMPLATE: dict[str, Any] = {
    "name": "box",
    "environment": "lasting",
    "worker": {"name": "live", "adopt": True, "routes": [{"pattern": "example.com/*", "zone": "example.com"}]},
    "container": {"name": "live", "adopt": True, "max_instances": 3},
    "image": {"repository": "live", "keep": True},
    "further_sandboxes": {
        "python": {"class_name": "Python", "container": {"name": "live-python"}, "image": {"repository": "live"}}
    },
    "storage": {
        "files": {"name": "live-files"},
        "backups": {"name": "live-backups", "token_name": "live", "lock_days": 3},
        "conversations": {"name": "live"},
        "existing": {
            "buckets": {"DATA": {"name": "precious"}},
            "namespaces": {"STATE": {"id": ID, "title": "precious"}},
        },
    },
    "domain": {
        "hostname": "previews.example.com",
        "zone": "example.com",
        "api_hostname": "api.example.com",
        "bypass": ["status.previews.example.com"],
    },
    "access": {
        "zero_trust": {
            "team_domain": "team.cloudflareaccess.com",
            "emails": ["a@example.com"],
            "protect": ["api"],
            "names": {"api": "live"},
        }
    },
}


def test_nothing_of_the_other_stack_is_named_or_taken_over():
    found = derived(TEMPLATE, "box", "pr-7")
    settings = SandboxSettings.parse(found.document)
    assert settings.environment == "throw-away"
    said = str(found.document)
    assert [word for word in ("live", "precious", "status.previews") if word in said] == []
    assert settings.storage.existing.create
    assert settings.storage.existing.buckets["DATA"].name.startswith("box-pr-7-data-")
    assert (settings.worker.adopt, settings.container.adopt) == (False, False), "another stack's may be called so"
    assert not settings.image.keep, "nothing is left when it goes"
    assert settings.container.max_instances == 3
    assert settings.domain
    assert (settings.domain.hostname, settings.domain.api_hostname) == (
        "pr-7.previews.example.com",
        "api-pr-7.example.com",
    )
    assert [note.split("`")[1] for note in found.notes] == [
        "storage.backups.lock_days",
        "storage.existing",
        "worker.routes",
        "domain.bypass",
    ]


def test_the_template_is_left_as_it_is():
    before = str(TEMPLATE)
    derived(TEMPLATE, "box", "pr-7")
    assert str(TEMPLATE) == before


@pytest.mark.parametrize(
    ("domain", "hosts"),
    [
        ({"hostname": "example.com"}, ("pr-7.example.com", "example.com", None)),
        (
            {"hostname": "example.com", "api_hostname": "api.example.com"},
            ("pr-7.example.com", "example.com", "api.pr-7.example.com"),
        ),
        (
            {"hostname": "p.example.com", "zone": "example.com", "api_hostname": "example.com"},
            ("pr-7.p.example.com", "example.com", "pr-7.example.com"),
        ),
        (
            {"hostname": "p.example.com", "zone": "example.com", "api_hostname": "p.example.com"},
            ("pr-7.p.example.com", "example.com", "pr-7.p.example.com"),
        ),
    ],
)
def test_hosts(domain: dict[str, Any], hosts: tuple[str, str, str | None]):
    settings = SandboxSettings.parse(derived({"domain": domain}, "box", "pr-7").document)
    assert settings.domain
    assert (settings.domain.hostname, settings.domain.zone_name, settings.domain.api_hostname) == hosts


@pytest.mark.parametrize("broken", [{"worker": 1}, {"storage": {"existing": {"buckets": [1]}}}, {"domain": "x"}, {}])
def test_what_is_broken_is_left_to_the_judge(broken: dict[str, Any]):
    assert derived(broken, "box", "pr-7").document == {**broken, "environment": "throw-away"} or "storage" in broken


def test_bindings_that_lead_elsewhere_are_told():
    bindings = {"DB": {"type": "d1", "id": "x"}}
    found = derived({"worker": {"bindings": bindings}}, "box", "pr-7")
    assert found.document["worker"] == {"bindings": bindings}
    assert found.notes == ["`worker.bindings` `DB` lead to the same as in the other stack"]
