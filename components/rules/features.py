"""What the Worker uses of the SDK, and which version of the SDK it is: questions that several rules ask."""

from collections.abc import Iterator
from typing import Final

from ..facts.stack import Call, Container, Fact, Image, Stack
from ..platform.bindings import PLAIN_TEXT
from ..platform.references import Reference, parse
from ..platform.sdk_support import Tag, Version, exact, official_tag

MOUNT: Final = "mountBucket"
LOCAL_RANGES: Final = ("file:", "link:", "workspace:", "portal:", "catalog:", "npm:")
"""How package.json begins what is not a range of versions."""
INTERCEPTION: Final = frozenset(
    {MOUNT, "credentialProxy", "outbound", "outboundByHost", "outboundHandlers", "allowedHosts", "deniedHosts"}
)
"""Features that route a container's traffic through the Worker."""


def interception_uses(stack: Stack) -> Iterator[Fact[str]]:
    """Return the first use of every feature that goes through the Worker."""
    seen: set[str] = set()
    for use in stack.source.uses or ():
        if use.value in INTERCEPTION and use.value not in seen:
            seen.add(use.value)
            yield use


def uses(stack: Stack, *words: str) -> Iterator[Fact[str]]:
    """Return every use of the words."""
    return (use for use in stack.source.uses or () if use.value in words)


def calls(stack: Stack, *names: str) -> Iterator[Call]:
    """Return every call of the names."""
    return (call for call in stack.source.calls or () if call.name in names)


def calls_of_0(stack: Stack, *names: str) -> Iterator[Call]:
    """Return every call of the names, unless the SDK is 1.x: there a sandbox is a class of one's own."""
    version = sdk(stack)
    return iter(()) if version and version.value.major >= 1 else calls(stack, *names)


def sdk(stack: Stack) -> Fact[Version] | None:
    """Return the version of the package: what settings name, what is locked, or else what is declared exactly."""
    for said in (stack.package.wanted, stack.package.locked, stack.package.declared):
        version = exact(said.value) if said and said.value else None
        if said and version:
            return Fact(version, said.where)
    return None


def containers(stack: Stack) -> tuple[Container, ...]:
    """Return the containers that are known."""
    return stack.containers or ()


def images(stack: Stack) -> Iterator[tuple[Container, Image]]:
    """Return every image that is known, with its container."""
    for container in containers(stack):
        yield from ((container, image) for image in (container.image, *container.images) if image)


def references(image: Image) -> Iterator[tuple[Fact[str], Reference]]:
    """Return the reference of an image, if it has one that can be read."""
    parts = parse(image.reference.value) if image.reference else None
    if image.reference and parts:
        yield image.reference, parts


def drawn_on(image: Image) -> Iterator[Fact[str]]:
    """Return the images that a Dockerfile starts or copies from."""
    file = image.dockerfile
    yield from (stage.base for stage in (file.stages if file else None) or () if stage.base)
    yield from (file.copies if file else None) or ()


def base_tags(image: Image, *, built: bool = False) -> Iterator[Fact[Tag]]:
    """Return the tags of the official image that an image is, or that its stages start from; `built`: that it holds."""
    stages = image.dockerfile.stages if image.dockerfile else None
    for said in (image.reference, *(stage.base for stage in stages or () if stage.built or not built)):
        tag = official_tag(said.value) if said else None
        if said and tag:
            yield Fact(tag, said.where)


def copied_tags(image: Image) -> Iterator[Fact[Tag]]:
    """Return the tags of the official image that a Dockerfile copies from."""
    for said in (image.dockerfile.copies if image.dockerfile else None) or ():
        tag = official_tag(said.value)
        if tag:
            yield Fact(tag, said.where)


def variables(stack: Stack) -> Iterator[tuple[str, Fact[str]]]:
    """Return the plain-text variables of the Worker whose value is known."""
    for binding in stack.worker.bindings or ():
        if binding.kind.value == PLAIN_TEXT and binding.text:
            yield binding.name.value, binding.text
