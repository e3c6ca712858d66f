"""Names of the registry: repositories, tags, digests, and image references as people write them."""

import re
from dataclasses import dataclass

MANAGED_HOST = "registry.cloudflare.com"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_LONGEST_NAME = 255


def is_repository(name: str) -> bool:
    """Whether a repository may be called this."""
    return len(name) <= _LONGEST_NAME and _REPOSITORY.fullmatch(name) is not None


def is_tag(text: str) -> bool:
    """Whether a tag may be called this."""
    return _TAG.fullmatch(text) is not None


def is_digest(text: str) -> bool:
    """Whether this is a digest with its algorithm: one of the two that the specification registers."""
    return _DIGEST.fullmatch(text) is not None


def looks_like_digest(reference: str) -> bool:
    """Whether a manifest's reference means a digest, well formed or not: no tag has a colon."""
    return ":" in reference


def algorithm_of(digest: str) -> str:
    """The hash function of a digest."""
    return digest.partition(":")[0]


def hex_of(digest: str) -> str:
    """The digits of a digest."""
    return digest.partition(":")[2]


@dataclass(frozen=True)
class Reference:
    """A full image reference."""

    host: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def manifest(self) -> str:
        """What to ask the registry for: the digest when there is one."""
        return self.digest or self.tag


def parse_reference(text: str) -> Reference | None:
    """Read `host/repository[:tag][@digest]`; None when it is not that."""
    rest, _, digest = text.partition("@")
    host, slash, path = rest.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        return None
    repository, colon, tag = path.partition(":")
    if not is_repository(repository) or (colon and not is_tag(tag)):
        return None
    if ("@" in text and not is_digest(digest)) or not (tag or digest):
        return None
    return Reference(host, repository, tag, digest)
