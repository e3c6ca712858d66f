"""A Worker script: the metadata of its upload, what counts as a change, and its inputs as read back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ....naming import MARK
from ....platform.durable_objects import EXPORTS, KEY_VALUE, MIGRATIONS, SQLITE
from ....pulumi_protocol.names import camel, snake
from ....pulumi_protocol.values import Path, differences
from . import bindings, modules
from .classes import Desired, Source, Steps, Wanted

Inputs = Mapping[str, Any]

IDENTITY: Final = ("accountId", "scriptName")
_RECORDS: Final = ("observability", "placement", "limits")
_UNORDERED: Final = ("compatibilityFlags", "tags", "keepBindings", "deletedClasses")
_ASIDE: Final = ("adopt", "forceDelete", "deletedClasses", "transferredClasses")
"""Inputs that say how to get somewhere, not how the script is."""
_QUIET: Final[Mapping[str, Any]] = {
    "enabled": False,
    "headSamplingRate": 1,
    "persist": True,
    "invocationLogs": True,
    "destinations": [],
    "logpush": False,
}
"""Values that mean the same as nothing at all."""


def normal(inputs: Inputs) -> dict[str, Any]:
    """Put lists whose order means nothing into one order, without repetitions."""
    return {
        name: sorted(set(value)) if name in _UNORDERED and _are_texts(value) else value
        for name, value in inputs.items()
    }


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def compared(inputs: Inputs) -> dict[str, Any]:
    """Return the part of the inputs whose change makes a difference to the script."""
    shown = {name: value for name, value in inputs.items() if name not in _ASIDE}
    if isinstance(shown.get("modules"), dict):
        shown["modules"] = modules.identity(shown["modules"])
    if isinstance(shown.get("classes"), dict):
        shown["classes"] = {
            name: {key: item for key, item in each.items() if key in ("storage", "container")}
            for name, each in shown["classes"].items()
        }
    return {name: value for name, value in shown.items() if value not in ({}, [])}


def public(inputs: Inputs) -> dict[str, Any]:
    """Return what makes a difference without the values of secret bindings: a hash of them could be guessed."""
    shown = compared(inputs)
    hidden = set(bindings.hidden_paths(shown.get("bindings")))
    bound = shown.get("bindings") or {}
    return {
        **shown,
        "bindings": {
            name: {field: value for field, value in each.items() if (name, field) not in hidden}
            for name, each in bound.items()
        },
    }


def differing(old: Inputs, new: Inputs) -> Iterator[tuple[Path, str]]:
    """Return the paths whose change makes a difference."""
    return differences(compared(old), compared(new))


def desired(inputs: Inputs) -> Desired:
    """Return what the inputs say about Durable Object classes."""
    classes = {}
    for name, each in (inputs.get("classes") or {}).items():
        source = each.get("transferredFrom")
        classes[name] = Wanted(
            storage=each.get("storage", SQLITE),
            container="container" in each,
            renamed_from=each.get("renamedFrom"),
            transferred_from=Source(source["scriptName"], source.get("className", name)) if source else None,
        )
    return Desired(
        script=inputs["scriptName"],
        classes=classes,
        deleted=frozenset(inputs.get("deletedClasses") or ()),
        given=inputs.get("transferredClasses") or {},
        lifecycle=inputs.get("lifecycle", MIGRATIONS),
    )


def metadata(inputs: Inputs, steps: Steps, *marks: str) -> dict[str, Any]:
    """Return the metadata of an upload; `marks` are the tags that say whose the script is."""
    body: dict[str, Any] = {
        "main_module": inputs["mainModule"],
        "compatibility_date": inputs["compatibilityDate"],
        "compatibility_flags": list(inputs.get("compatibilityFlags", ())),
        "bindings": bindings.to_api(inputs.get("bindings") or {}),
        "keep_bindings": list(inputs.get("keepBindings", ())),
        "containers": containers(inputs),
        "logpush": inputs.get("logpush", False),
        "tags": [*inputs.get("tags", ()), *marks],
        "tail_consumers": [dict(each) for each in inputs.get("tailConsumers", ())],
    }
    body |= {name: _snaked(inputs[name]) for name in _RECORDS if name in inputs}
    if steps.migrations is not None:
        body["migrations"] = steps.migrations
    if steps.exports is not None:
        body["exports"] = steps.exports
    return body


def containers(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the entries that container-enable classes; every upload has to repeat them."""
    return [
        {
            "class_name": name,
            **({"images": dict(each["container"]["images"])} if each["container"].get("images") else {}),
        }
        for name, each in sorted((inputs.get("classes") or {}).items())
        if "container" in each
    ]


def images(inputs: Inputs) -> list[str]:
    """Return the images that have to be prepared before the upload."""
    return sorted({image for entry in containers(inputs) for image in entry.get("images", {}).values()})


def _snaked(value: Any) -> Any:
    return {snake(key): _snaked(item) for key, item in value.items()} if isinstance(value, dict) else value


def _cameled(value: Any) -> Any:
    return {camel(key): _cameled(item) for key, item in value.items()} if isinstance(value, dict) else value


@dataclass(frozen=True)
class Found:
    """What the account says about a script."""

    settings: Mapping[str, Any]
    runtime: Mapping[str, Any] = field(default_factory=dict)
    """`resources.script_runtime` of the live version."""
    subdomain: Mapping[str, Any] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)
    """Storage of the live classes."""
    modules: Mapping[str, Any] = field(default_factory=dict)
    main_module: str = ""
    declared: bool = False
    """Whether the classes come from `exports`."""


def from_api(found: Found, known: Inputs) -> dict[str, Any]:
    """Return the inputs a program would have to write for a live script.

    What the API does not tell comes from the known inputs: names, secret values, and how to get there.
    """
    settings = found.settings
    kept = known.get("keepBindings", ())
    shown: dict[str, Any] = {
        "accountId": known["accountId"],
        "scriptName": known["scriptName"],
        "mainModule": found.main_module,
        "modules": _with_files(found.modules, known.get("modules") or {}),
        "compatibilityDate": settings.get("compatibility_date") or known.get("compatibilityDate", ""),
        "compatibilityFlags": sorted(settings.get("compatibility_flags") or ()),
        "bindings": bindings.from_api(settings.get("bindings") or (), known.get("bindings") or {}, kept),
        "classes": _classes(found, known.get("classes") or {}),
        "tags": sorted(tag for tag in settings.get("tags") or () if not tag.startswith(MARK)),
        "tailConsumers": [{"service": each["service"]} for each in settings.get("tail_consumers") or ()],
        "logpush": bool(settings.get("logpush", False)),
        "lifecycle": EXPORTS if found.declared else MIGRATIONS,
        "workersDev": bool(found.subdomain.get("enabled", False)),
        "previewUrls": bool(found.subdomain.get("previews_enabled", False)),
        **{name: _spoken(_cameled(settings.get(name) or {}), known.get(name) or {}) for name in _RECORDS},
    }
    shown |= {name: known.get(name, False) for name in ("adopt", "forceDelete")}
    for name in ("keepBindings", "deletedClasses", "transferredClasses"):
        if name in known:
            shown[name] = known[name]
    optional = {name for name, value in shown.items() if value in ({}, [], None) or (name == "logpush" and not value)}
    return {name: value for name, value in shown.items() if name not in optional or name in known}


def _with_files(live: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the place of a file whose content is what is live."""
    merged = {}
    for name, module in live.items():
        file = known.get(name, {}).get("file")
        merged[name] = {**module, **({"file": file} if file else {})}
    return merged


def _classes(found: Found, known: Mapping[str, Any]) -> dict[str, Any]:
    enabled = {entry["class_name"]: entry for entry in found.runtime.get("containers") or () if entry.get("class_name")}
    classes: dict[str, Any] = {}
    for name, storage in sorted(found.storage.items()):
        mine = known.get(name) or {}
        hints = {key: mine[key] for key in ("renamedFrom", "transferredFrom") if key in mine}
        classes[name] = {"storage": storage, **hints}
        if name in enabled:
            shown = enabled[name].get("images")
            classes[name]["container"] = {"images": dict(shown)} if shown else {}
    return classes


def _spoken(live: Any, known: Any) -> Any:
    """Leave out what the server filled in and the program said nothing about."""
    if not isinstance(live, dict) or not isinstance(known, dict):
        return live
    shown = {}
    for key, value in live.items():
        inner = _spoken(value, known.get(key, {})) if isinstance(value, dict) else value
        silent = inner is None or inner == {} or inner == _QUIET.get(key, UNSET)
        if key in known or not silent:
            shown[key] = inner
    return shown


UNSET: Final = object()


def storage_of(uses_sqlite: Any) -> str:
    """Return the storage of a namespace as the API shows it."""
    return SQLITE if uses_sqlite else KEY_VALUE
