"""Image registries of an account: the managed one, and others it has configured."""

import hashlib
import re

from emulator.calls import Call
from emulator.clock import stamp
from emulator.services.registry import credentials
from emulator.services.registry import rules as registry
from emulator.services.registry.names import parse_reference
from emulator.store import Document, pick

from . import errors, rules
from .images import DOCKER_HUB, REGISTRY

_HOSTS = {
    "DockerHub": re.compile(r"docker\.io"),
    "ECR": re.compile(r"\d{12}\.dkr\.ecr(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?"),
    "GAR": re.compile(r"[a-z0-9-]+-docker\.pkg\.dev"),
}


def list_registries(call: Call) -> list[Document]:
    """The managed registry first, then the others."""
    account = call.store.get("account", "", call.account_id) or {}
    key = hashlib.sha256(call.account_id.encode()).hexdigest()
    managed = {
        "domain": registry.host(call.state),
        "kind": "default",
        "public_key": key,
        "created_at": account.get("created_on", stamp(call.state.clock.now())),
    }
    return [managed, *(_shown(each) for each in call.store.select(REGISTRY, call.account_id))]


def configure_registry(call: Call, body: Document) -> Document:
    """Add a registry elsewhere."""
    domain, kind = body["domain"], body["kind"]
    if body.get("is_public"):
        raise errors.INVALID.about({"is_public": "expected false"})
    if registry.is_managed(domain):
        raise errors.REGISTRY_EXISTS()
    if not any(pattern.fullmatch(domain) for pattern in _HOSTS.values()):
        raise errors.REGISTRY_REFUSED()
    if not _HOSTS[kind].fullmatch(domain):
        raise errors.INVALID.about({"kind": f"does not match the domain {domain}"})
    if call.store.has(REGISTRY, call.account_id, domain):
        raise errors.REGISTRY_EXISTS()
    entry = {**body, "created_at": call.state.clock.stamp()}
    return _shown(call.store.put(REGISTRY, call.account_id, domain, entry))


def delete_registry(call: Call) -> Document:
    """Remove a registry that no application takes its image from."""
    domain = call.params["domain"]
    if registry.is_managed(domain):
        raise errors.REGISTRY_REFUSED()
    entry = call.store.get(REGISTRY, call.account_id, domain)
    if entry is None:
        raise errors.NO_REGISTRY()
    for app in rules.all_of(call):
        reference = parse_reference(app["configuration"].get("image", ""))
        if reference is not None and reference.host == domain:
            raise errors.REGISTRY_USED(application=app["name"])
    call.store.delete(REGISTRY, call.account_id, domain)
    secret = entry["auth"]["private_credential"]
    return {"domain": domain, "secrets_store_ref": f"{secret['store_id']}:{secret['secret_name']}"}


def generate_credentials(call: Call, body: Document) -> Document:
    """Mint credentials for a registry; those of the managed one say for how long and for what."""
    domain = call.params["domain"]
    if registry.is_managed(domain):
        wrong = {name: "is required" for name in ("expiration_minutes", "permissions") if not body.get(name)}
        if wrong:
            raise errors.INVALID.about(wrong)
        minutes = int(body["expiration_minutes"])
        password = credentials.mint(call.state, call.account_id, body["permissions"], minutes)
        return _credentials(call, registry.host(call.state), credentials.USER, password)
    entry = call.store.get(REGISTRY, call.account_id, domain)
    if entry is None:
        raise errors.REGISTRY_PUBLIC() if domain in DOCKER_HUB else errors.NO_REGISTRY()
    secret = entry["auth"]["private_credential"]
    password = hashlib.sha256(f"{secret['store_id']}/{secret['secret_name']}".encode()).hexdigest()
    return _credentials(call, domain, entry["auth"]["public_credential"], password)


def _credentials(call: Call, host: str, user: str, password: str) -> Document:
    return {"account_id": call.account_id, "registry_host": host, "username": user, "password": password}


def _shown(entry: Document) -> Document:
    return {
        **pick(entry, "domain", "kind", "created_at"),
        "public_key": entry["auth"]["public_credential"],
    }
