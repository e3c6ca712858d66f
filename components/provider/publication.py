"""What Pulumi's registry asks a schema for: who publishes the package, where it is, and how it is found.

Whoever publishes it writes their own repository below, and runs `make docs sdk plugin`. Until then the schema names no
address at all: from a made-up one the engine would fetch a program, and run it.
"""

from typing import Final

from ..version import VERSION

PLACEHOLDER: Final = "OWNER/REPOSITORY"
REPOSITORY: Final[str] = PLACEHOLDER
"""Of the package on GitHub."""

ABOUT: Final = {
    "displayName": "Cloudflare Sandbox",
    "description": "Workers with container-enabled Durable Object classes, and their container applications.",
    "keywords": ["pulumi", "cloudflare", "sandbox", "containers", "workers", "category/cloud", "kind/native"],
    "license": "Apache-2.0",
    "attribution": "An independent project, neither made nor endorsed by Cloudflare or Pulumi.",
}
LOGO: Final = "docs/logo.png"


def about(repository: str = REPOSITORY) -> dict[str, object]:
    """Return the fields of a schema that describe the package."""
    if repository == PLACEHOLDER:
        return dict(ABOUT)
    address = f"https://github.com/{repository}"
    return {
        **ABOUT,
        "publisher": repository.partition("/")[0],
        "homepage": address,
        "repository": address,
        "logoUrl": f"https://raw.githubusercontent.com/{repository}/v{VERSION}/{LOGO}",
        "pluginDownloadURL": f"github://api.github.com/{repository}",
    }
