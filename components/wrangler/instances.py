"""Containers of a configuration as kinds of sandboxes: class, image and instances of each."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..platform.containers import (
    DEFAULT_INSTANCE_TYPE,
    DEFAULT_MAX_INSTANCES,
    INSTANCE_TYPE_ALIASES,
    INSTANCE_TYPES,
    MANAGED,
    REGISTRY,
    SCHEDULED,
    SMALLEST_STEP,
    TIERS_DEFAULT,
)
from ..platform.references import Reference, parse
from ..platform.sdk import MAIN_CLASS
from ..settings.document import MAIN_KIND

if TYPE_CHECKING:
    from .conversion import Draft

_READ: Final = frozenset({
    "class_name", "constraints", "image", "image_build_context", "images", "instance_type", "max_instances", "name",
    "observability", "rollout_active_grace_period", "rollout_step_percentage", "scheduling_policy", "ssh",
})  # fmt: skip

Kinds = dict[str, dict[str, Any]]


def read(draft: "Draft") -> tuple[Kinds, str]:
    """Return the kinds of sandboxes, the main one under `main`, and the generation of the SDK that they are for."""
    listed = draft.said.said("containers")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed) or not listed:
        draft.problem(("containers",), "there are no containers, so this is no Worker with sandboxes")
        return {}, "0.12"
    policies = {each.get("scheduling_policy", SCHEDULED) for each in listed}
    if len(policies) > 1 or not policies <= {SCHEDULED, MANAGED}:
        draft.problem(("containers",), f"one of the policies {SCHEDULED} and {MANAGED} is needed, for all of them")
        return {}, "0.12"
    managed = policies == {MANAGED}
    linked = {
        each.get("container"): name
        for name, each in (draft.said.get("exports", dict) or {}).items()
        if isinstance(each, dict) and isinstance(each.get("container"), str)
    }
    names = [each.get("class_name") or linked.get(each.get("name")) for each in listed]
    first = names.index(MAIN_CLASS) if MAIN_CLASS in names else 0
    kinds: Kinds = {}
    for index, (name, each) in enumerate(zip(names, listed, strict=True)):
        if not isinstance(name, str) or names.count(name) > 1:
            draft.problem(("containers", index), "a container belongs to one class, and a class has one container")
            continue
        kind = MAIN_KIND if index == first else _kind(name, kinds)
        found = _container(draft, index, name, each, managed=managed)
        main_class = {} if kind == MAIN_KIND and name == MAIN_CLASS else {"class_name": name}
        kinds[kind] = {**main_class, **found}
    shown = {kind: {"class_name": MAIN_CLASS, **each} for kind, each in kinds.items()}
    return shown, "1.x" if managed else "0.12"


def _kind(name: str, taken: Kinds) -> str:
    plain = re.sub(r"[^a-z0-9]", "", name.lower()) or "kind"
    plain = "mainkind" if plain == MAIN_KIND else plain
    return plain if plain not in taken else f"{plain}{len(taken)}"


def _container(draft: "Draft", index: int, name: str, each: dict[str, Any], *, managed: bool) -> dict[str, Any]:
    path = ("containers", index)
    for key in each.keys() - _READ:
        if key == "rollout_kind":
            draft.entry("note", (*path, key), "changes are rolled out by the plugin, which waits for them")
        elif each[key] not in (None, [], {}):
            draft.entry("lost", (*path, key), "the settings cannot say it")
    container: dict[str, Any] = {"name": _name(draft, name, each), "adopt": True, "logs": _logs(draft, each)}
    ssh = each.get("ssh") if isinstance(each.get("ssh"), dict) else {}
    container["ssh"] = bool((ssh or {}).get("enabled", True))
    for key in (ssh or {}).keys() - {"enabled"}:
        draft.entry("lost", (*path, "ssh", key), "the settings cannot say it")
    if managed:
        return {"image": _named_image(draft, path, each.get("images")), "container": container}
    container |= {"max_instances": each.get("max_instances", DEFAULT_MAX_INSTANCES), **_size(each.get("instance_type"))}
    container |= _places(draft, path, each.get("constraints") or {})
    rollout = _rollout(draft, path, each)
    if rollout:
        container["rollout"] = rollout
    return {
        "image": _image(draft, (*path, "image"), each.get("image"), each.get("image_build_context")),
        "container": container,
    }


def _name(draft: "Draft", class_name: str, each: dict[str, Any]) -> str:
    """Return the name of the application, which wrangler derives if it is not said."""
    said = each.get("name")
    if isinstance(said, str):
        return said
    suffix = f"-{draft.said.name}" if draft.said.name else ""
    return f"{draft.said.top_name}-{class_name}{suffix}".lower().replace(" ", "-")


def _logs(draft: "Draft", each: dict[str, Any]) -> bool:
    """Whether logs of instances are kept: what a container does not say follows the Worker."""
    for said in (each.get("observability"), draft.said.said("observability")):
        if isinstance(said, dict):
            logs = said.get("logs") if isinstance(said.get("logs"), dict) else {}
            return bool((logs or {}).get("enabled", said.get("enabled") is True))
    return False


def _size(said: Any) -> dict[str, Any]:
    if isinstance(said, dict):
        least = INSTANCE_TYPES[DEFAULT_INSTANCE_TYPE]
        filled = {"vcpu": least.vcpu, "memory_mib": least.memory_mib, "disk_mb": least.disk_mb, **said}
        return {"size": filled}
    said = said or DEFAULT_INSTANCE_TYPE
    return {"instance_type": INSTANCE_TYPE_ALIASES.get(said, said) if isinstance(said, str) else said}


def _places(draft: "Draft", path: tuple[str | int, ...], said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if said.get("regions"):
        found["regions"] = [str(each).upper() for each in said["regions"]]
    if said.get("jurisdiction"):
        found["jurisdiction"] = str(said["jurisdiction"]).lower()
    for key in said.keys() - {"regions", "jurisdiction"}:
        if (key, said[key]) != ("tiers", list(TIERS_DEFAULT)):
            draft.entry("lost", (*path, "constraints", key), "the settings cannot say it")
    return found


def _rollout(draft: "Draft", path: tuple[str | int, ...], each: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    steps, grace = each.get("rollout_step_percentage"), each.get("rollout_active_grace_period")
    if isinstance(steps, list):
        found["steps"] = steps
    elif isinstance(steps, int):
        found["steps"] = [*range(max(steps, SMALLEST_STEP), 100, max(steps, SMALLEST_STEP)), 100]
        if steps < SMALLEST_STEP:
            draft.entry("note", (*path, "rollout_step_percentage"), "steps begin at 10 percent")
    if grace:
        found["grace_period_seconds"] = grace
    return found


def _named_image(draft: "Draft", path: tuple[str | int, ...], said: Any) -> dict[str, Any]:
    if not isinstance(said, dict) or len(said) != 1:
        draft.problem((*path, "images"), "the settings know one image for each class; keep one")
        return {}
    ((name, each),) = said.items()
    inner = (*path, "images", name)
    fields = each if isinstance(each, dict) else {}
    for key in fields.keys() - {"dockerfile", "build_context", "image"}:
        draft.entry("lost", (*inner, key), "the settings cannot say it")
    given = fields.get("dockerfile") or fields.get("image")
    return {"name": name, **_image(draft, inner, given, fields.get("build_context"))}


def _image(draft: "Draft", path: tuple[str | int, ...], said: Any, context: Any) -> dict[str, Any]:
    if not isinstance(said, str) or not said:
        draft.problem(path, "an image is a Dockerfile or a reference")
        return {}
    if draft.around.is_file(said):
        built: dict[str, Any] = {"dockerfile": draft.inside(path, said)}
        if isinstance(context, str):
            built["context"] = draft.inside(path, context)
        draft.entry("change", path, "the image is built anew, pushed under another name and rolled out", "image")
        return built
    found = parse(said)
    if found is None or said.startswith((".", "/")) or said.endswith("Dockerfile"):
        draft.problem(path, f"there is no Dockerfile {said}, and it is no reference of an image")
        return {}
    return _reference(draft, path, found)


def _reference(draft: "Draft", path: tuple[str | int, ...], said: Reference) -> dict[str, Any]:
    """Take over a ready image: in full, as wrangler would complete it, and by digest."""
    account = draft.said.get("account_id", str) or draft.around.account_id
    if said.host in ("", REGISTRY) and not re.match(r"[0-9a-f]{32}/", said.path):
        if account is None:
            draft.problem(path, "the reference has no account id; add account_id, or set CLOUDFLARE_ACCOUNT_ID")
            return {}
        said = replace(said, host=REGISTRY, path=f"{account}/{said.path}")
    digest = said.digest or draft.around.digest(said)
    if digest is None:
        draft.problem(path, f"{said} has no digest, by which images are deployed here; add it (@sha256:…)")
        return {}
    if said.digest:
        return {"reference": str(said)}
    draft.entry("change", path, "the image of this tag is named by its digest, and rolled out as such", "image")
    return {"reference": str(replace(said, tag="", digest=digest))}
