"""Which images an application may name, and the preparation of images for Durable Object-managed ones."""

import hashlib

from emulator.calls import Call
from emulator.services.registry import rules as registry
from emulator.services.registry.images import Repository
from emulator.services.registry.names import Reference, parse_reference
from emulator.store import Document

from . import durations, errors

DOCKER_HUB = ("docker.io", "index.docker.io", "registry-1.docker.io")
REGISTRY = "container_registry"


def check(call: Call, image: str, field: str = "configuration.image") -> None:
    """Refuse an image the platform could not pull."""
    reference = parse_reference(image)
    if reference is None:
        raise errors.INVALID.about({field: "must be host/repository with a tag or a digest"})
    if reference.tag == "latest":
        raise errors.INVALID.about({field: "Latest tags are not allowed"})
    if registry.is_managed(reference.host):
        if registry.find_image(call.state, call.account_id, reference) is None:
            raise errors.NO_IMAGE(image=image)
    elif call.store.has(REGISTRY, call.account_id, reference.host):
        return  # a configured registry elsewhere cannot be asked from here
    elif reference.host in DOCKER_HUB:
        if registry.find_mirrored(call.state, _official(reference)) is None:
            raise errors.NO_IMAGE(image=image)
    else:
        raise errors.REGISTRY_UNKNOWN(domain=reference.host)


def _official(reference: Reference) -> Reference:
    """Docker Hub's own images live below `library`."""
    if "/" in reference.repository:
        return reference
    return Reference(reference.host, f"library/{reference.repository}", reference.tag, reference.digest)


def prepare(call: Call, image: str) -> tuple[int, Document]:
    """Start or observe the preparation of an image: status and answer."""
    reference = parse_reference(image)
    if reference is None or not reference.digest or not registry.is_managed(reference.host):
        raise errors.INVALID.about({"image": "must be a digest-pinned image of the managed registry"})
    found = registry.find_image(call.state, call.account_id, reference)
    if found is None:
        raise errors.NO_IMAGE(image=image)
    repository, manifest = found
    preparation = manifest.get("preparation")
    if preparation is None:
        ready_at = call.state.clock.time() + durations.read(call.store).preparation
        preparation = _remember(repository, manifest, {"ready_at": ready_at, "error": None})
    if preparation["ready_at"] > call.state.clock.time():
        return 202, {"image": image, "status": "pending", "reason": "The image is being prepared."}
    if preparation["error"]:
        return 200, {"image": image, "status": "error", "reason": preparation["error"]}
    artifact = hashlib.sha256(f"runtime artefact of {manifest['digest']}".encode()).hexdigest()
    return 200, {"image": image, "status": "ready", "artifact_digest": f"sha256:{artifact}"}


def fail_preparation(call: Call, account_id: str, image: str, reason: str) -> None:
    """Let the preparation of an image end in an error."""
    reference = parse_reference(image)
    found = registry.find_image(call.state, account_id, reference) if reference else None
    if found is None:
        raise errors.BAD_CONTROL(problem="there is no such image")
    ready_at = call.state.clock.time() + durations.read(call.store).preparation
    _remember(*found, {"ready_at": ready_at, "error": reason})


def _remember(repository: Repository, manifest: Document, preparation: Document) -> Document:
    """The preparation is part of the image's document and so goes with the image."""
    repository.write_manifest({**manifest, "preparation": preparation})
    return preparation
