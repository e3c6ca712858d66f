"""Keys of a configuration beside code, bindings, classes and containers: records, limits, place, and all the rest."""

from typing import TYPE_CHECKING, Any, Final

from . import guard
from .bindings import CONFIG_KEYS

if TYPE_CHECKING:
    from .conversion import Draft

_READ: Final = frozenset({
    "account_id", "compatibility_date", "compatibility_flags", "containers", "durable_objects", "exports", "limits",
    "logpush", "main", "migrations", "name", "no_bundle", "observability", "placement", "preview_urls", "queues",
    "route", "routes", "secrets", "tail_consumers", "triggers", "vars", "workers_dev",
    *(path[0] for path in CONFIG_KEYS),
})  # fmt: skip
_OWN_BUSINESS: Final = frozenset({"$schema", "dev", "send_metrics", "legacy_env", "access", "keep_names", "minify"})
"""What no deployment depends on, or what concerns the look of the bundle alone."""
_NOTES: Final = {
    "upload_source_maps": "source maps are not uploaded",
    "previews": "previews of wrangler have settings of their own",
    "tsconfig": "the builder takes the tsconfig.json beside the source",
}


def rest(draft: "Draft") -> None:
    """Speak of every key that no other part of the conversion reads: what is not known is lost."""
    for key in draft.said.keys:
        value = draft.said.said(key)
        if key in _READ or key in _OWN_BUSINESS or value in (None, [], {}) or (key == "build" and guard.is_ours(value)):
            continue
        if key in _NOTES:
            draft.entry("note", (key,), _NOTES[key])
        else:
            draft.entry("lost", (key,), "the settings cannot say it")
    queues = draft.said.get("queues", dict) or {}
    for index, each in enumerate(queues.get("consumers") or ()):
        name = each.get("queue") if isinstance(each, dict) else None
        draft.entry("left", ("queues", "consumers", index), f"the Worker goes on consuming the queue {name}")


def records(draft: "Draft") -> None:
    """Take over what Cloudflare records, limits, place and tail consumers."""
    said, worker = draft.said, draft.worker
    if "head_sampling_rate" not in (said.get("observability", dict) or {}):
        draft.entry("change", ("observability",), "a share of 1, which is the default, is said", "observability")
    worker["observability"] = _observability(draft, said.get("observability", dict) or {})
    limits = said.get("limits", dict) or {}
    for key, name in (("cpu_ms", "cpu_milliseconds"), ("subrequests", "subrequests")):
        if limits.get(key) is not None:
            worker[name] = limits[key]
    _beyond(draft, "limits", limits, {"cpu_ms", "subrequests"})
    placement = {key: value for key, value in (said.get("placement", dict) or {}).items() if value is not None}
    if placement and placement.get("mode") != "off":
        _beyond(draft, "placement", placement, {"mode", "region", "host", "hostname"})
        worker["placement"] = {key: placement[key] for key in placement if key != "hint"}
    if said.get("logpush", bool):
        worker["logpush"] = True
    consumers = said.get("tail_consumers", list) or []
    names = [each.get("service") for each in consumers if isinstance(each, dict)]
    if names:
        worker["tail_consumers"] = names
    for index, each in enumerate(consumers):
        _beyond(draft, f"tail_consumers.{index}", each if isinstance(each, dict) else {}, {"service"})


def _beyond(draft: "Draft", key: str, value: dict[str, Any], known: set[str]) -> None:
    for name in value.keys() - known:
        draft.entry("lost", (*key.split("."), name), "the settings cannot say it")


def _observability(draft: "Draft", said: dict[str, Any]) -> dict[str, Any]:
    known = {"enabled", "head_sampling_rate", "logs", "traces"}
    _beyond(draft, "observability", said, known)
    found: dict[str, Any] = {"enabled": said.get("enabled") is True, **_rate(said)}
    for name, more in (("logs", {"invocation_logs"}), ("traces", set())):
        inner = said.get(name)
        if isinstance(inner, dict):
            fields = {"enabled", "persist", "destinations", *more}
            _beyond(draft, f"observability.{name}", inner, {*fields, "head_sampling_rate"})
            shown = {key: inner[key] for key in inner if key in fields}
            found[name] = {"enabled": said.get("enabled") is True, **shown, **_rate(inner)}
    return found


def _rate(said: dict[str, Any]) -> dict[str, Any]:
    return {"sampling_rate": said["head_sampling_rate"]} if "head_sampling_rate" in said else {}
