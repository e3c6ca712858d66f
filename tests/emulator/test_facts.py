"""The emulator says for itself what Cloudflare does, so that it can find the library wrong; here the two are compared.

It imports nothing of the library (`test_layers.py`): a fact that both took from one place would be wrong in both, and
no test against the emulator would notice. A difference found here is settled by Cloudflare's documentation, for both.
"""

import re
from dataclasses import astuple

import pytest

from components.platform import bindings, containers, r2
from emulator import permissions
from emulator.errors import ApiError
from emulator.services.containers import bodies, sizes
from emulator.services.containers import rules as applications
from emulator.services.r2 import bodies as buckets
from emulator.services.r2.rules import JURISDICTIONS
from emulator.services.registry.names import MANAGED_HOST
from emulator.services.workers import bindings as emulated

VALUES = {
    "algorithm": {"name": "HMAC"},
    "format": "raw",
    "json": {},
    "simple": {"limit": 1, "period": 60},
    "usages": ["sign"],
}
# What the API takes another field for, so that the emulator cannot demand it: wrangler 4.158 may send `stream`.
REPLACEABLE = {("pipelines", "pipeline")}


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def test_instances_have_the_same_sizes():
    assert {name: astuple(size) for name, size in sizes.TYPES.items()} == {
        name: astuple(size) for name, size in containers.INSTANCE_TYPES.items()
    }
    assert containers.INSTANCE_TYPE_ALIASES == sizes.ALIASES
    assert astuple(sizes.LARGEST) == astuple(containers.LARGEST)
    assert astuple(sizes.TOTAL) == astuple(containers.ACCOUNT_LIMITS)
    assert sizes.type_of(sizes.size_of({})) == containers.DEFAULT_INSTANCE_TYPE


@pytest.mark.parametrize("vcpu", [0.5, 1, 3, 4, 5])
@pytest.mark.parametrize("memory", [3071, 3072, 9216, 12288, 12289])
@pytest.mark.parametrize("disk", [20000, 20001])
def test_the_same_custom_sizes_are_refused(vcpu: float, memory: int, disk: int):
    size = sizes.Size(vcpu, memory, disk)
    refused = bool(sizes.custom_problems(size)) or sizes.over(size, sizes.LARGEST)
    assert refused == bool(list(containers.size_problems(containers.Size(vcpu, memory, disk))))


def test_applications_have_the_same_places_policies_and_limits():
    assert set(bodies.REGIONS) == set(containers.REGIONS)
    assert {name: frozenset(regions) for name, regions in applications.PERMITTED.items()} == containers.JURISDICTIONS
    assert set(bodies.JURISDICTIONS) == set(containers.JURISDICTIONS)
    assert (bodies.SCHEDULED, bodies.MANAGED) == (containers.SCHEDULED, containers.MANAGED)
    assert bodies.LONGEST_GRACE == containers.LONGEST_GRACE_SECONDS
    assert bodies.SMALLEST_STEP == containers.SMALLEST_STEP
    assert MANAGED_HOST == containers.REGISTRY


def test_buckets_lie_in_the_same_places_and_open_with_the_same_permissions():
    assert set(r2.LOCATIONS) <= set(JURISDICTIONS)
    assert set(buckets.LOCATIONS) == r2.LOCATIONS["default"]
    assert permissions.R2_BUCKET == r2.TOKEN_SCOPE
    assert {group.name for group in permissions.GROUPS if group.scope == r2.TOKEN_SCOPE} == set(r2.READ_AND_WRITE)


def test_the_same_bindings_are_secret():
    assert emulated.SECRETS == bindings.SECRET_KINDS


@pytest.mark.parametrize("kind", bindings.KINDS)
def test_a_binding_needs_the_same_fields(kind: str):
    needed = {snake(name): VALUES.get(snake(name), "x") for name in bindings.KINDS[kind].needs}
    whole = {"name": "B", "type": kind, **needed, **({"key_base64": "eA=="} if kind == bindings.SECRET_KEY else {})}
    assert emulated.check([whole]) == [whole]
    for name in [name for name in needed if (kind, name) not in REPLACEABLE]:
        with pytest.raises(ApiError):
            emulated.check([{key: value for key, value in whole.items() if key != name}])
