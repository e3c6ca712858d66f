"""SandboxSettings: the whole document of one sandbox stack."""

from typing import Annotated, Literal

from .base import Section, matching

Name = Annotated[
    str,
    matching(
        r"[a-z][a-z0-9-]{0,30}[a-z0-9]|[a-z]",
        "use 1 to 32 lower-case letters, digits and hyphens, starting with a letter, ending without a hyphen",
    ),
]


class SandboxSettings(Section):
    """One sandbox stack."""

    name: Name = "sandbox"
    """Begins the name of everything made."""
    environment: Literal["throw-away", "lasting"] = "lasting"
    """`lasting` protects what holds data; `throw-away` lets destroy remove everything."""
