"""The account's image registry: manifests read and deleted over OCI distribution, with credentials for that.

Cloudflare's API has no operation for images, so this speaks with the registry itself: HTTPS, or plain HTTP where the
registry is on loopback, as an emulated one is.
"""

import hashlib
import json
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from .api_client import Client, is_loopback, user_agent
from .errors import Complaint, ProviderError, Refusal, TransientError
from .registry_credentials import effects as registry_credentials

_SECONDS: Final = 60.0
_ACCEPTED: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MINUTES: Final = 15
_MOST: Final = 1000
"""Repositories on a page."""


class Registry:
    """One repository's account, with what the operation may do there."""

    def __init__(self, client: Client, account_id: str, *permissions: str) -> None:
        arguments = {"accountId": account_id, "permissions": list(permissions), "expirationMinutes": _MINUTES}
        given, _ = registry_credentials.checked(arguments)
        minted = registry_credentials.mint(client, given)
        self.host: str = minted["host"]
        self._client, self._account_id = client, account_id
        self._auth = (minted["username"], minted["password"])
        self._origin = f"{'http' if is_loopback(self.host) else 'https'}://{self.host}"

    def manifest(self, repository: str, digest: str) -> Any:
        """Return a manifest, or None when it is not there."""
        return self._document(f"{repository}/manifests/{digest}", digest)

    def digest(self, repository: str, tag: str) -> str | None:
        """Return the digest of the image that a tag names now, or None when there is none."""
        response = self._call("GET", f"{repository}/manifests/{tag}")
        return None if response is None else f"sha256:{hashlib.sha256(response.content).hexdigest()}"

    def tagged(self, repository: str, tag: str) -> tuple[str, Any] | None:
        """Return the digest and the manifest of the image that a tag names now, or None when there is none."""
        response = self._call("GET", f"{repository}/manifests/{tag}")
        if response is None:
            return None
        return f"sha256:{hashlib.sha256(response.content).hexdigest()}", json.loads(response.content)

    def repositories(self) -> dict[str, list[str]]:
        """Return every repository of the account, without the account's id, with its tags."""
        found: dict[str, list[str]] = {}
        path, query = "_catalog", f"?{urlencode({'tags': 'true', 'n': _MOST})}"
        while True:
            response = self._call("GET", f"{path}{query}")
            if response is None:
                return found
            for name, tags in (response.json().get("repositories") or {}).items():
                found[name.removeprefix(f"{self._account_id}/")] = list(tags or ())
            following = response.links.get("next", {}).get("url", "")
            if not following:
                return found
            query = f"?{urlsplit(following).query}"

    def blob(self, repository: str, digest: str) -> Any:
        """Return a document that a manifest names, or None when it is not there."""
        return self._document(f"{repository}/blobs/{digest}", digest)

    def delete(self, repository: str, digest: str) -> None:
        """Take a manifest and its tags away; what is gone already is fine."""
        self._call("DELETE", f"{repository}/manifests/{digest}")

    def collect_garbage(self) -> None:
        """Have the layers deleted that no manifest names any more."""
        self._call("PUT", "gc/layers")

    def _document(self, path: str, digest: str) -> Any:
        response = self._call("GET", path)
        if response is None:
            return None
        if f"sha256:{hashlib.sha256(response.content).hexdigest()}" != digest:
            raise TransientError(f"GET {self.host}/v2/{path}", "content that does not have its digest")
        try:
            return json.loads(response.content)
        except ValueError:
            raise ProviderError(f"{self.host}/v2/{path} is not a document of an image; push the image again") from None

    def _call(self, method: str, path: str) -> Any:
        """Make a request; None when there is no such thing."""
        return self._client.persist(lambda: self._once(method, path))

    def _once(self, method: str, path: str) -> Any:
        import httpx  # noqa: PLC0415 - loaded when the first request is made

        place = f"{method} {self.host}/v2/{path}"
        self._client.pause(0)
        try:
            response = httpx.request(
                method,
                f"{self._origin}/v2/{path}",
                auth=self._auth,
                headers={"Accept": ", ".join(_ACCEPTED), "User-Agent": user_agent()},
                timeout=_SECONDS,
                # Content may lie elsewhere; httpx sends no credentials to another host.
                follow_redirects=method == "GET",
                trust_env=not is_loopback(self.host),
            )
        except httpx.TransportError as error:
            raise TransientError(place, type(error).__name__) from None
        if response.status_code == 404:
            return None
        if response.status_code in (408, 429) or response.status_code >= 500:
            raise TransientError(place, str(response.status_code))
        if response.status_code >= 300:
            raise Refusal(place, response.status_code, Complaint(_said(response)))
        return response


def _said(response: Any) -> str:
    """Return the registry's own words for a refusal."""
    try:
        first = response.json()["errors"][0]
        return f"{first['code']}: {first['message']}"
    except (ValueError, KeyError, IndexError, TypeError):
        return "no reason given"
