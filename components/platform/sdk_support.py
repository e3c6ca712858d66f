"""Versions of the Sandbox SDK as policy sees them: exact ones and pre-releases, tags, and what is too old for what.

Source: changelog of `@cloudflare/sandbox` 0.12.10 and the move guide to 1.0. 2026-11-16.
"""

import re
from typing import Final, NamedTuple

from . import sdk
from .references import parse

PACKAGE: Final = "@cloudflare/sandbox"


class Version(NamedTuple):
    """An exact version; a pre-release carries its mark."""

    major: int
    minor: int
    patch: int
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.mark}" if self.mark else "")

    @property
    def release(self) -> sdk.Release:
        """The numbers alone, for comparisons."""
        return self[:3]


class Tag(NamedTuple):
    """A tag of the official image: the version and the variant."""

    version: Version
    variant: str

    def __str__(self) -> str:
        return sdk.tag(str(self.version), self.variant)


_EXACT: Final = re.compile(r"(\d{1,10})\.(\d{1,10})\.(\d{1,10})(?:-([0-9A-Za-z.-]+))?")

LAST_0X: Final = Version(*(sdk.release(sdk.SDK_VERSION) or (0, 0, 0)))
OLDEST: Final = (0, 6, 5)
"""Before it images cannot be extended safely and commands of one session run into each other."""
RPC_SINCE: Final = (0, 9, 3)
TUNNELS_SINCE: Final = (0, 10, 2)
CREDENTIAL_PROXY_SAFE: Final = (0, 12, 6)
"""Before it a proxied copy could read outside its scope."""


def exact(text: str) -> Version | None:
    """Read an exact version, as in a lock file; ranges give None."""
    match = _EXACT.fullmatch(text.strip().removeprefix("v"))
    return Version(int(match[1]), int(match[2]), int(match[3]), match[4] or "") if match else None


_COMPARATOR: Final = re.compile(r"(\^|~|>=|<=|>|<|=)?v?(\d{1,10}|[x*])(?:\.(\d{1,10}|[x*]))?(?:\.(\d{1,10}|[x*]))?")


def allows(range_: str, version: Version) -> bool | None:
    """Say whether a range of npm's kind can bring a version; None if it is not understood or a pre-release is meant."""
    ways = [_meets(each.strip(), version) for each in range_.split("||")]
    return True if True in ways else None if None in ways else False


def _meets(comparators: str, version: Version) -> bool | None:
    said = re.sub(r"([<>=~^])\s+", r"\1", re.sub(r"(\S+)\s+-\s+(\S+)", r">=\1 <=\2", comparators)).split() or ["*"]
    found = [_COMPARATOR.fullmatch(each) for each in said]
    if version.mark or None in found:
        return None
    return all(_within(each, version.release) for each in found if each)


def _within(said: re.Match[str], release: sdk.Release) -> bool:
    """Compare with the first release that a comparator means, and the first one beyond it."""
    numbers = [int(each) for each in said.groups()[1:] if each and each.isdigit()]
    low = (*numbers, 0, 0, 0)[:3]
    if said[1] == "^":
        kept = next((index for index, each in enumerate(numbers) if each), len(numbers) - 1) + 1
    else:
        kept = min(2, len(numbers)) if said[1] == "~" else len(numbers)
    beyond = (*numbers[: kept - 1], numbers[kept - 1] + 1, 0, 0)[:3] if kept else (1 << 40, 0, 0)
    verdicts = {">=": release >= low, ">": release >= beyond, "<": release < low, "<=": release < beyond}
    return verdicts.get(said[1] or "", low <= release < beyond)


def is_official(reference: str) -> bool:
    """Say whether this names the official image, in full or by Docker's short form."""
    found = parse(reference)
    return bool(found and found.path == sdk.REPOSITORY and found.host in ("", "docker.io", "index.docker.io"))


def official_tag(reference: str) -> Tag | None:
    """Read the tag of a reference to the official image; None for other images and for floating tags."""
    found = parse(reference)
    version = exact(found.tag) if found and is_official(reference) else None
    if version is None:
        return None
    # A word behind the version is a variant, unless it marks a pre-release.
    return Tag(version, "default") if "." in version.mark else Tag(version._replace(mark=""), version.mark or "default")


def published(version: Version) -> list[Tag]:
    """Return the tags of the official image that a version has; 1.x has no variants."""
    variants = ["default"] if version.major >= 1 else sdk.available(str(version))
    return [Tag(version, variant) for variant in variants]
