"""Asks an account what a project that is to be taken over needs: ids of routes, titles of namespaces, names of secrets.

Only reads; for the digest of an image it has credentials minted that can pull. Nobody can read values of secrets, and
they are not asked for.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from ..errors import UserError
from ..platform import api
from ..platform.bindings import SECRET_KINDS
from ..platform.containers import REGISTRY
from ..platform.durable_objects import EXPORTS
from ..platform.references import Reference
from ..provider.api_client import Client
from ..provider.errors import ProviderError
from ..provider.image_registry import Registry
from ..provider.worker_script.reader import ScriptReader
from ..wrangler.live import LiveWorker
from .address import api_address

_MOST_ZONES: Final = 50
"""The API lists no more zones on a page."""


class AccountError(UserError):
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

    @property
    def client(self) -> Client:
        """What it asks with."""
        return self._client

    @property
    def local_port(self) -> int | None:
        """Where an emulated account on this machine answers, and what is deployed to it; None for a real one."""
        return urlsplit(f"//{self._client.local_host}").port if self._client.local_host else None

    def titles(self) -> dict[str, str]:
        """Return the titles of KV namespaces by id."""
        return {each["id"]: each["title"] for each in self._client.pages(f"{self._path}/storage/kv/namespaces")}

    def routes(self, script: str, patterns: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return ids of zone and route by pattern, for those of the patterns that lead to the script."""
        wanted = set(patterns)
        found: dict[str, tuple[str, str]] = {}
        for zone in {zone for pattern in wanted if (zone := self._zone(_host(pattern)))}:
            for each in self._client.get(f"/zones/{zone}/workers/routes"):
                if each["pattern"] in wanted and each.get("script") == script:
                    found[each["pattern"]] = (zone, each["id"])
        return found

    def _zone(self, host: str) -> str | None:
        """Return the id of the zone that holds a host: the one with the longest name."""
        labels = host.split(".")
        for start in range(len(labels) - 1):
            for each in self._client.get("/zones", name=".".join(labels[start:])):
                return str(each["id"])
        return None

    def secrets(self, script: str) -> frozenset[str]:
        """Return the names of a script's secrets; none where there is no such script."""
        settings = self._client.find(f"{self._path}/workers/scripts/{script}/settings") or {}
        return frozenset(each["name"] for each in settings.get("bindings") or () if each["type"] in SECRET_KINDS)

    def digest(self, reference: Reference) -> str | None:
        """Return the digest of an image of the account's own registry; None for one that is elsewhere, or not there."""
        own = reference.host in (REGISTRY, self._client.local_host) and reference.path.startswith(f"{self.account_id}/")
        return Registry(self._client, self.account_id, "pull").digest(reference.path, reference.tag) if own else None

    def classes(self) -> Iterator[ContainerClass]:
        """Return every class that has containers, by script."""
        for owner, each in self.applications():
            yield ContainerClass(owner["script"], owner["class"], each["name"], each["scheduling_policy"])

    def applications(self) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Return every application with the namespace that it belongs to."""
        namespaces = {
            each["id"]: each
            for each in self._client.pages(f"{self._path}/workers/durable_objects/namespaces")
            if each.get("script") and each.get("class")
        }
        for each in self._client.get(f"{self._path}/containers/applications"):
            owner = namespaces.get((each.get("durable_objects") or {}).get("namespace_id"))
            if owner:
                yield owner, each

    def worker(self, script: str) -> tuple[LiveWorker, dict[str, bytes]] | None:
        """Return what a script is, and its modules; None where there is no such script."""
        reader = ScriptReader(self._client, {"accountId": self.account_id, "scriptName": script})
        found = reader.read({})
        if found is None:
            return None
        inputs, classes = found[0], found[0].get("classes", {})
        main, modules = reader.download()
        path = f"{self._path}/workers/scripts/{script}"
        live = LiveWorker(
            name=script,
            account_id=self.account_id,
            main_module=main,
            settings=self._client.get(f"{path}/settings"),
            workers_dev=inputs["workersDev"],
            preview_urls=inputs["previewUrls"],
            classes={name: each["storage"] for name, each in classes.items()},
            declared=inputs["lifecycle"] == EXPORTS,
            images={name: each.get("container", {}).get("images", {}) for name, each in classes.items()},
            applications={owner["class"]: each for owner, each in self.applications() if owner["script"] == script},
            schedules=tuple(each["cron"] for each in self._client.get(f"{path}/schedules")["schedules"]),
            routes=(*self._routes_to(script), *self._domains_of(script)),
        )
        return live, {name: content for name, (_, content) in modules.items()}

    def _routes_to(self, script: str) -> Iterator[dict[str, Any]]:
        for zone in self._client.pages("/zones", per_page=_MOST_ZONES):
            for each in self._client.get(f"/zones/{zone['id']}/workers/routes"):
                if each.get("script") == script:
                    yield {"pattern": each["pattern"], "zone_id": zone["id"]}

    def _domains_of(self, script: str) -> Iterator[dict[str, Any]]:
        for each in self._client.get(f"{self._path}/workers/domains", service=script):
            yield {"pattern": each["hostname"], "custom_domain": True}


def _host(pattern: str) -> str:
    """Return the host of a route's pattern, without its wildcard."""
    return pattern.partition("/")[0].partition(":")[0].lstrip("*").lstrip(".")


def account(environment: Mapping[str, str] = os.environ, account_id: str | None = None) -> Account | None:
    """Return the account that the environment names; None where it names none."""
    token, named = environment.get(api.TOKEN), account_id or environment.get(api.ACCOUNT_ID)
    if not token or not named:
        return None
    return Account(Client(token, api_address(environment)), named)


def asked(question: Any) -> Any:
    """Return the answer to a question; a refusal of the API is told as an AccountError."""
    try:
        return question()
    except ProviderError as error:
        raise AccountError(str(error)) from None
