"""Requests for the fuzz: one of every kind to Containers, and a way to damage their bodies."""

import copy
import random
from typing import Any

from testbed.emulator.containers_stage import Stage

ODD: tuple[Any, ...] = (None, True, -1, 0, 0.5, 1e308, 10**30, "", "x", "é\u0000", "a" * 3000, [], [[]], {}, {"": None})


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
