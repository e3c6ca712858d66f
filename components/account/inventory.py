"""Reads everything of an account that a Sandbox stack can consist of, with what refers to what; changes nothing.

Lists are read to their end. What the token may not read is told with the permission that it lacks, as whoever judges
by half an account judges wrongly; kinds that are not of interest can be left out, and need no permission then.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from ..errors import UserError
from ..platform import r2
from ..platform.bindings import DURABLE_OBJECT, KV_NAMESPACE, QUEUE, R2_BUCKET
from ..platform.containers import MANAGED
from ..provider.api_client import Client
from ..provider.errors import ProviderError, Refusal
from ..provider.image_registry import Registry
from ..provider.worker_script.reader import ScriptReader
from . import images
from .items import WORDS, Inventory, Item, Key, Kind, bucket_key, image_key, resolved

_PAGE: Final = 50
"""The most that every list with page numbers gives."""
_NAMESPACES_PAGE: Final = 1000
_AT_ONCE: Final = 8
_BOUND: Final[Mapping[Any, tuple[Kind, str]]] = {
    KV_NAMESPACE: (Kind.KV, "namespace_id"),
    QUEUE: (Kind.QUEUE, "queue_name"),
    DURABLE_OBJECT: (Kind.NAMESPACE, "namespace_id"),
    "service": (Kind.SCRIPT, "service"),
}
"""What a binding leads to, and the field that names it."""
_ACCESS_IS_OFF: Final = "access.api.error.not_enabled"
PERMISSIONS: Final[Mapping[Kind, str]] = {
    Kind.SCRIPT: "Workers Scripts Read",
    Kind.NAMESPACE: "Workers Scripts Read",
    Kind.APPLICATION: "Workers Containers Read",
    Kind.IMAGE: "Workers Containers Write",
    Kind.BUCKET: "Workers R2 Storage Read",
    Kind.KV: "Workers KV Storage Read",
    Kind.QUEUE: "Queues Read",
    Kind.RECORD: "Zone Read and DNS Read",
    Kind.ROUTE: "Zone Read and Workers Routes Read",
    Kind.CUSTOM_DOMAIN: "Workers Scripts Read",
    Kind.CERTIFICATE: "Zone Read and SSL and Certificates Read",
    Kind.TOKEN: "Account API Tokens Read",
    Kind.ACCESS_APPLICATION: "Access: Apps and Policies Read",
    Kind.ACCESS_POLICY: "Access: Apps and Policies Read",
    Kind.SERVICE_TOKEN: "Access: Service Tokens Read",
}
"""What a token needs to read each kind; minting credentials for the registry is a write to Cloudflare."""


class InventoryError(UserError):
    """An account that cannot be read whole, and what is lacking."""


def read_inventory(client: Client, account_id: str, kinds: Collection[Kind] = frozenset(Kind)) -> Inventory:
    """Return what the account has of some kinds."""
    reader = _Reader(client, account_id)
    wanted = [kind for kind in Kind if kind in kinds]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        read = list(pool.map(lambda kind: _told(kind, reader), wanted))
    found = [item for items in read for item in items]
    return Inventory(account_id, resolved(found), frozenset(wanted))


def _told(kind: Kind, reader: "_Reader") -> list[Item]:
    try:
        return list(reader.of(kind))
    except Refusal as refusal:
        if _ACCESS_IS_OFF in str(refusal):
            return []
        raise InventoryError(
            f"{WORDS[kind]}s cannot be read ({refusal}). Give the token the permission {PERMISSIONS[kind]}"
        ) from None
    except ProviderError as error:
        raise InventoryError(f"{WORDS[kind]}s cannot be read: {told(error)}") from None


def told(error: ProviderError) -> str:
    """Return what went wrong, for somebody who does not run Pulumi right now."""
    return str(error).replace("run `pulumi up` again", "run the command again")


class _Reader:
    """Reads kind by kind."""

    def __init__(self, client: Client, account_id: str) -> None:
        self._client, self._account_id = client, account_id
        self._path = f"/accounts/{account_id}"

    def of(self, kind: Kind) -> Iterator[Item]:
        """Return all items of a kind."""
        readers: Mapping[Kind, Callable[[], Iterator[Item]]] = {
            Kind.SCRIPT: self._scripts,
            Kind.NAMESPACE: self._namespaces,
            Kind.APPLICATION: self._applications,
            Kind.IMAGE: self._images,
            Kind.BUCKET: self._buckets,
            Kind.KV: self._kv,
            Kind.QUEUE: self._queues,
            Kind.RECORD: self._records,
            Kind.ROUTE: self._routes,
            Kind.CUSTOM_DOMAIN: self._custom_domains,
            Kind.CERTIFICATE: self._certificates,
            Kind.TOKEN: self._tokens,
            Kind.ACCESS_APPLICATION: self._access_applications,
            Kind.ACCESS_POLICY: self._access_policies,
            Kind.SERVICE_TOKEN: self._service_tokens,
        }
        return readers[kind]()

    def _pages(self, path: str, **query: Any) -> Iterator[Any]:
        """Return a list with page numbers whole: some give fewer than are asked for, so only an empty page ends it."""
        seen: set[str] = set()
        page = 1
        while True:
            found = self._client.get(path, **query, page=page, per_page=_PAGE) or ()
            fresh = [each for each in found if str(each.get("id") or each.get("queue_id")) not in seen]
            if not fresh:  # also a list that knows no pages, and was given whole
                return
            seen |= {str(each.get("id") or each.get("queue_id")) for each in fresh}
            yield from fresh
            page += 1

    def _zones(self) -> Iterator[Mapping[str, Any]]:
        return self._pages("/zones", **{"account.id": self._account_id})

    def _scripts(self) -> Iterator[Item]:
        found = [str(each["id"]) for each in self._client.get(f"{self._path}/workers/scripts")]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            yield from (each for each in pool.map(self._script, found) if each)

    def _script(self, name: str) -> Item | None:
        settings = self._client.find(f"{self._path}/workers/scripts/{name}/settings")
        if settings is None:  # deleted since the list was read
            return None
        refers = {key for each in settings.get("bindings") or () if (key := _bound(each))}
        marks = tuple(str(tag) for tag in settings.get("tags") or ())
        return Item(Key(Kind.SCRIPT, name), name, frozenset(refers), marks)

    def _namespaces(self) -> Iterator[Item]:
        path = f"{self._path}/workers/durable_objects/namespaces"
        for each in self._client.pages(path, per_page=_NAMESPACES_PAGE):
            if each.get("dispatch_namespace"):
                continue  # of a platform's customers, who are no scripts of the account
            script, name = each.get("script") or "", each.get("class") or ""
            refers = frozenset({Key(Kind.SCRIPT, script)} if script else ())
            shown = f"{script}/{name}" if script else str(each.get("name") or each["id"])
            yield Item(Key(Kind.NAMESPACE, each["id"]), shown, refers, details={"script": script, "class": name})

    def _applications(self) -> Iterator[Item]:
        found = list(self._client.get(f"{self._path}/containers/applications"))
        scripts = self._managing(found)
        for each in found:
            namespace = (each.get("durable_objects") or {}).get("namespace_id", "")
            configuration = each.get("configuration") or {}
            images = {str(configuration.get("image") or ""), *self._images_of(scripts.get(namespace))} - {""}
            keys = {Key(Kind.NAMESPACE, namespace)} if namespace else set()
            keys |= {key for image in images if (key := self._own_image(image))}
            details = {
                "namespace": namespace,
                "images": sorted(images),
                "max_instances": each.get("max_instances"),
                "created_on": each.get("created_at"),
                **{name: configuration.get(name) for name in ("instance_type", "vcpu", "memory_mib", "disk")},
            }
            yield Item(Key(Kind.APPLICATION, each["id"]), each["name"], frozenset(keys), details=details)

    def _managing(self, applications: Iterable[Mapping[str, Any]]) -> Mapping[str, str]:
        """Return the scripts whose objects choose images themselves, by namespace."""
        managed = {
            each["durable_objects"]["namespace_id"]
            for each in applications
            if each.get("scheduling_policy") == MANAGED and each.get("durable_objects")
        }
        if not managed:
            return {}
        return {each.key.id: each.details["script"] for each in self._namespaces() if each.key.id in managed}

    def _images_of(self, script: str | None) -> set[str]:
        inputs = {"accountId": self._account_id, "scriptName": script}
        return ScriptReader(self._client, inputs).images() if script else set()

    def _own_image(self, text: str) -> Key | None:
        """Return the key of an image in the account's own registry; by tag where it has no digest."""
        found = images.own(self._client, self._account_id, text)
        return image_key(found.path.partition("/")[2], found.digest or found.tag) if found else None

    def _images(self) -> Iterator[Item]:
        registry = Registry(self._client, self._account_id, "pull")
        for repository, tags in registry.repositories().items():
            by_digest: dict[str, tuple[list[str], Any]] = {}
            for tag in tags:
                found = registry.tagged(f"{self._account_id}/{repository}", tag)
                if found is not None:
                    by_digest.setdefault(found[0], ([], found[1]))[0].append(tag)
            for digest, (names, manifest) in by_digest.items():
                size = _size(registry, f"{self._account_id}/{repository}", manifest)
                details = {"repository": repository, "digest": digest, "tags": sorted(names), "bytes": size}
                yield Item(image_key(repository, digest), f"{repository}:{min(names)}", details=details)

    def _buckets(self) -> Iterator[Item]:
        for jurisdiction in r2.LOCATIONS:
            yield from self._buckets_in(jurisdiction)

    def _buckets_in(self, jurisdiction: str) -> Iterator[Item]:
        query: dict[str, Any] = {"per_page": _PAGE, "order": "name", "direction": "asc"}
        headers = {r2.JURISDICTION_HEADER: jurisdiction}
        while True:
            try:
                answer = self._client.call("GET", f"{self._path}/r2/buckets", query=query, headers=headers)
            except Refusal:
                if jurisdiction == r2.DEFAULT_JURISDICTION:
                    raise
                return  # an account without this jurisdiction
            found = answer.result.get("buckets") or ()
            for each in found:
                details = {"jurisdiction": jurisdiction, "created_on": each.get("creation_date")}
                yield Item(bucket_key(each["name"], jurisdiction), each["name"], details=details)
            if not found:
                return
            query["start_after"] = found[-1]["name"]

    def _kv(self) -> Iterator[Item]:
        for each in self._pages(f"{self._path}/storage/kv/namespaces"):
            yield Item(Key(Kind.KV, each["id"]), each["title"])

    def _queues(self) -> Iterator[Item]:
        for each in self._pages(f"{self._path}/queues"):
            details = {"created_on": each.get("created_on")}
            scripts = [str(one.get("script") or one.get("script_name") or "") for one in each.get("consumers") or ()]
            refers = frozenset(Key(Kind.SCRIPT, script) for script in scripts if script)
            yield Item(Key(Kind.QUEUE, each["queue_id"]), each["queue_name"], refers, details=details)

    def _records(self) -> Iterator[Item]:
        for zone in self._zones():
            for each in self._pages(f"/zones/{zone['id']}/dns_records"):
                details = {name: each.get(name) for name in ("type", "content", "proxied", "created_on")}
                comment = (str(each["comment"]),) if each.get("comment") else ()
                key = Key(Kind.RECORD, f"{zone['id']}/{each['id']}")
                yield Item(key, each["name"], marks=comment, details={**details, "zone": zone["name"]})

    def _routes(self) -> Iterator[Item]:
        for zone in self._zones():
            for each in self._client.get(f"/zones/{zone['id']}/workers/routes"):
                script = each.get("script") or ""
                refers = frozenset({Key(Kind.SCRIPT, script)} if script else ())
                key = Key(Kind.ROUTE, f"{zone['id']}/{each['id']}")
                details = {"script": script, "zone": zone["name"]}
                yield Item(key, each["pattern"], refers, details=details)

    def _custom_domains(self) -> Iterator[Item]:
        for each in self._client.get(f"{self._path}/workers/domains"):
            script = each.get("service") or ""
            refers = frozenset({Key(Kind.SCRIPT, script)} if script else ())
            details = {"script": script, "zone": each.get("zone_name")}
            yield Item(Key(Kind.CUSTOM_DOMAIN, each["id"]), each["hostname"], refers, details=details)

    def _certificates(self) -> Iterator[Item]:
        for zone in self._zones():
            for each in self._pages(f"/zones/{zone['id']}/ssl/certificate_packs", status="all"):
                if each.get("type") == "universal":
                    continue  # belongs to the zone
                hosts = sorted(map(str, each.get("hosts") or ()))
                details = {"hosts": hosts, "zone": zone["name"], "status": each.get("status")}
                named = [host for host in hosts if host != zone["name"]] or hosts
                yield Item(Key(Kind.CERTIFICATE, f"{zone['id']}/{each['id']}"), ", ".join(named), details=details)

    def _tokens(self) -> Iterator[Item]:
        for each in self._pages(f"{self._path}/tokens"):
            resources = [name for policy in each.get("policies") or () for name in policy.get("resources") or ()]
            buckets = frozenset(key for name in resources if (key := self._bucket_of(name)))
            details = {"resources": sorted(resources), "created_on": each.get("issued_on")}
            yield Item(Key(Kind.TOKEN, each["id"]), str(each.get("name") or ""), buckets, details=details)

    def _bucket_of(self, resource: str) -> Key | None:
        prefix = f"{r2.TOKEN_SCOPE}.{self._account_id}_"
        jurisdiction, _, name = resource.removeprefix(prefix).partition("_")
        return bucket_key(name, jurisdiction) if resource.startswith(prefix) and name else None

    def _access_applications(self) -> Iterator[Item]:
        for each in self._pages(f"{self._path}/access/apps"):
            policies = [one if isinstance(one, str) else str(one.get("id", "")) for one in each.get("policies") or ()]
            refers = frozenset(Key(Kind.ACCESS_POLICY, one) for one in policies if one)
            details = {"domain": each.get("domain"), "created_on": each.get("created_at")}
            yield Item(Key(Kind.ACCESS_APPLICATION, each["id"]), str(each.get("name") or ""), refers, details=details)

    def _access_policies(self) -> Iterator[Item]:
        for each in self._pages(f"{self._path}/access/policies"):
            rules = [rule for part in ("include", "exclude", "require") for rule in each.get(part) or ()]
            tokens = [str((rule.get("service_token") or {}).get("token_id", "")) for rule in rules]
            refers = frozenset(Key(Kind.SERVICE_TOKEN, one) for one in tokens if one)
            details = {"created_on": each.get("created_at")}
            yield Item(Key(Kind.ACCESS_POLICY, each["id"]), str(each.get("name") or ""), refers, details=details)

    def _service_tokens(self) -> Iterator[Item]:
        for each in self._pages(f"{self._path}/access/service_tokens"):
            details = {"created_on": each.get("created_at")}
            yield Item(Key(Kind.SERVICE_TOKEN, each["id"]), str(each.get("name") or ""), details=details)


def _bound(binding: Mapping[str, Any]) -> Key | None:
    """Return what a binding leads to, by the name that the binding has for it."""
    kind, script = binding.get("type"), binding.get("script_name")
    if kind == R2_BUCKET:
        return bucket_key(binding["bucket_name"], binding.get("jurisdiction"))
    if kind == DURABLE_OBJECT and not binding.get("namespace_id"):
        return Key(Kind.NAMESPACE, f"{script}/{binding.get('class_name')}") if script else None
    if kind in _BOUND:
        of, field = _BOUND[kind]
        return Key(of, binding[field])
    return None


def _size(registry: Registry, repository: str, manifest: Any) -> int:
    """Return the bytes of all layers, of every platform."""
    entries = [registry.manifest(repository, each["digest"]) for each in manifest.get("manifests") or ()]
    layers = [layer for each in (manifest, *entries) for layer in (each or {}).get("layers") or ()]
    return sum({layer["digest"]: int(layer["size"]) for layer in layers}.values())
