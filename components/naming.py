"""Physical names: what things are called in the account, derived from project, stack and role.

Names are lower case, within Cloudflare's limits, the same on every run, and different for different inputs.
"""

import hashlib
import re
from typing import Final

# R2 bucket and Worker names: 63 characters at most, letters, digits and inner hyphens.
LIMIT: Final = 63
_HASH_LENGTH: Final = 8
MARK: Final = "pulumi:"
"""How the tags of a script begin that our plugin gives it."""
_STACK: Final = f"{MARK}stack:"


def physical_name(*parts: str, limit: int = LIMIT) -> str:
    """Join parts to one name; whatever had to be changed or cut is made up for by a hash of the exact parts."""
    if not parts or not all(parts):
        raise ValueError(f"a name needs non-empty parts, got {parts!r}")
    if limit <= _HASH_LENGTH + 1:
        raise ValueError(f"a limit of {limit} leaves no room for a name and its hash")
    plain = "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts).strip("-")
    if plain.split("-") == list(parts) and len(plain) <= limit:
        return plain
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    head = plain[: limit - _HASH_LENGTH - 1].strip("-")
    return f"{head}-{digest}" if head else f"x-{digest}"[:limit]


def stack_tag(project: str, stack: str) -> str:
    """Return the tag by which a script says which stack of which project made it."""
    return f"{_STACK}{project}/{stack}"


def stack_of_tag(tag: str) -> tuple[str, str] | None:
    """Return project and stack that a script's tag names; None for another tag."""
    project, slash, stack = tag.removeprefix(_STACK).partition("/")
    return (project, stack) if tag.startswith(_STACK) and slash else None


def record_comment(*prefix: str) -> str:
    """Return the comment by which a DNS record says which stack made it."""
    return f"Sandbox stack {physical_name(*prefix)}"
