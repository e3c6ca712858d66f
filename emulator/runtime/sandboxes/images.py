"""Which images a Durable Object class runs, and what the registry has of them.

An application of the default policy has one; where the objects themselves choose, the upload names several.
"""

import json
import platform
import re
from collections.abc import Iterator
from typing import Any

from emulator.engine.images import Image, Layer
from emulator.engine.oci import ImageError, architecture_of
from emulator.services.containers.images import DOCKER_HUB
from emulator.services.containers.instances import scope
from emulator.services.containers.rules import KIND, ROLLOUT
from emulator.services.registry import rules as registry
from emulator.services.registry.images import Repository
from emulator.services.registry.names import parse_reference
from emulator.state import State
from emulator.store import Document, Store

_CONTENT = re.compile(r"sha256:[0-9a-f]{64}")
_MACHINE = platform.machine()
Images = dict[str, str]  # by name; the one that runs when none is chosen has the empty name


def images_of(store: Store, account: str, namespace: Document, version: Document) -> Images:
    """The images of a namespace's class; none when it has no container."""
    if not namespace["container"]:
        return {}
    found: Images = {}
    for app in store.find(KIND, account, "namespace", namespace["id"]):
        if image := app["configuration"].get("image"):
            found[""] = image
    return found | chosen_images(namespace, version)


def wanted_images(store: Store) -> Iterator[tuple[str, str]]:
    """Images of all applications and of the rollouts under way, each with its account."""
    for account, _, app in store.everywhere(KIND):
        if image := app["configuration"].get("image"):
            yield account, image
        rollout = store.get(ROLLOUT, scope(app), app["active_rollout_id"] or "")
        if rollout and (image := rollout["target_configuration"].get("image")):
            yield account, image


def chosen_images(namespace: Document, version: Document) -> Images:
    """The images that objects of a class choose from, by name."""
    found: Images = {}
    for entry in version.get("containers") or ():
        if namespace["class"] in (entry.get("class_name"), _linked_class(version, entry)):
            found |= _named(entry.get("images"))
    return found


def _linked_class(version: Document, entry: Document) -> str | None:
    """The class that is linked to an entry from the side of `exports`."""
    exports = version["exports"] or {}
    linked = (name for name, export in exports.items() if export.get("container") == entry.get("name", ""))
    return next(linked, None)


def _named(images: Any) -> Images:
    """Images by name, given as references or as objects that hold one."""
    entries = images.items() if isinstance(images, dict) else ()
    references = {name: each.get("image") if isinstance(each, dict) else each for name, each in entries}
    return {name: reference for name, reference in references.items() if isinstance(reference, str)}


def resolve(state: State, account: str, name: str, machine: str = _MACHINE) -> Image:
    """An image as the engine of a machine takes it, by its reference."""
    reference = parse_reference(name)
    repository = Repository(state, reference.repository) if reference else None
    if reference is None or repository is None or repository.account_id not in ("", account):
        raise _missing(name)
    if not registry.is_managed(reference.host) and reference.host not in DOCKER_HUB:
        raise ImageError(f"No such image available named {name}: this machine reaches no registry but its own")
    manifest = repository.manifest(reference.manifest)
    if manifest is None:
        raise _missing(name)
    try:
        said = _manifest(repository, manifest, architecture_of(machine))
        if said is None:
            raise _missing(name)
        config, layers = _described(repository, said, name)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ImageError(f"the image {name} is not described as OCI images are: push it again") from error
    return Image(name, reference.digest or f"{manifest['digest']}", config, layers)


def _described(repository: Repository, said: Any, name: str) -> tuple[Any, tuple[Layer, ...]]:
    """The configuration and the layers, as whoever pushed the image describes them."""
    config = _blob(repository, said["config"]["digest"], name)
    contents = config.get("rootfs", {}).get("diff_ids", [])
    if len(contents) != len(said["layers"]):
        raise ImageError(f"the image {name} names {len(said['layers'])} layers and describes {len(contents)}")
    layers = []
    for described, content in zip(said["layers"], contents, strict=True):
        if not _CONTENT.fullmatch(content):  # it names a folder of this machine
            raise ImageError(f"the image {name} describes a layer as {content!r}, which is no digest: push it again")
        blob = repository.blob(described["digest"])
        if blob is None:
            raise _missing(name)
        layers.append(Layer(blob, described["mediaType"], content))
    return config, tuple(layers)


def _missing(name: str) -> ImageError:
    return ImageError(f"No such image available named {name}")


def _manifest(repository: Repository, manifest: Document, architecture: str) -> Any:
    """The manifest of an image; of an index that for this one, else the first for Linux: the engine refuses it."""
    said = json.loads(repository.manifest_bytes(manifest))
    if "manifests" not in said:
        return said
    platforms = [(each.get("platform") or {}, each["digest"]) for each in said["manifests"]]
    fitting = [each for each in platforms if each[0].get("os", "linux") == "linux"]
    fitting.sort(key=lambda each: each[0].get("architecture", architecture) != architecture)
    found = repository.manifest(fitting[0][1]) if fitting else None
    return None if found is None else _manifest(repository, found, architecture)


def _blob(repository: Repository, digest: str, name: str) -> Any:
    path = repository.blob(digest)
    if path is None:
        raise _missing(name)
    return json.loads(path.read_bytes())
