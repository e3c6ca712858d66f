"""What the account's registry says of an image that lies there: that Cloudflare can run it, its size, its variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..platform.containers import IMAGE_PLATFORM, REGISTRY
from ..platform.references import Reference, parse
from ..platform.sdk import VERSION_VARIABLE
from ..provider.api_client import Client
from ..provider.image_registry import Registry


@dataclass(frozen=True)
class Image:
    """An image for Cloudflare's platform."""

    size: int
    """Bytes of its layers, compressed."""
    variables: Mapping[str, str]

    @property
    def sdk_version(self) -> str:
        """The version of the SDK that it says it was made with; empty where it says none."""
        return self.variables.get(VERSION_VARIABLE, "")


def own(client: Client, account_id: str, text: str) -> Reference | None:
    """Return what an image's reference says, where it is of the account's own registry."""
    found = parse(text)
    hosts = (REGISTRY, client.local_host)
    return found if found and found.host in hosts and found.path.startswith(f"{account_id}/") else None


def look(client: Client, account_id: str, reference: Reference) -> Image | None:
    """Return an image of the account's registry; None where that has none which Cloudflare runs."""
    registry, repository = Registry(client, account_id, "pull"), reference.path
    digest = reference.digest or registry.digest(repository, reference.tag)
    manifest = registry.manifest(repository, digest) if digest else None
    if manifest and "manifests" in manifest:
        entry = next((each["digest"] for each in manifest["manifests"] if _fits(each)), None)
        manifest = registry.manifest(repository, entry) if entry else None
    if manifest is None:
        return None
    config = (registry.blob(repository, manifest["config"]["digest"]) or {}).get("config") or {}
    variables = dict(each.split("=", 1) for each in config.get("Env") or () if "=" in each)
    return Image(sum(int(each["size"]) for each in manifest["layers"]), variables)


def _fits(entry: Mapping[str, Any]) -> bool:
    platform = entry.get("platform") or {}
    return f"{platform.get('os')}/{platform.get('architecture')}" == IMAGE_PLATFORM
