"""Settings of stacks, and what a monitor answers while they are deployed."""

from collections.abc import Callable
from typing import Any

from tests.components.monitor import Recorded

ACCOUNT = "a" * 32
DIGEST = f"registry.example/{ACCOUNT}/ready@sha256:{'1' * 64}"
MANAGED = f"registry.cloudflare.com/{ACCOUNT}/ready@sha256:{'1' * 64}"
FULL: dict[str, Any] = {
    "name": "box",
    "account_id": ACCOUNT,
    "image": {"build_secrets": ["PIP_TOKEN"]},
    "further_sandboxes": {"python": {"class_name": "SandboxPython", "image": {"reference": DIGEST}}},
    "storage": {"events": {"enabled": True}, "files": {"cors_origins": ["https://app.example.com"]}},
    "domain": {
        "hostname": "previews.example.com",
        "zone": "example.com",
        "zone_id": "b" * 32,
        "api_hostname": "api.example.com",
        "bypass": ["docs.previews.example.com"],
        "shared_zone": "accept",
    },
    "access": {
        "api_keys": {"ci": {"sha256": "c" * 64, "tenant": "team", "scopes": ["exec"]}},
        "zero_trust": {
            "team_domain": "team.cloudflareaccess.com",
            "email_domains": ["example.com"],
            "service_tokens": ["ci"],
            "token_duration": "4380h",
            "protect": ["api"],
        },
    },
    "secrets": ["MODEL_API_KEY"],
}
SECRETS = {"MODEL_API_KEY": "model-secret", "PIP_TOKEN": "pip-secret"}
ANSWERS: dict[str, Any] = {
    "cloudflare-sandbox:index:getRegistryCredentials": lambda _: {
        "host": "r.example",
        "username": "v1",
        "password": "p",
    },
    "cloudflare-sandbox:index:WorkerScript": lambda _: {
        "versionId": "v1",
        "namespaceIds": {"Sandbox": "n1"},
        "url": None,
    },
    "cloudflare-sandbox:index:ContainerApplication": lambda given: {
        "applicationId": f"app-{given['className']}",
        "namespaceId": "n1",
    },
    "cloudflare-sandbox:index:RegistryImage": lambda given: {
        "reference": f"r.example/{ACCOUNT}/{given['repository']}@{given['digest']}",
        "size": 1,
    },
    "docker-build:index:Image": lambda _: {"digest": f"sha256:{'2' * 64}"},
    "cloudflare:index/accountToken:AccountToken": lambda _: {"value": "token-value"},
    "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication": lambda _: {"aud": "audience"},
    "cloudflare:index/zeroTrustAccessServiceToken:ZeroTrustAccessServiceToken": lambda _: {
        "clientId": "id",
        "clientSecret": "client-secret",
    },
    "cloudflare:index/getZone:getZone": lambda given: {"zoneId": f"the id of {given['filter']['name']}"},
    "cloudflare:index/getAccountApiTokenPermissionGroupsList:getAccountApiTokenPermissionGroupsList": lambda _: {
        "results": [
            {"id": "d" * 32, "name": "Workers R2 Storage Bucket Item Read", "scopes": []},
            {"id": "e" * 32, "name": "Workers R2 Storage Bucket Item Write", "scopes": []},
        ]
    },
}

Run = Callable[..., Recorded]
"""Deploys stacks of these settings."""
