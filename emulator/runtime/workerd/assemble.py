"""From a set of scripts to the configuration of its process."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulator.runtime.bindings.bindings import Bound, Context, bind
from emulator.runtime.headers import CF_HEADER, KEY_HEADER, PROTOCOL_HEADER, STORE_HEADER
from emulator.runtime.sandboxes.docker import Docker
from emulator.runtime.sandboxes.images import Images, chosen_images
from emulator.runtime.sandboxes.secret import Secrets
from emulator.services.s3.routes import DOMAIN
from emulator.store import Document, Store
from emulator.vault import Vault

from . import entry
from .config import Word, document, embed
from .entry import ContainedClass
from .script_set import Member, ScriptSet

DISPATCHER = "emulator:dispatcher"
_CONTAINERS = "emulator:containers"
_STREAMS = "emulator:streams"
_TAIL, _EARS = "emulator:tail", "emulator:ears"
_DISPATCHER_KEY = "emulator:key"
_DISK = "emulator:objects"
_CACHE = "emulator:cache"
_INTERNET, _OUTSIDE, _EMULATOR = "emulator:internet", "emulator:outside", "emulator:itself"
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
class Host:
    """The emulator as the process that it hosts has to know it."""

    address: str  # host and port of the emulator
    key: str  # shows the emulator that a request comes from a binding
    dispatcher_key: str  # shows the dispatcher that a request comes from the emulator
    objects: Path
    store: Store
    vault: Vault
    docker: Docker | None = None  # runs containers where this machine's own engine cannot
    sandboxes: "Native | None" = None
    outbound: str | None = None  # host and port of a proxy that stands for the internet
    listened: frozenset[str] = frozenset()  # scripts whose tails somebody holds


@dataclass(frozen=True)
class Native:
    """This machine's own engine of containers, as a process of Workers knows it."""

    streams: str  # host and port for connections that are no requests
    secrets: Secrets
    running: tuple[tuple[str, str], ...]  # containers that run already, and since which start
    reason: str = ""  # why none can run


@dataclass(frozen=True)
class Assembled:
    """A configuration, the sockets it opens, and bindings that could not be given, by script."""

    text: str
    sockets: frozenset[str]
    missing: dict[str, list[dict[str, str]]]


def assemble(scripts: ScriptSet, host: Host) -> Assembled:
    """The configuration of a set's process."""
    bound = {each.name: bind(Context(scripts, each, host.store, host.vault)) for each in scripts.members}
    stores = {name: place for each in bound.values() for name, place in each.stores.items()}
    services = [
        {"name": each.name, "worker": _worker(each, bound[each.name], host, scripts.account)}
        for each in scripts.members
    ]
    services += [_gateway(name, place, host) for name, place in stores.items()]
    services += [_own(DISPATCHER, "dispatcher.js", _dispatcher(scripts, host))]
    services += [
        _own(_TAIL, "tail.js", _tail_bindings(scripts, host)),
        _gateway(_EARS, f"tail/{scripts.account}", host),
    ]
    if host.sandboxes:
        services += [
            _gateway(_containers(each), f"containers/{scripts.account}/{','.join(_contained_namespaces(each))}", host)
            for each in scripts.members
            if _contained_namespaces(each)
        ]
        services.append({"name": _STREAMS, "external": {"address": host.sandboxes.streams, "tcp": {}}})
    services += [_own(_CACHE, "cache.js", [])]
    services += [{"name": _INTERNET, **_internet(host.outbound)}]
    services += [{"name": _EMULATOR, "external": {"address": host.address, "http": {}}}]
    services += [_own(_OUTSIDE, "outside.js", _outside())]
    if scripts.namespaces:
        services.append({"name": _DISK, "disk": {"path": str(host.objects), "writable": True}})
    sockets = [_socket(each.name, each.name) for each in scripts.members] + [_socket(DISPATCHER, DISPATCHER)]
    extensions = [
        {"modules": [{"name": f"emulator:{name}", "internal": True, "esModule": _source(f"{name}.js")}]}
        for name in ("ratelimit", "analytics")
    ]
    text = document({"services": services, "sockets": sockets, "extensions": extensions})
    missing = {name: each.missing for name, each in bound.items() if each.missing}
    return Assembled(text, frozenset(socket["name"] for socket in sockets), missing)


def trial_configuration(name: str, code: Document) -> str:
    """The configuration of a process that does nothing but start the code, without its bindings."""
    worker = {
        **_code(code),
        # A date the runtime does not know yet is its business, not the code's.
        "compatibilityDate": min(code.get("compatibility_date") or _OLDEST_DATE, _DATE),
        "compatibilityFlags": code["compatibility_flags"],
    }
    return document({"services": [{"name": name, "worker": worker}], "sockets": [_socket(name, name)]})


def _dispatcher(scripts: ScriptSet, host: Host) -> list[dict[str, Any]]:
    """What the dispatcher leads to: every script, and for those with containers their objects and their news."""
    found: list[dict[str, Any]] = [
        {"name": _TAIL, "service": _TAIL},
        {"name": _DISPATCHER_KEY, "text": host.dispatcher_key},
    ]
    for each in scripts.members:
        found.append({"name": each.name, "service": each.name})
        if host.sandboxes and _contained_namespaces(each):
            news = {"name": each.name, "entrypoint": entry.ENTRYPOINT}
            found.append({"name": f"news:{each.name}", "service": news})
            for namespace, class_name in _contained_namespaces(each).items():
                target = {"className": class_name, "serviceName": each.name}
                found.append({"name": f"objects:{namespace}", "durableObjectNamespace": target})
    return found


def _tail_bindings(scripts: ScriptSet, host: Host) -> list[dict[str, Any]]:
    listened = [each.name for each in scripts.members if each.name in host.listened]
    return [{"name": "EMULATOR", "service": _EARS}, {"name": "LISTENING", "json": json.dumps(listened)}]


def _outside() -> list[dict[str, Any]]:
    """What is outside of a Worker with buckets."""
    targets = {"EMULATOR": _EMULATOR, "INTERNET": _INTERNET}
    return [{"name": "DOMAIN", "text": DOMAIN}, *({"name": name, "service": each} for name, each in targets.items())]


def _contained_namespaces(member: Member) -> dict[str, str]:
    """The namespaces of a script's container-enabled classes, and the classes; none of one that is no module."""
    if member.version["main_module"] is None:
        return {}
    return {each["id"]: each["class"] for each in member.namespaces if each["container"]}


def _contained(member: Member, account: str, secrets: Secrets) -> list[ContainedClass]:
    """The container-enabled classes of a script."""
    found = []
    for each in member.namespaces:
        if each["id"] in _contained_namespaces(member):
            images, secret = chosen_images(each, member.version), secrets.of(account, each["id"])
            found.append(ContainedClass(each["class"], each["id"], images, has_default=not images, secret=secret))
    return found


def _containers(member: Member) -> str:
    """The service through which the classes of one script reach their containers."""
    return f"{_CONTAINERS}:{member.name}"


def _worker(member: Member, bound: Bound, host: Host, account: str) -> dict[str, Any]:
    version = member.version
    worker: dict[str, Any] = {
        **_code(version),
        "compatibilityDate": version.get("compatibility_date") or _OLDEST_DATE,
        "compatibilityFlags": version["compatibility_flags"],
        "bindings": bound.values,
        # Not for others: through a module of ours no Worker can open a connection with TLS by itself.
        "globalOutbound": _OUTSIDE if any("r2Bucket" in each for each in bound.values) else _INTERNET,
        "cacheApiOutbound": _CACHE,
        "tails": [{"name": _TAIL, "props": {"json": json.dumps({"script": member.name, "version": version["id"]})}}],
    }
    if member.namespaces:
        worker["durableObjectNamespaces"] = [
            _namespace(each, member.images.get(each["id"], {}), host.docker) for each in member.namespaces
        ]
        worker["durableObjectStorage"] = {"localDisk": _DISK}
    if host.sandboxes and (contained := _contained(member, account, host.sandboxes.secrets)):
        worker["modules"] = [*_entry(version["main_module"], contained, account, host.sandboxes), *worker["modules"]]
        worker["bindings"] = [
            *worker["bindings"],
            {"name": entry.CONTAINERS, "service": _containers(member)},
            {"name": entry.STREAMS, "service": _STREAMS},
        ]
        # The entry takes these bindings away through the environment that can be imported.
        flags = [each for each in version["compatibility_flags"] if each != "disallow_importable_env"]
        worker["compatibilityFlags"] = flags
    if host.docker and any(member.images.values()):
        interceptor = {"containerEgressInterceptorImage": host.docker.sidecar}
        worker["containerEngine"] = {"localDocker": {"socketPath": f"unix:{host.docker.socket}", **interceptor}}
    return worker


def _entry(main: str, contained: list[ContainedClass], account: str, native: Native) -> list[dict[str, Any]]:
    """The modules that stand before the uploaded ones."""
    shared = {"account": account, "reason": native.reason}
    text = entry.text(main.removeprefix("./"), contained, native.running, shared)
    parts = [{"name": f"{entry.FOLDER}/{file}", "esModule": _source(file)} for file in entry.PARTS]
    return [{"name": entry.MODULE, "esModule": text}, *parts]


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


def _gateway(name: str, place: str, host: Host) -> dict[str, Any]:
    headers = [{"name": KEY_HEADER, "value": host.key}, {"name": STORE_HEADER, "value": place}]
    return {"name": name, "external": {"address": host.address, "http": {"injectRequestHeaders": headers}}}


def _internet(proxy: str | None) -> dict[str, Any]:
    if proxy:
        return {"external": {"address": proxy, "http": {"style": Word("proxy")}}}
    return {"network": {"allow": ["public"], "tlsOptions": {"trustBrowserCas": True}}}


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
