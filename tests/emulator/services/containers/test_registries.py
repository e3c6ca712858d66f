"""Registries an account can take images from, and their credentials."""

from typing import Any

import pytest
from cloudflare import Cloudflare, ConflictError, NotFoundError

from emulator.testing import Running
from testbed.emulator.containers_stage import Stage

ECR = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
AUTH: Any = {"public_credential": "AKIA", "private_credential": {"store_id": "s" * 32, "secret_name": "ecr"}}


@pytest.fixture
def stage(raw: Any, emulator: Running) -> Stage:
    return Stage(raw, emulator)


def test_life_of_a_registry(client: Cloudflare, stage: Stage):
    registries, account = client.containers.registries, stage.account
    made = registries.create(account_id=account, domain=ECR, kind="ECR", auth=AUTH, is_public=False)
    assert (made.domain, made.kind, made.public_key) == (ECR, "ECR", "AKIA")
    listed = registries.list(account_id=account).result
    here = stage.emulator.origin.removeprefix("http://")
    assert [(each.domain, each.kind) for each in listed] == [(here, "default"), (ECR, "ECR")]
    with pytest.raises(ConflictError, match="IMAGE_REGISTRY_ALREADY_EXISTS"):
        registries.create(account_id=account, domain=ECR, kind="ECR", auth=AUTH)
    application = stage.create(configuration={"image": f"{ECR}/some/image:1"})
    with pytest.raises(ConflictError, match="IMAGE_REGISTRY_IS_REFERENCED"):
        registries.delete(ECR, account_id=account)
    stage.raw.api("DELETE", f"{stage.base}/applications/{application['id']}")
    stage.raw.advance(4)
    assert registries.credentials.generate(ECR, account_id=account).username == "AKIA"
    deleted = registries.delete(ECR, account_id=account)
    assert deleted.to_dict() == {"domain": ECR, "secrets_store_ref": f"{'s' * 32}:ecr"}
    with pytest.raises(NotFoundError, match="IMAGE_REGISTRY_NOT_FOUND"):
        registries.delete(ECR, account_id=account)


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"domain": "ghcr.example"}, 403, "IMAGE_REGISTRY_NOT_ALLOWED"),
        ({"domain": "docker.io"}, 400, "VALIDATE_INPUT"),
        ({"domain": "registry.cloudflare.com"}, 409, "IMAGE_REGISTRY_ALREADY_EXISTS"),
        ({"is_public": True}, 400, "VALIDATE_INPUT"),
        ({"auth": {}}, 400, "VALIDATE_INPUT"),
        ({"kind": "Harbor"}, 400, "VALIDATE_INPUT"),
    ],
)
def test_registries_that_are_refused(stage: Stage, change: dict[str, Any], status: int, error: str):
    body = {"domain": ECR, "kind": "ECR", "auth": AUTH, **change}
    found = stage.refuse("POST", "/registries", body)
    assert (found[0], found[2]["error"]) == (status, error)


def test_credentials_that_are_refused(stage: Stage):
    def refused(domain: str, body: Any) -> tuple[int, Any]:
        status, _, message = stage.refuse("POST", f"/registries/{domain}/credentials", body)
        return status, message

    both = {"expiration_minutes": "is required", "permissions": "is required"}
    assert refused("registry.cloudflare.com", {}) == (400, {"error": "VALIDATE_INPUT", "details": both})
    for body in (
        {"expiration_minutes": 0, "permissions": ["pull"]},
        {"expiration_minutes": 5, "permissions": ["admin"]},
        {"expiration_minutes": "5", "permissions": ["pull"]},
        {"expiration_minutes": 5, "permissions": []},
        {"expiration_minutes": 5, "permissions": ["pull"], "more": 1},
    ):
        assert refused("registry.cloudflare.com", body)[0] == 400
    good = {"expiration_minutes": 5, "permissions": ["pull"]}
    assert refused("docker.io", good) == (409, {"error": "IMAGE_REGISTRY_IS_PUBLIC"})
    assert refused("nowhere.example", good) == (404, {"error": "IMAGE_REGISTRY_NOT_FOUND"})
    assert stage.refuse("DELETE", "/registries/registry.cloudflare.com", None)[0] == 403


def test_every_name_of_the_managed_registry_mints_and_none_is_written_down(stage: Stage):
    here = stage.emulator.origin.removeprefix("http://")
    passwords = []
    for domain in ("registry.cloudflare.com", here, here.replace("127.0.0.1", "localhost")):
        path = f"{stage.base}/registries/{domain}/credentials"
        body = {"expiration_minutes": 15, "permissions": ["push", "pull"]}
        made = stage.raw.api("POST", path, json=body)
        assert made.status_code == 201
        assert made.json()["result"]["registry_host"] == here
        passwords.append(made.json()["result"]["password"])
    assert len(set(passwords)) == 3
    content = b"".join(path.read_bytes() for path in stage.emulator.state.folder.glob("state.sqlite3*"))
    journal = str(stage.raw.control("GET", "/journal"))
    for password in passwords:
        assert password.encode() not in content
        assert password not in journal
