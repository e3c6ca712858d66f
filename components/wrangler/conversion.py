"""From one environment of a wrangler configuration to the settings of a stack that takes over what it deployed.

Pure: what has to be known beyond the configuration comes in `Surroundings`. What the settings cannot say is an entry of
the report, never forgotten; what cannot be understood is a problem, and then there are no settings.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Final

from ..errors import UserError
from ..facts.stack import Package
from ..platform import compatibility, storage
from ..platform.bindings import DURABLE_OBJECT, JSON, KV_NAMESPACE, R2_BUCKET, WORKFLOW
from ..platform.references import Reference
from ..rules import ADVISORY, MANDATORY, check
from ..settings import SandboxSettings, SettingsError
from ..settings.document import MAIN_KIND
from ..settings.facts import facts
from . import bindings, classes, instances, keys, value_types
from .environment import Environment
from .report import Entry, Kind

_GENERAL: Final = "The code is bundled anew, from the same source by this package's builder"


class ConversionError(UserError):
    """A configuration that cannot be taken over: one line for each problem, with file and line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Surroundings:
    """What a conversion has to know beyond the configuration."""

    is_file: Callable[[str], bool] = lambda _: False
    """Whether a path, relative to the configuration, is a file."""
    leads_out: Callable[[str], bool] = lambda _: False
    """Whether links on its way take a path, relative to where the settings' paths begin, out of there."""
    prefix: str = ""
    """Way from where the settings' paths begin to the folder of the configuration: empty, or ending in a slash."""
    account_id: str | None = None
    sdk_version: str | None = None
    """Version of the SDK to say in the settings, where no lock file beside the entry does."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of KV namespaces by id, as the account has them."""
    routes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Ids of zone and route by pattern, as the account has them."""
    secrets: frozenset[str] = frozenset()
    """Names of secrets that the script has."""
    digest: Callable[[Reference], str | None] = lambda _: None
    """Digest of the image that a tag names now."""
    deployed: bool = True
    """Whether wrangler has deployed it: then a route exists, and can only be taken over by its id."""


@dataclass(frozen=True)
class Converted:
    """Settings as a document, those settings, and what is not simply as it was."""

    document: dict[str, Any]
    settings: SandboxSettings
    report: tuple[Entry, ...]
    place: str
    """Where the environment begins."""


class Draft:
    """Settings and report in the making, for the parts of the conversion."""

    def __init__(self, said: Environment, around: Surroundings) -> None:
        self.said, self.around = said, around
        self.worker: dict[str, Any] = {}
        self.entries: list[Entry] = []
        self.problems: list[str] = []

    def entry(self, kind: Kind, path: tuple[str | int, ...], what: str, name: str = "") -> None:
        """Add to the report."""
        self.entries.append(Entry(kind, self.said.where(*path), name or ".".join(map(str, path)), what))

    def problem(self, path: tuple[str | int, ...], what: str) -> None:
        """Remember what cannot be understood."""
        self.problems.append(f"{self.said.where(*path)}: {'.'.join(map(str, path))}: {what}")

    def inside(self, path: tuple[str | int, ...], value: str) -> str | None:
        """Return a file's path from where the settings begin; one that leads out of there is a problem."""
        plain = value.replace("\\", "/")
        parts: list[str] = self.around.prefix.split("/")[:-1]
        for part in plain.split("/"):
            if part == ".." and parts:
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        odd = plain.startswith("/") or ".." in parts or not parts or not value.isprintable() or ":" in value
        if odd or self.around.leads_out("/".join(parts)):
            self.problem(path, f"{value!r} leads out of the project; name a folder above it with --into")
            return None
        return "/".join(parts)


def converted(said: Environment, around: Surroundings | None = None) -> Converted:
    """Convert an environment; raise ConversionError with everything that is wrong."""
    draft = Draft(said, around or Surroundings())
    for path, what in value_types.mistyped(said):
        draft.problem(path, what)
    if draft.problems:
        raise ConversionError(draft.problems)
    whole = _whole(draft)
    keys.rest(draft)
    if draft.problems:
        raise ConversionError(draft.problems)
    try:
        settings = SandboxSettings.parse(whole)
    except SettingsError as error:
        place = said.document.name
        raise ConversionError([f"{place}: as a setting, {problem}" for problem in error.problems]) from None
    return Converted(whole, settings, tuple(dict.fromkeys(draft.entries)), said.place)


def accepting(made: Converted, today: date) -> Converted:
    """Make rules advisory that the project breaks as it runs, each told: taking over is no moment to change things."""
    package = Package.of("sdk", locked=made.settings.sdk.version) if made.settings.sdk.version else None
    broken = [each for each in check(facts(made.settings, package), today=today) if each.severity == MANDATORY]
    if not broken:
        return made
    document = {**made.document, "rules": {each.rule: ADVISORY for each in broken}}
    place = made.place
    entries = [Entry("note", place, each.rule, f"advisory here, as {each.where}: {each.what}") for each in broken]
    settings = SandboxSettings.parse(document)
    return replace(made, document=document, settings=settings, report=(*made.report, *dict.fromkeys(entries)))


def _whole(draft: Draft) -> dict[str, Any]:
    said, name = draft.said, draft.said.script_name
    if name is None:
        draft.problem(("name",), "the Worker has no name; add it, as wrangler would ask for it")
    if said.name:
        draft.entry("change", ("name",), "the tags by which wrangler knows an environment's script go", "tags")
    kinds, generation = instances.read(draft)
    code = _code(draft)
    existing = _bindings(draft)
    _runtime(draft)
    _triggers(draft)
    classes.read(draft, {kind["class_name"] for kind in kinds.values()})
    main = kinds.pop(MAIN_KIND, {})
    sdk = {"generation": generation} if generation != "0.12" else {}
    if draft.around.sdk_version:
        sdk["version"] = draft.around.sdk_version
    secrets = _secrets(draft)
    account = said.get("account_id", str) or draft.around.account_id
    return {
        "name": label(name or ""),
        "environment": "lasting",
        **({"account_id": account} if said.get("account_id", str) else {}),
        **({"sdk": sdk} if sdk else {}),
        "worker": {"name": name, **code, **draft.worker},
        **main,
        **({"further_sandboxes": kinds} if kinds else {}),
        "storage": {
            **{role: {"enabled": False} for role in storage.STORES if role != storage.EVENTS},
            **({"existing": existing} if existing else {}),
        },
        **({"secrets": secrets} if secrets else {}),
    }


def label(script: str) -> str:
    """Return a name for a stack that begins what it makes beside the script."""
    plain = re.sub(r"[^a-z0-9]+", "-", script.lower()).strip("-")
    plain = plain if plain[:1].isalpha() else f"s-{plain}"
    return plain[:32].strip("-") or "sandbox"


def _code(draft: Draft) -> dict[str, Any]:
    said = draft.said
    main = said.get("main", str)
    ready = said.said("no_bundle") is True
    if not main:
        draft.problem(("main",), "there is no entry; a Worker of assets alone has no sandboxes")
        return {}
    path = draft.inside(("main",), main)
    draft.entry("change", ("main",), "uploaded as it is, by this package" if ready else _GENERAL, "modules")
    if not ready and PurePosixPath(main).stem != "index":
        draft.entry("change", ("main",), "the bundle's main module is index.js", "mainModule")
    return {"bundle" if ready else "entry": path}


def _bindings(draft: Draft) -> dict[str, Any]:
    """Take the bindings over; give those of buckets and namespaces that the stack takes into its state."""
    said, variables, others = draft.said, {}, {}
    existing: dict[str, dict[str, Any]] = {}
    owned: set[str] = set()
    for name, value in (said.get("vars", dict) or {}).items():
        if isinstance(value, str):
            variables[name] = value
        else:
            others[name] = {"type": JSON, "json": value}
    for path in bindings.CONFIG_KEYS:
        top = said.said(path[0])
        value = top if len(path) == 1 else top.get(path[1]) if isinstance(top, dict) else None
        for bound in bindings.read(path, value) if value is not None else ():
            if not _fits(draft, bound, {*variables, *others, *(name for each in existing.values() for name in each)}):
                continue
            held = _existing(draft, bound, owned)
            if held:
                existing.setdefault(held[0], {})[str(bound.name)] = held[1]
            else:
                others[str(bound.name)] = bound.value
    _leave_implied(others)
    draft.worker |= {
        "adopt": True,
        "package_variables": False,
        "keeps_secrets": True,
        **({"variables": variables} if variables else {}),
        **({"bindings": others} if others else {}),
        "rate_limit": None,
    }
    return existing


def _leave_implied(others: dict[str, Any]) -> None:
    """Leave out a class's only binding if it has the class's name: every class has that one by itself."""
    own = [each["class_name"] for each in others.values() if each["type"] == DURABLE_OBJECT and len(each) == 2]
    for name in own:
        if others.get(name) == {"type": DURABLE_OBJECT, "class_name": name} and own.count(name) == 1:
            del others[name]


def _fits(draft: Draft, bound: bindings.Bound, taken: set[str]) -> bool:
    if bound.name is None:
        draft.problem(bound.path, "this is not what wrangler wants here")
    elif bound.name in taken:
        draft.problem(bound.path, f"the name {bound.name} is used twice")
    elif bound.missing:
        what = f"{', '.join(bound.missing)} is not said here: wrangler found or made it; write it down first"
        draft.entry("lost", bound.path, what)
    else:
        for name in bound.beyond:
            draft.entry("lost", (*bound.path, name), "the settings cannot say it")
        if bound.value["type"] == WORKFLOW:
            draft.entry("left", bound.path, "the workflow itself")
        return True
    return False


def _existing(draft: Draft, bound: bindings.Bound, owned: set[str]) -> tuple[str, dict[str, Any]] | None:
    value, kind = bound.value, bound.value["type"]
    if kind == R2_BUCKET and value["bucket_name"] not in owned:
        owned.add(value["bucket_name"])
        jurisdiction = {"jurisdiction": value["jurisdiction"]} if "jurisdiction" in value else {}
        draft.entry("change", bound.path, "the bucket is taken into the state of the stack", "import")
        return "buckets", {"name": value["bucket_name"], **jurisdiction}
    if kind == KV_NAMESPACE and value["namespace_id"] not in owned:
        title = draft.around.titles.get(value["namespace_id"])
        if title is None:
            draft.entry("left", bound.path, "the namespace, which the Worker uses by its id")
            return None
        owned.add(value["namespace_id"])
        draft.entry("change", bound.path, "the namespace is taken into the state of the stack", "import")
        return "namespaces", {"id": value["namespace_id"], "title": title}
    return None


def _runtime(draft: Draft) -> None:
    said, worker = draft.said, draft.worker
    since = said.get("compatibility_date", str)
    flags = [flag for flag in said.get("compatibility_flags", list) or () if isinstance(flag, str)]
    if since is None:
        draft.problem(("compatibility_date",), "there is no date; add the one that was deployed last")
        return
    further = sorted(set(flags) - {compatibility.NODEJS_FLAG})
    if since < compatibility.OWN_PID_NAMESPACE and compatibility.OWN_PID_NAMESPACE_FLAG not in further:
        further = sorted([*further, compatibility.OWN_PID_NAMESPACE_FLAG])
        since_when = compatibility.OWN_PID_NAMESPACE
        why = f"so that containers have a process namespace of their own, as dates from {since_when} on give them"
        draft.entry(
            "change",
            ("compatibility_date",),
            f"{compatibility.OWN_PID_NAMESPACE_FLAG} is added, {why}",
            "compatibilityFlags",
        )
    if set(compatibility.flags(since, further)) - set(flags) - {compatibility.OWN_PID_NAMESPACE_FLAG}:
        draft.entry(
            "change", ("compatibility_flags",), "nodejs_compat is added, which the SDK needs", "compatibilityFlags"
        )
    worker |= {"compatibility_date": since, **({"compatibility_flags": further} if further else {})}
    keys.records(draft)


def _triggers(draft: Draft) -> None:
    said, worker = draft.said, draft.worker
    crons = (said.get("triggers", dict) or {}).get("crons")
    worker["schedules"] = list(crons) if isinstance(crons, list) else []
    routes = said.said("routes")
    listed = routes if isinstance(routes, list) else [said.said("route")] if said.said("route") else []
    key = "routes" if isinstance(routes, list) else "route"
    taken = [route for index, each in enumerate(listed) if (route := _route(draft, key, index, each))]
    if taken:
        worker["routes"] = taken
    on = said.get("workers_dev", bool)
    worker["workers_dev"] = not listed if on is None else on
    previews = said.get("preview_urls", bool)
    worker["preview_urls"] = worker["workers_dev"] if previews is None else previews
    if previews is None:
        draft.entry(
            "change", ("workers_dev",), "URLs of versions follow workers_dev, as nothing is said", "previewUrls"
        )


def _route(draft: Draft, key: str, index: int, each: Any) -> dict[str, Any] | None:
    path: tuple[str | int, ...] = (key, index) if key == "routes" else (key,)
    pattern = each.get("pattern") if isinstance(each, dict) else each
    if not isinstance(pattern, str):
        draft.problem(path, "this is no route")
        return None
    if isinstance(each, dict) and each.get("custom_domain"):
        draft.entry("left", path, f"the custom domain {pattern}")
        return None
    live = draft.around.routes.get(pattern)
    if live:
        draft.entry("change", path, "the route is taken into the state of the stack", "import")
        return {"pattern": pattern, "zone_id": live[0], "id": live[1]}
    zone = {"zone": each.get("zone_name"), "zone_id": each.get("zone_id")} if isinstance(each, dict) else {}
    zone = {name: value for name, value in zone.items() if value is not None}
    if zone and not draft.around.deployed:
        return {"pattern": pattern, **zone}
    draft.entry("left", path, f"the route {pattern}; it is taken over where the account can be asked for its id")
    return None


def _secrets(draft: Draft) -> list[str]:
    said = (draft.said.get("secrets", dict) or {}).get("required")
    required = [name for name in said if isinstance(name, str)] if isinstance(said, list) else []
    for name in required:
        draft.entry("secret", ("secrets",), f"pulumi config set --secret {name}", name)
    for name in sorted(draft.around.secrets - set(required)):
        draft.entry(
            "left", ("name",), f"the secret {name}, which stays as it is; name it in `secrets` to manage it", name
        )
    return sorted(set(required))
