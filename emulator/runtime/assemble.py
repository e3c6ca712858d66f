"""From a plan to the configuration of its process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulator.store import Document, Store
from emulator.vault import Vault

from .bindings import Bound, Context, bind
from .config import document, embed
from .containers import Docker
from .images import Images
from .plan import Member, Plan

DOOR = "emulator:door"
KEY_HEADER = "x-emulator-key"
STORE_HEADER = "x-emulator-store"
PROTOCOL_HEADER = "x-forwarded-proto"
CF_HEADER = "x-emulator-cf"
_DISK = "emulator:objects"
_CACHE = "emulator:cache"
_INTERNET = "emulator:internet"
_OLDEST_DATE = "2021-11-02"  # what an upload without a date means
_DATE = "2026-10-01"  # of our own modules
_JS = Path(__file__).parent / "js"
_MODULES = {
    "application/javascript+module": "esModule",
    "text/javascript+module": "esModule",
    "application/javascript": "commonJsModule",
    "text/javascript": "commonJsModule",
    "application/wasm": "wasm",
    "application/json": "json",
    "text/plain": "text",
    "text/x-python": "pythonModule",
    "application/octet-stream": "data",
}


@dataclass(frozen=True)
class Surroundings:
    """What a process needs to know of the emulator."""

    address: str  # host and port of the emulator
    key: str  # shows the emulator that a request comes from a binding
    objects: Path
    store: Store
    vault: Vault
    docker: Docker | None  # None: no containers


@dataclass(frozen=True)
class Assembled:
    """A configuration, the sockets it opens, and bindings that could not be given, by script."""

    text: str
    sockets: frozenset[str]
    missing: dict[str, list[dict[str, str]]]


def assemble(plan: Plan, around: Surroundings) -> Assembled:
    """The configuration of a plan's process."""
    bound = {each.name: bind(Context(plan, each, around.store, around.vault)) for each in plan.members}
    stores = {name: place for each in bound.values() for name, place in each.stores.items()}
    services = [{"name": each.name, "worker": _worker(each, bound[each.name], around)} for each in plan.members]
    services += [_gateway(name, place, around) for name, place in stores.items()]
    services += [_own(DOOR, "door.js", [{"name": each.name, "service": each.name} for each in plan.members])]
    services += [_own(_CACHE, "cache.js", [])]
    services += [{"name": _INTERNET, "network": {"allow": ["public"], "tlsOptions": {"trustBrowserCas": True}}}]
    if plan.namespaces:
        services.append({"name": _DISK, "disk": {"path": str(around.objects), "writable": True}})
    sockets = [_socket(each.name, each.name) for each in plan.members] + [_socket(DOOR, DOOR)]
    extensions = [
        {"modules": [{"name": f"emulator:{name}", "internal": True, "esModule": _source(f"{name}.js")}]}
        for name in ("ratelimit", "analytics")
    ]
    text = document({"services": services, "sockets": sockets, "extensions": extensions})
    missing = {name: each.missing for name, each in bound.items() if each.missing}
    return Assembled(text, frozenset(socket["name"] for socket in sockets), missing)


def _worker(member: Member, bound: Bound, around: Surroundings) -> dict[str, Any]:
    version = member.version
    worker: dict[str, Any] = {
        **_code(version),
        "compatibilityDate": version.get("compatibility_date") or _OLDEST_DATE,
        "compatibilityFlags": version["compatibility_flags"],
        "bindings": bound.values,
        "globalOutbound": _INTERNET,
        "cacheApiOutbound": _CACHE,
    }
    if member.namespaces:
        worker["durableObjectNamespaces"] = [
            _namespace(each, member.images[each["id"]], around.docker) for each in member.namespaces
        ]
        worker["durableObjectStorage"] = {"localDisk": _DISK}
    if around.docker and any(member.images.values()):
        interceptor = {"containerEgressInterceptorImage": around.docker.sidecar}
        worker["containerEngine"] = {"localDocker": {"socketPath": f"unix:{around.docker.socket}", **interceptor}}
    return worker


def _code(version: Document) -> dict[str, Any]:
    if version["main_module"] is None:
        scripts = [each["sha256"] for each in version["modules"] if each["name"] == version["body_part"]]
        return {"serviceWorkerScript": embed(scripts[0]) if scripts else ""}
    kinds = [(each, _MODULES.get(each["content_type"].partition(";")[0])) for each in version["modules"]]
    kinds.sort(key=lambda item: item[0]["name"] != version["main_module"])  # workerd starts with the first
    return {
        "modules": [
            {"name": each["name"].removeprefix("./"), kind: embed(each["sha256"])} for each, kind in kinds if kind
        ]
    }


def _namespace(namespace: Document, images: Images, docker: Docker | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "className": namespace["class"],
        "uniqueKey": namespace["id"],
        "enableSql": namespace["use_sqlite"],
    }
    if not images or docker is None:
        return described
    named = [{"name": name, "image": docker.reference(image)} for name, image in images.items() if name]
    default = {"imageName": docker.reference(images[""])} if "" in images else {}
    return {**described, "container": {**default, "images": named}}


def _gateway(name: str, place: str, around: Surroundings) -> dict[str, Any]:
    headers = [{"name": KEY_HEADER, "value": around.key}, {"name": STORE_HEADER, "value": place}]
    return {"name": name, "external": {"address": around.address, "http": {"injectRequestHeaders": headers}}}


def _own(name: str, file: str, bindings: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "worker": {
            "modules": [{"name": file, "esModule": _source(file)}],
            "compatibilityDate": _DATE,
            "compatibilityFlags": ["service_binding_extra_handlers"],
            "bindings": bindings,
        },
    }


def _source(file: str) -> str:
    return (_JS / file).read_text(encoding="utf-8")


def _socket(name: str, service: str) -> dict[str, Any]:
    http = {"forwardedProtoHeader": PROTOCOL_HEADER, "cfBlobHeader": CF_HEADER}
    return {"name": name, "address": "127.0.0.1:0", "http": http, "service": service}
