"""Deletes one item of an account in the way that its kind needs; what is gone already is fine, so it may be repeated.

Nobody is asked here and nothing is judged: whoever calls knows that the item may go. Data goes only with consent: a
bucket with objects, a KV namespace with keys and a queue with messages are refused without it.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import quote

from ..errors import UserError
from ..platform import r2
from ..provider.api_client import Client
from ..provider.errors import ProviderError, Refusal
from ..provider.image_registry import Registry
from .inventory import told
from .items import Item, Key, Kind

ORDER: Final = (
    Kind.ROUTE,
    Kind.CUSTOM_DOMAIN,
    Kind.RECORD,
    Kind.CERTIFICATE,
    Kind.ACCESS_APPLICATION,
    Kind.ACCESS_POLICY,
    Kind.SERVICE_TOKEN,
    Kind.APPLICATION,
    Kind.IMAGE,
    Kind.QUEUE,
    Kind.SCRIPT,
    Kind.NAMESPACE,
    Kind.KV,
    Kind.TOKEN,
    Kind.BUCKET,
)
"""What goes before what: who is sent to something before it, who runs or holds something before that."""
_DELETE_SECONDS: Final = 300.0
_MOST_OBJECTS: Final = 1000
_LEAST_KEYS: Final = 10
"""The API gives no fewer keys on a page."""


class RemovalError(UserError):
    """An item that was kept, and why."""


def in_order(items: Iterable[Item]) -> list[Item]:
    """Return items in the order in which they can be deleted; scripts after those that call them."""
    known = list(items)
    callers = {each.key: [one for one in known if each.key in one.refers] for each in known if each.kind is Kind.SCRIPT}

    def depth(key: Key, seen: frozenset[Key] = frozenset()) -> int:
        others = [one.key for one in callers.get(key, ()) if one.kind is Kind.SCRIPT and one.key not in {*seen, key}]
        return 1 + max((depth(other, seen | {key}) for other in others), default=0)

    return sorted(known, key=lambda each: (ORDER.index(each.kind), depth(each.key), each.key))


class Removal:
    """Deletes items of one account."""

    def __init__(
        self, client: Client, account_id: str, *, with_data: bool = False, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self._client, self._account_id, self._with_data, self._say = client, account_id, with_data, say
        self._path = f"/accounts/{account_id}"

    def remove(self, item: Item) -> bool:
        """Delete an item and wait until it is gone; whether it was still there."""
        try:
            return self._ways(item.kind)(item)
        except ProviderError as error:
            raise RemovalError(f"{item} ({item.key}) was kept: {told(error)}") from None

    def _ways(self, kind: Kind) -> Callable[[Item], bool]:
        ways: dict[Kind, Callable[[Item], bool]] = {
            Kind.APPLICATION: self._application,
            Kind.IMAGE: self._image,
            Kind.BUCKET: self._bucket,
            Kind.KV: self._kv,
            Kind.QUEUE: self._queue,
            Kind.NAMESPACE: self._namespace,
        }
        return ways.get(kind, self._plain)

    def _plain(self, item: Item) -> bool:
        """Delete what one request deletes."""
        zone, _, name = item.key.id.rpartition("/")
        places = {
            Kind.SCRIPT: f"{self._path}/workers/scripts/{item.key.id}",
            Kind.RECORD: f"/zones/{zone}/dns_records/{name}",
            Kind.ROUTE: f"/zones/{zone}/workers/routes/{name}",
            Kind.CERTIFICATE: f"/zones/{zone}/ssl/certificate_packs/{name}",
            Kind.CUSTOM_DOMAIN: f"{self._path}/workers/domains/{name}",
            Kind.TOKEN: f"{self._path}/tokens/{name}",
            Kind.ACCESS_APPLICATION: f"{self._path}/access/apps/{name}",
            Kind.ACCESS_POLICY: f"{self._path}/access/policies/{name}",
            Kind.SERVICE_TOKEN: f"{self._path}/access/service_tokens/{name}",
        }
        return self._delete(places[item.kind])

    def _delete(self, path: str, **content: Any) -> bool:
        try:
            self._client.call("DELETE", path, **content)
        except Refusal as refusal:
            if refusal.status != 404:
                raise
            return False
        return True

    def _application(self, item: Item) -> bool:
        path = f"{self._path}/containers/applications/{item.key.id}"
        there = self._delete(path)  # 404 is also the answer while an earlier deletion is under way
        until = time.monotonic() + _DELETE_SECONDS
        while self._client.find(path) is not None:
            if time.monotonic() > until:
                raise RemovalError(f"{item} ({item.key}) is still being deleted; run it again later")
            self._say(f"waiting until {item} is gone")
            self._client.pause(self._client.waits.poll)
        return there

    def _image(self, item: Item) -> bool:
        repository, _, digest = item.key.id.partition("@")
        path = f"{self._account_id}/{repository}"
        registry = Registry(self._client, self._account_id, "pull", "push")
        there = registry.manifest(path, digest) is not None
        registry.delete(path, digest)
        registry.collect_garbage()  # also when the image is gone: an earlier try may have come only so far
        return there

    def _bucket(self, item: Item) -> bool:
        jurisdiction = item.details.get("jurisdiction", r2.DEFAULT_JURISDICTION)
        headers = {r2.JURISDICTION_HEADER: str(jurisdiction)}
        path = f"{self._path}/r2/buckets/{item.name}"
        query = {"per_page": _MOST_OBJECTS if self._with_data else 1}
        while True:
            try:
                found = self._client.call("GET", f"{path}/objects", query=query, headers=headers).result
            except Refusal as refusal:
                if refusal.status != 404:
                    raise
                return False
            if not found:
                return self._delete(path, headers=headers)
            self._consent(item, "holds objects")
            self._say(f"emptying {item}")
            for each in found:
                self._delete(f"{path}/objects/{quote(each['key'], safe='')}", headers=headers)

    def _kv(self, item: Item) -> bool:
        path = f"{self._path}/storage/kv/namespaces/{item.key.id}"
        if self._client.find(f"{path}/keys", limit=_LEAST_KEYS):
            self._consent(item, "holds keys")
        return self._delete(path)

    def _queue(self, item: Item) -> bool:
        path = f"{self._path}/queues/{item.key.id}"
        metrics = self._client.find(f"{path}/metrics") or {}
        if metrics.get("backlog_count"):
            self._consent(item, "holds messages")
        return self._delete(path)

    def _namespace(self, item: Item) -> bool:
        if self._client.find(f"{self._path}/workers/durable_objects/namespaces/{item.key.id}") is None:
            return False
        raise RemovalError(
            f"{item} ({item.key}) was kept: Cloudflare deletes objects with their script alone. Upload a script "
            f"{item.details.get('script') or 'of its name'} and delete it"
        )

    def _consent(self, item: Item, what: str) -> None:
        if not self._with_data:
            raise RemovalError(f"{item} ({item.key}) was kept: it {what}; give them up with --with-data")
