"""Versions of the Sandbox SDK: how they are written, which are supported, which image tags exist.

Source: changelog of `@cloudflare/sandbox` 0.12.10, the move guide to 1.0, tags on Docker Hub. 2026-11-16.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

PACKAGE: Final = "@cloudflare/sandbox"
REPOSITORY: Final = "cloudflare/sandbox"


class Version(NamedTuple):
    """An exact version; a pre-release carries its mark."""

    major: int
    minor: int
    patch: int
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.mark}" if self.mark else "")

    @property
    def release(self) -> tuple[int, int, int]:
        """The numbers alone, for comparisons."""
        return self[:3]


class Tag(NamedTuple):
    """A tag of the official image: the version and the variant, empty for the default one."""

    version: Version
    variant: str


_EXACT: Final = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-([0-9A-Za-z.-]+))?")

LAST_0X: Final = Version(0, 12, 10)
END_OF_0X: Final = date(2026, 12, 31)
"""The last day on which 0.x gets fixes."""
OLDEST: Final = (0, 6, 5)
"""Before it images cannot be extended safely and commands of one session run into each other."""
RPC_SINCE: Final = (0, 9, 3)
TUNNELS_SINCE: Final = (0, 10, 2)
CREDENTIAL_PROXY_SAFE: Final = (0, 12, 6)
"""Before it a proxied copy could read outside its scope."""

VARIANTS: Final[Mapping[str, tuple[tuple[int, int, int], tuple[int, int, int] | None]]] = {
    "": ((0, 1, 0), None),
    "python": ((0, 6, 0), None),
    "opencode": ((0, 6, 4), None),
    "musl": ((0, 7, 2), None),
    "desktop": ((0, 7, 10), (0, 12, 0)),
}
"""Variants of the 0.x images: the first version that has one and the first that no longer does."""


def exact(text: str) -> Version | None:
    """Read an exact version, as in a lock file; ranges give None."""
    match = _EXACT.fullmatch(text.strip().removeprefix("v"))
    return Version(int(match[1]), int(match[2]), int(match[3]), match[4] or "") if match else None


def tag_of(text: str) -> Tag | None:
    """Read a tag of the official image; a word behind the version is a variant unless it marks a pre-release."""
    version = exact(text)
    if version is None:
        return None
    if "." in version.mark:
        return Tag(version, "")
    return Tag(version._replace(mark=""), version.mark)


def variant_exists(tag: Tag) -> bool:
    """Say whether this variant was published for this version."""
    if tag.version.major >= 1:
        return tag.variant == ""
    first, gone = VARIANTS.get(tag.variant, ((1, 0, 0), None))
    return first <= tag.version.release and (gone is None or tag.version.release < gone)
