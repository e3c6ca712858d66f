"""Damaged requests to Containers and the registry: never a 500, and the state stays sound.

The general fuzz meets an account without images and so never has an application; here there is one.
"""

import copy
import random
from typing import Any

import httpx
import pytest

from emulator.testing import Running
from tests.emulator.containers_stage import Stage
from tests.emulator.oci import MANIFEST, Registry, digest

ODD = (None, True, -1, 0, 0.5, 1e308, 10**30, "", "x", "é\u0000", "a" * 3000, [], [[]], {}, {"": None})
HEADERS = ("content-range", "range", "content-type", "authorization", "content-length")


def damaged(rng: random.Random, value: Any) -> Any:
    """A copy with one place changed, taken away or added to."""
    root = [copy.deepcopy(value)]
    container: Any = root
    key: Any = 0
    while isinstance(container[key], dict | list) and container[key] and rng.random() < 0.75:
        container = container[key]
        key = rng.choice(list(container)) if isinstance(container, dict) else rng.randrange(len(container))
    choice = rng.random()
    if choice < 0.6 or container is root:
        container[key] = rng.choice(ODD)
    elif choice < 0.8:
        del container[key]
    elif isinstance(container, dict):
        container[rng.choice(("surprise", "", "image", "enabled"))] = rng.choice(ODD)
    else:
        container.append(rng.choice(ODD))
    return root[0]


def requests_of(stage: Stage, application: Any) -> list[tuple[str, str, Any]]:
    """One good request of every kind."""
    path = f"/applications/{application['id']}"
    configuration = {
        "image": stage.newer,
        "vcpu": 1,
        "memory_mib": 4096,
        "disk": {"size_mb": 4000},
        "command": ["a"],
        "environment_variables": [{"name": "A", "value": "b"}],
        "wrangler_ssh": {"enabled": True, "port": 22},
        "authorized_keys": [{"public_key": "ssh-ed25519 A", "name": "k"}],
    }
    edit = {
        "configuration": configuration,
        "max_instances": 4,
        "constraints": {"regions": ["WEUR"], "jurisdiction": "eu", "tiers": [1], "cities": ["x"]},
        "affinities": {"colocation": "datacenter"},
        "observability": {"logs": {"enabled": True}, "target_instance_percentage": 5},
        "rollout_active_grace_period": 5,
    }
    steps = [
        {"step_size": {"percentage": 50}, "description": "a"},
        {"step_size": {"percentage": 100}, "description": ""},
    ]
    rolling = {"description": "x", "strategy": "rolling", "target_configuration": configuration, "steps": steps}
    fresh = {"description": "x", "strategy": "new_instances", "target_configuration": {}, "percentage": 20}
    ecr = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
    secret = {"store_id": "s", "secret_name": "n"}
    return [
        ("POST", "/applications", stage.body(**edit)),
        (
            "POST",
            "/applications",
            {"name": "m", "scheduling_policy": "durable_object", "durable_objects": {"namespace_id": "x"}},
        ),
        ("PATCH", path, edit),
        ("POST", f"{path}/rollouts", rolling),
        ("POST", f"{path}/rollouts", {**fresh, "kind": "full_manual"}),
        ("POST", f"{path}/rollouts/{application.get('active_rollout_id', 'x')}", {"action": "next"}),
        ("POST", "/image-preparations", {"image": stage.image}),
        (
            "POST",
            "/registries",
            {"domain": ecr, "kind": "ECR", "auth": {"public_credential": "p", "private_credential": secret}},
        ),
        ("POST", "/registries/registry.cloudflare.com/credentials", {"expiration_minutes": 5, "permissions": ["pull"]}),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bodies(raw: Any, emulator: Running, seed: int):
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    stage = Stage(raw, emulator)
    made = stage.create()
    for number in range(300):
        application = stage.get(made)
        method, path, body = rng.choice(requests_of(stage, application))
        answer = raw.api(method, stage.base + path, json=damaged(rng, body) if number % 5 else body)
        assert answer.status_code < 500, (method, path, body, answer.text)
        if not number % 50:
            raw.advance(rng.choice((0, 1, 5)))
            for part in ("", "/versions", "/rollouts", "/instances-v2"):
                assert raw.api("GET", f"{stage.base}/applications/{made['id']}{part}").status_code == 200
    assert emulator.world.store.complaints() == []


@pytest.mark.parametrize("seed", range(3))
def test_odd_requests_to_the_registry(raw: Any, emulator: Running, seed: int):
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    stage = Stage(raw, emulator)
    body = {"expiration_minutes": 60, "permissions": ["push", "pull"]}
    path = f"{stage.base}/registries/registry.cloudflare.com/credentials"
    registry = Registry(emulator.origin, raw.api("POST", path, json=body).json()["result"]["password"])
    repository = f"{stage.account}/sandbox"
    manifest = registry("GET", f"{repository}/manifests/v1")
    for _ in range(250):
        upload = registry("POST", f"{repository}/blobs/uploads/").headers["location"].removeprefix("/v2/")
        target = rng.choice(
            (
                upload,
                f"{repository}/manifests/v9",
                f"{repository}/blobs/{digest(b'x')}",
                f"{repository}/tags/list",
                "",
                "%2f",
            )
        )
        pieces = target.split("/")
        if rng.random() < 0.4:
            pieces[rng.randrange(len(pieces))] = rng.choice(
                ("", "..", "%00", "%ff", "A", "x" * 300, "manifests", "uploads")
            )
        query = rng.choice(
            ({}, {"digest": digest(b"abc")}, {"digest": "x"}, {"n": "-1"}, {"mount": digest(b"x"), "from": "?"})
        )
        headers = {rng.choice(HEADERS): rng.choice(("", "x", "0-2", "3-1", "bytes=5-", "bytes=-", MANIFEST, "Basic x"))}
        content = rng.choice((b"", b"abc", manifest.content, manifest.content[:-3]))
        method = rng.choice(("GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE"))
        try:
            answer = registry(method, "/".join(pieces), params=query, headers=headers, content=content)
        except (httpx.LocalProtocolError, httpx.RemoteProtocolError):
            continue  # a length that contradicts the body is refused by client or server
        assert answer.status_code < 500, (method, pieces, query, headers, answer.text)
    assert registry("GET", f"{repository}/manifests/v1").content == manifest.content
    assert emulator.world.store.complaints() == []
