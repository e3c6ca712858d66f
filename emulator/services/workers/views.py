"""Workers and versions as the API shows them; no view has a secret's value."""

from typing import Any

from emulator.blobs import Blobs
from emulator.calls import Call, Raw
from emulator.schema import without_nulls
from emulator.store import Document, pick

from . import bindings, metadata

_WRITE_ONLY = ("renamed_to", "transferred_to")
_SHOWN_EXPORTS = ("durable-object", "worker")


def exports(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """An exports map as it is read back."""
    if given is None:
        return None
    return {
        name: {key: value for key, value in entry.items() if key not in _WRITE_ONLY}
        for name, entry in given.items()
        if entry["type"] in _SHOWN_EXPORTS
    }


def script(worker: Document) -> Document:
    """A script, as lists and uploads show it."""
    live = worker["live"] or {}
    optional = {
        "compatibility_date": live.get("compatibility_date"),
        "placement": live.get("placement"),
        "placement_mode": (live.get("placement") or {}).get("mode"),
        "cache_options": live.get("cache_options"),
        "exports": exports(live.get("exports")),
        "migration_tag": worker["migration_tag"],
        "observability": metadata.full_observability(worker["observability"]) if worker["observability"] else None,
    }
    return {
        "id": worker["name"],
        "tag": worker["id"],
        **pick(worker, "tags", "created_on", "modified_on"),
        "etag": live.get("etag", ""),
        "handlers": live.get("handlers", []),
        "named_handlers": live.get("named_handlers", []),
        "has_modules": live.get("has_modules", False),
        "has_assets": live.get("has_assets", False),
        "compatibility_flags": live.get("compatibility_flags", []),
        "usage_model": live.get("usage_model", "standard"),
        "last_deployed_from": live.get("last_deployed_from", "api"),
        "logpush": worker["logpush"],
        "tail_consumers": worker["tail_consumers"],
        **without_nulls(optional),
    }


def uploaded(worker: Document, version: Document) -> Document:
    """The answer to an upload; `deployment_id` is the version's id without hyphens."""
    return {
        **script(worker),
        **without_nulls(
            {"entry_point": version["main_module"], "exports_reconciliation": version["exports_reconciliation"]}
        ),
        "startup_time_ms": version["startup_time_ms"],
        "deployment_id": version["id"].replace("-", ""),
    }


def script_settings(worker: Document) -> Document:
    """What belongs to the Worker and not to a version."""
    return {
        "logpush": worker["logpush"],
        "observability": metadata.full_observability(worker["observability"]),
        "tags": worker["tags"],
        "tail_consumers": worker["tail_consumers"],
    }


def settings(call: Call, worker: Document, version: Document) -> Document:
    """Everything but the code."""
    optional = {name: version.get(name) for name in ("cache_options", "compatibility_date", "limits", "placement")}
    return {
        **script_settings(worker),
        **without_nulls(optional),
        **without_nulls({"annotations": version["annotations"] or None}),
        "bindings": bindings.public(call, version["bindings"]),
        "compatibility_flags": version["compatibility_flags"],
        "usage_model": version["usage_model"],
    }


def content(blobs: Blobs, version: Document) -> Raw:
    """The code: one file of the older syntax as it is, modules as parts of a form."""
    if version["main_module"] is None and len(version["modules"]) == 1:
        module = version["modules"][0]
        return Raw(blobs.get(module["sha256"]) or b"", "application/javascript", headers={"etag": version["etag"]})
    boundary = f"boundary{version['etag'][:32]}"
    parts = []
    for module in version["modules"]:
        name = module["name"].translate({34: "%22", 13: "%0D", 10: "%0A"})
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
        kind = module["content_type"] or "application/octet-stream"
        parts.append(f"{head}Content-Type: {kind}\r\n\r\n".encode() + (blobs.get(module["sha256"]) or b"") + b"\r\n")
    body = b"".join(parts) + f"--{boundary}--\r\n".encode()
    headers = {"etag": version["etag"]}
    if version["main_module"] and version["main_module"].isascii() and version["main_module"].isprintable():
        headers["cf-entrypoint"] = version["main_module"]
    return Raw(body, f"multipart/form-data; boundary={boundary}", headers=headers)
