"""Asks an account what a project that is to be taken over needs: ids of routes, titles of namespaces, names of secrets.

Only reads; for the digest of an image it has credentials minted that can pull. Nobody can read values of secrets, and
they are not asked for.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from ..platform.bindings import SECRET_KINDS
from ..platform.containers import REGISTRY
from ..platform.references import Reference
from ..provider.api import Client, is_loopback
from ..provider.errors import ProviderError
from ..provider.registry import Registry

_DEFAULT_URL: Final = "https://api.cloudflare.com/client/v4"


class AccountError(ValueError):
    """An account that cannot be asked, and why."""


@dataclass(frozen=True)
class ContainerClass:
    """A class that has containers."""

    script: str
    name: str
    application: str
    policy: str


class Account:
    """Asks one account."""

    def __init__(self, client: Client, account_id: str) -> None:
        self._client, self.account_id = client, account_id
        self._path = f"/accounts/{account_id}"

    def titles(self) -> dict[str, str]:
        """Give the titles of KV namespaces by id."""
        return {each["id"]: each["title"] for each in self._client.pages(f"{self._path}/storage/kv/namespaces")}

    def routes(self, script: str, patterns: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Give ids of zone and route by pattern, for those of the patterns that lead to the script."""
        wanted = set(patterns)
        found: dict[str, tuple[str, str]] = {}
        for zone in {zone for pattern in wanted if (zone := self._zone(_host(pattern)))}:
            for each in self._client.get(f"/zones/{zone}/workers/routes"):
                if each["pattern"] in wanted and each.get("script") == script:
                    found[each["pattern"]] = (zone, each["id"])
        return found

    def _zone(self, host: str) -> str | None:
        """Give the id of the zone that holds a host: the one with the longest name."""
        labels = host.split(".")
        for start in range(len(labels) - 1):
            for each in self._client.get("/zones", name=".".join(labels[start:])):
                return str(each["id"])
        return None

    def secrets(self, script: str) -> frozenset[str]:
        """Give the names of a script's secrets; none where there is no such script."""
        settings = self._client.find(f"{self._path}/workers/scripts/{script}/settings") or {}
        return frozenset(each["name"] for each in settings.get("bindings") or () if each["type"] in SECRET_KINDS)

    def digest(self, reference: Reference) -> str | None:
        """Give the digest of an image of the account's own registry; None for one that is elsewhere, or not there."""
        own = reference.host in (REGISTRY, self._client.local_host) and reference.path.startswith(f"{self.account_id}/")
        return Registry(self._client, self.account_id, "pull").digest(reference.path, reference.tag) if own else None

    def classes(self) -> Iterator[ContainerClass]:
        """Give every class that has containers, by script."""
        namespaces = {
            each["id"]: each
            for each in self._client.pages(f"{self._path}/workers/durable_objects/namespaces")
            if each.get("script") and each.get("class")
        }
        for each in self._client.get(f"{self._path}/containers/applications"):
            owner = namespaces.get((each.get("durable_objects") or {}).get("namespace_id"))
            if owner:
                yield ContainerClass(owner["script"], owner["class"], each["name"], each["scheduling_policy"])


def _host(pattern: str) -> str:
    """Give the host of a route's pattern, without its wildcard."""
    return pattern.partition("/")[0].partition(":")[0].lstrip("*").lstrip(".")


def account(environment: Mapping[str, str] = os.environ, account_id: str | None = None) -> Account | None:
    """Give the account that the environment names; None where it names none."""
    token, named = environment.get("CLOUDFLARE_API_TOKEN"), account_id or environment.get("CLOUDFLARE_ACCOUNT_ID")
    if not token or not named:
        return None
    address = environment.get("CLOUDFLARE_BASE_URL") or _DEFAULT_URL
    place = urlsplit(address)
    if place.scheme not in ("http", "https") or not place.hostname:
        raise AccountError(f"CLOUDFLARE_BASE_URL: {address!r} is not a URL such as {_DEFAULT_URL}")
    if place.scheme == "http" and not is_loopback(place.netloc):
        raise AccountError(f"{address}: the token would travel in clear; use https")
    return Account(Client(token, address), named)


def asked(question: Any) -> Any:
    """Give the answer to a question; a refusal of the API is told as an AccountError."""
    try:
        return question()
    except ProviderError as error:
        raise AccountError(str(error)) from None
