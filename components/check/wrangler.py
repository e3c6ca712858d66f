"""What a wrangler configuration says, environment by environment, as facts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..facts import dockerfile
from ..facts.stack import Binding, Container, Dockerfile, DurableClass, Fact, Image, Preview, Worker
from ..platform.bindings import DURABLE_OBJECT, PLAIN_TEXT
from ..platform.containers import MANAGED, SCHEDULED, Size
from ..platform.durable_objects import CREATED_BY, EXPORT
from ..wrangler import value_types
from ..wrangler.bindings import CONFIG_KEYS
from ..wrangler.environment import Environment
from .files import Files, is_file, is_folder

_SCHEDULER_ONLY: Final = (
    "image", "instance_type", "max_instances", "constraints", "rollout_step_percentage", "rollout_kind",
    "rollout_active_grace_period", "affinities",
)  # fmt: skip
_LISTS: Final = ("r2_buckets", "kv_namespaces")
_JUDGED: Final = (
    "compatibility_date", "compatibility_flags", "containers", "durable_objects", "kv_namespaces", "main", "migrations",
    "r2_buckets", "vars",
)  # fmt: skip
"""Keys that rules read."""


def misshapen(said: Environment) -> Iterator[tuple[str, str]]:
    """Return place and name of every key that is not of the shape wrangler wants, which no rule could judge."""
    for key in _JUDGED:
        if wanted := value_types.expected(key, said.said(key)):
            yield said.where(key), f"{key} is not {wanted}"


def worker(said: Environment) -> Worker:
    """Return what an environment says about the Worker."""
    date, flags = said.get("compatibility_date", str), said.get("compatibility_flags", list)
    observability = said.get("observability", dict) or {}
    logs = observability.get("logs")
    recorded = observability.get("enabled") is True or (isinstance(logs, dict) and logs.get("enabled") is True)
    secrets = said.get("secrets", dict) or {}
    required: list[Any] = secrets["required"] if isinstance(secrets.get("required"), list) else []
    return Worker(
        where=said.place,
        compatibility_date=Fact(date, said.where("compatibility_date")),
        compatibility_flags=Fact(
            tuple(flag for flag in flags or () if isinstance(flag, str)), said.where("compatibility_flags")
        ),
        bindings=tuple(_bindings(said)),
        class_steps=Fact(frozenset(_steps(said)), said.where("migrations")),
        observability=Fact(recorded, said.where("observability")),
        required_secrets=Fact(frozenset(each for each in required if isinstance(each, str)), said.place),
        reachable=Fact(_is_reachable(said), said.where("workers_dev")),
    )


def _is_reachable(said: Environment) -> bool:
    """Say whether the internet reaches the Worker; without routes it does so on workers.dev unless that is off."""
    routed = any(said.get(key, kind) for key, kind in (("routes", list), ("route", str), ("route", dict)))
    return routed or said.get("workers_dev", bool) is not False


def _steps(said: Environment) -> Iterator[str]:
    if said.get("migrations", list):
        yield "migrations"
    if any(True for _ in _exported(said)):
        yield "exports"


def _bindings(said: Environment) -> Iterator[Binding]:
    objects = said.get("durable_objects", dict) or {}
    listed = objects.get("bindings")
    for index, each in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            path = ("durable_objects", "bindings", index)
            yield Binding(
                name=Fact(each["name"], said.where(*path, "name")),
                kind=Fact(DURABLE_OBJECT, said.where(*path)),
                where=said.where(*path),
                class_name=_text(each.get("class_name"), said.where(*path, "class_name")),
                script_name=Fact(each.get("script_name") or None, said.where(*path, "script_name")),
            )
    for name, value in (said.get("vars", dict) or {}).items():
        place = said.where("vars", name)
        text = value if isinstance(value, str) else ""
        kind = PLAIN_TEXT if isinstance(value, str) else "json"
        yield Binding(Fact(name, place), Fact(kind, place), place, Fact(text, place))
    for key in _LISTS:
        for index, each in enumerate(said.get(key, list) or ()):
            if isinstance(each, dict) and isinstance(each.get("binding"), str):
                place = said.where(key, index)
                yield Binding(Fact(each["binding"], place), Fact(CONFIG_KEYS[(key,)].kind, place), place)


def _text(value: Any, where: str) -> Fact[str] | None:
    return Fact(value, where) if isinstance(value, str) else None


def _exported(said: Environment) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in (said.get("exports", dict) or {}).items():
        if isinstance(each, dict) and each.get("type") == EXPORT:
            yield name, each


def classes(said: Environment) -> tuple[DurableClass, ...]:
    """Return the classes that exist once every migration ran, or that the exports declare."""
    found: dict[str, DurableClass] = {}
    for index, step in enumerate(said.get("migrations", list) or ()):
        if isinstance(step, dict):
            _migrate(found, step, lambda key, number, index=index: said.where("migrations", index, key, number))
    for name, each in _exported(said):
        where = said.where("exports", name)
        if each.get("state", "created") in ("created", "expecting-transfer"):
            found[name] = DurableClass(Fact(name, where), _text(each.get("storage"), where), where)
    return tuple(found.values())


def _migrate(found: dict[str, DurableClass], step: dict[str, Any], where: Any) -> None:
    for key, storage in CREATED_BY.items():
        for number, name in _strings(step.get(key)):
            place = where(key, number)
            found[name] = DurableClass(Fact(name, place), Fact(storage, place), place)
    for key in ("renamed_classes", "transferred_classes"):
        moves = step.get(key)
        for number, move in enumerate(moves if isinstance(moves, list) else ()):
            old, new = (move.get("from"), move.get("to")) if isinstance(move, dict) else (None, None)
            if isinstance(new, str):
                before = found.pop(old, None) if isinstance(old, str) and key == "renamed_classes" else None
                place = where(key, number)
                found[new] = DurableClass(Fact(new, place), before.storage if before else None, place)
    for _, name in _strings(step.get("deleted_classes")):
        found.pop(name, None)


def _strings(value: Any) -> Iterator[tuple[int, str]]:
    yield from (
        (index, each) for index, each in enumerate(value if isinstance(value, list) else ()) if isinstance(each, str)
    )


def containers(said: Environment, files: Files) -> tuple[Container, ...]:
    """Return the containers of an environment."""
    linked = {each.get("container"): name for name, each in _exported(said) if isinstance(each.get("container"), str)}
    found = []
    for index, each in enumerate(said.get("containers", list) or ()):
        if isinstance(each, dict):
            found.append(_container(said, index, each, linked, files))
    return tuple(found)


def _container(said: Environment, index: int, each: dict[str, Any], linked: dict[Any, str], files: Files) -> Container:
    def where(key: str) -> str:
        return said.where("containers", index, key)

    name = each.get("class_name") or linked.get(each.get("name"))
    policy = MANAGED if each.get("scheduling_policy") == MANAGED else SCHEDULED
    type_, count = each.get("instance_type"), each.get("max_instances")
    images = each.get("images") if isinstance(each.get("images"), dict) else {}
    return Container(
        where=said.where("containers", index),
        class_name=Fact(name if isinstance(name, str) else None, where("class_name")),
        policy=Fact(policy, where("scheduling_policy")),
        image=_image(said, each, each.get("image"), where("image"), files),
        images=tuple(
            image
            for key, one in (images or {}).items()
            if isinstance(one, dict)
            and (image := _image(said, one, one.get("dockerfile") or one.get("image"), where("images"), files))
        ),
        instance_type=None
        if isinstance(type_, dict)
        else Fact(type_ if isinstance(type_, str) else None, where("instance_type")),
        size=_size(type_, where("instance_type")),
        max_instances=Fact(count if isinstance(count, int) else None, where("max_instances")),
        scheduler_fields=Fact(tuple(key for key in _SCHEDULER_ONLY if key in each), said.where("containers", index)),
    )


def _size(value: Any, where: str) -> Fact[Size] | None:
    """Read a size of one's own; what wrangler would fill in is not guessed."""
    said = [value.get(key) for key in ("vcpu", "memory_mib", "disk_mb")] if isinstance(value, dict) else []
    numbers = [each for each in said if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(numbers) != 3:
        return None
    return Fact(Size(numbers[0], round(numbers[1]), round(numbers[2])), where)


def _image(said: Environment, beside: dict[str, Any], value: Any, where: str, files: Files) -> Image | None:
    if not isinstance(value, str) or not value or "\0" in value:
        return None
    path = said.folder / value
    path = path / "Dockerfile" if is_folder(path) else path
    if is_file(path):
        text = files.text(path)
        if text is None:
            return None
        return Image(where, dockerfile=read_dockerfile(files, path, text, arguments="image_vars" in beside))
    if value.startswith((".", "/")) or value.endswith("Dockerfile"):
        files.problem(where, f"there is no Dockerfile {value}")
        return None
    return Image(where, reference=Fact(value, where))


def read_dockerfile(files: Files, path: Path, text: str, *, arguments: bool = False) -> Dockerfile | None:
    """Return what a Dockerfile says; what is wrong with it as a file is remembered."""
    name = files.name(path)
    try:
        found = dockerfile.facts(name, text, arguments=arguments)
    except (ValueError, RecursionError):
        files.problem(f"{name}:1", "the Dockerfile cannot be read")
        return None
    if found is None:
        files.problem(f"{name}:1", "the Dockerfile has no FROM")
    return found


def preview(said: Environment) -> Preview:
    """Return what the routes say about preview hosts."""
    routes = said.get("routes", list) or [route for route in (said.get("route", str), said.get("route", dict)) if route]
    key = "routes" if said.get("routes", list) else "route"
    patterns, host, zone = [], None, None
    for index, each in enumerate(routes):
        pattern = each.get("pattern") if isinstance(each, dict) else each
        if not isinstance(pattern, str) or (isinstance(each, dict) and each.get("custom_domain")):
            continue
        patterns.append(pattern)
        if host is None and pattern.startswith("*.") and pattern.endswith("/*"):
            where = said.where(key, index)
            host = Fact(pattern[2:-2], where)
            zone = _text(each.get("zone_name"), where) if isinstance(each, dict) else None
    return Preview(
        where=said.place,
        hostname=host,
        zone=zone,
        routes=Fact(tuple(patterns), said.where(key)),
        certificates_managed=Fact(value=False, where=said.place),
    )
