"""Damaged requests to Containers and the registry: never a 500, and the state stays sound."""

import random
from typing import Any

import httpx
import pytest

from bench.fuzz.containers_requests import damaged, requests_of
from emulator.testing import Running
from testbed.emulator.containers_stage import Stage
from tests.emulator.services.registry.oci import MANIFEST, Registry, digest

HEADERS = ("content-range", "range", "content-type", "authorization", "content-length")


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
    assert emulator.state.store.complaints() == []


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
    assert emulator.state.store.complaints() == []
