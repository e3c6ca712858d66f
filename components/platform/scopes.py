"""Scopes: what a caller of this package's Worker can be allowed to do.

Each route of the Worker names the one scope it needs. `files:*` grants every scope that begins so, `*` all there are.
"""

from typing import Final

NEEDED: Final = (
    "code",
    "describe",
    "exec",
    "files:read",
    "files:write",
    "git",
    "lifecycle",
    "pattern:chat",
    "pattern:coding",
    "pattern:environment",
    "pattern:generate",
    "pattern:openai",
    "pattern:parallel",
    "pattern:pipeline",
    "pattern:run",
    "pattern:workspace",
    "ports",
    "processes",
    "sessions",
    "status",
    "storage",
    "terminal",
)
"""Scopes that routes need."""
_FAMILIES: Final = frozenset(f"{scope.partition(':')[0]}:*" for scope in NEEDED if ":" in scope)
GRANTABLE: Final = tuple(sorted({"*", *_FAMILIES, *NEEDED}))
"""Scopes that a caller can be given."""
