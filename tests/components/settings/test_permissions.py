"""What the token of a deployment needs follows from the settings, and from nothing else."""

from typing import Any

import pytest

from components import SandboxSettings
from components import cloudflare as declared
from components.cloudflare.bridged_resource import BridgedResource
from components.platform.permissions import NEEDED, allows, serves
from components.settings.permissions import needs, zones

BARE: dict[str, Any] = {
    "storage": {
        "files": {"enabled": False},
        "backups": {"enabled": False},
        "artifacts": {"enabled": False},
        "conversations": {"enabled": False},
    }
}
BUCKET = {"existing": {"buckets": {"OLD": {"name": "old-one"}}}}
SPACE = {"existing": {"namespaces": {"OLD": {"id": "a" * 32, "title": "old"}}}}
ID = "b" * 32


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({}, set()),
        ({"storage": BARE["storage"] | {"events": {"enabled": True}}}, {"Queues Write"}),
        ({"storage": BARE["storage"] | BUCKET}, {"Workers R2 Storage Read"}),
        ({"storage": BARE["storage"] | SPACE}, {"Workers KV Storage Read"}),
        ({"storage": BARE["storage"] | {"files": {"enabled": True}} | BUCKET}, {"Workers R2 Storage Write"}),
        (
            {"storage": BARE["storage"] | {"backups": {"enabled": True}}},
            {"Workers R2 Storage Write", "Account API Tokens Write"},
        ),
        ({"storage": BARE["storage"] | {"backups": {"token": False}}}, {"Workers R2 Storage Write"}),
        (
            {"domain": {"hostname": "a.example"}},
            {"DNS Write (a.example)", "Workers Routes Write (a.example)", "Zone Read (a.example)"},
        ),
        (
            {"domain": {"hostname": "a.example", "zone_id": ID}},
            {"DNS Write (a.example)", "Workers Routes Write (a.example)"},
        ),
        (
            {"domain": {"hostname": "p.a.example", "zone": "a.example", "zone_id": ID}},
            {"DNS Write (a.example)", "Workers Routes Write (a.example)", "SSL and Certificates Write (a.example)"},
        ),
        ({"worker": {"routes": [{"pattern": "a/*", "zone_id": ID}]}}, {f"Workers Routes Write ({ID})"}),
    ],
)
def test_each_part_needs_its_own_and_no_more(settings: dict[str, Any], more: set[str]):
    parsed = SandboxSettings.parse({**BARE, **settings})
    assert {each.label for each in needs(parsed)} == {"Workers Scripts Write", "Workers Containers Write"} | more
    assert {each.zone for each in needs(parsed) if each.zone} <= zones(parsed).keys()


def test_every_resource_of_this_package_has_its_permission():
    made = [each for each in vars(declared).values() if isinstance(each, type) and issubclass(each, BridgedResource)]
    assert len(made) > 10
    assert [each.resource_type for each in made if each.resource_type not in NEEDED] == []


def test_writing_includes_reading_of_the_same_product_and_place():
    held = frozenset({"DNS Write (a.example)", "Queues Read"})
    assert allows(held, "DNS Read (a.example)")
    assert not allows(held, "DNS Read (b.example)")
    assert not allows(held, "Queues Write")
    assert serves("DNS Read (a.example)", held)
    assert not serves("Queues Write", held)
