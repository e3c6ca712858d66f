"""Where this very package came from, as the line of a requirements.txt that brings it again."""

import json
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from ..version import VERSION

NAME: Final = "pulumi-cloudflare-sandbox"
_CHECKOUT: Final = Path(__file__).resolve().parents[2]


def requirement(extra: str = "") -> str:
    """Return the line: the address it was installed from, or its version if that was an index."""
    name = f"{NAME}[{extra}]" if extra else NAME
    if (_CHECKOUT / "pyproject.toml").is_file():
        return f"{name} @ {_CHECKOUT.as_uri()}"
    try:
        told = metadata.distribution(NAME).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        told = None
    return f"{name} @ {address(json.loads(told))}" if told else f"{name}=={VERSION}"


def address(told: dict[str, Any]) -> str:
    """Return the address that an installer wrote down (PEP 610), pinned where it can be, without credentials."""
    url = _without_credentials(told["url"])
    fragments = [f"subdirectory={told['subdirectory']}"] if told.get("subdirectory") else []
    if "vcs_info" in told:
        url = f"{told['vcs_info']['vcs']}+{url}@{told['vcs_info']['commit_id']}"
    hashes = told.get("archive_info", {}).get("hashes", {})
    fragments += [f"sha256={hashes['sha256']}"] if "sha256" in hashes else []
    return f"{url}#{'&'.join(fragments)}" if fragments else url


def _without_credentials(url: str) -> str:
    place = urlsplit(url)
    user, _, host = place.netloc.rpartition("@")
    # In an address of SSH the name is no secret, and needed; in others it may be a token.
    kept = f"{user.partition(':')[0]}@{host}" if user and place.scheme == "ssh" else host
    return urlunsplit(place._replace(netloc=kept)) if user else url
