"""Workers and versions as the newer view shows them."""

import base64

from emulator.calls import Call
from emulator.schema import without_nulls
from emulator.services.workers import bindings, views
from emulator.services.workers_triggers.rules import subdomain
from emulator.store import Document, pick

from . import rules

_OBSERVABILITY = {"enabled": False, "head_sampling_rate": 1}
_LOGS = {"enabled": False, "head_sampling_rate": 1, "persist": True, "destinations": []}


def worker(call: Call, document: Document) -> Document:
    """A Worker."""
    given = document["observability"] or {}
    observability = {
        **_OBSERVABILITY,
        **given,
        "logs": {**_LOGS, "invocation_logs": True, **(given.get("logs") or {})},
        "traces": {**_LOGS, **(given.get("traces") or {})},
    }
    optional = {"deployed_on": document["deployed_on"], "previews_base_config": _previews(call, document)}
    return {
        **pick(document, "id", "name", "created_on"),
        "updated_on": document["modified_on"],
        "logpush": document["logpush"],
        "observability": observability,
        "references": rules.references_of(call, document),
        "subdomain": {**document["subdomain"], **_addresses(call, document["name"])},
        "tags": document["tags"],
        "tail_consumers": [{"name": each["service"]} for each in document["tail_consumers"] or ()],
        **without_nulls(optional),
    }


def _previews(call: Call, document: Document) -> Document | None:
    given = document["previews_base_config"]
    if given is None:
        return None
    shown = bindings.public(call, given["env"].values())
    env = {each["name"]: {key: value for key, value in each.items() if key != "name"} for each in shown}
    rest = {name: value for name, value in given.items() if value not in ({}, {"mode": "off"})}
    return {**rest, "env": env}


def _addresses(call: Call, name: str) -> Document:
    below = subdomain(call.store, call.account_id)
    if below is None:
        return {}
    return {
        "url": f"https://{name}.{below}.workers.dev",
        "preview_url_suffix": f"-{name}.{below}.workers.dev",
    }


def version(call: Call, document: Document) -> Document:
    """A version; the code only where it alone is read and `include=modules` asks for it, migrations never."""
    owner = rules.get_worker(call)
    modules = "version_id" in call.params and call.choice("include", ("modules", ""), "") == "modules"
    names = ("cache_options", "compatibility_date", "limits", "main_module", "migration_tag", "package_dependencies")
    assets = document["assets"]
    optional = {
        **{name: document.get(name) for name in (*names, "placement")},
        "assets": {"config": assets["config"]} if assets else None,
        "containers": _containers(document),
        "exports": views.exports(document["exports"]),
        "exports_reconciliation": document["exports_reconciliation"],
        "modules": [_module(call, each) for each in document["modules"]] if modules else None,
    }
    return {
        **pick(document, "id", "number", "created_on"),
        "annotations": {"workers/triggered_by": "create_version_api", **document["annotations"]},
        "author_email": document["author_email"],
        "author_id": document["author_id"],
        "bindings": bindings.public(call, document["bindings"]),
        **pick(document, "compatibility_flags", "source", "startup_time_ms"),
        "urls": _urls(call, owner, document),
        "usage_model": document["usage_model"],
        **without_nulls(optional),
    }


def _module(call: Call, module: Document) -> Document:
    content = call.state.blobs.get(module["sha256"]) or b""
    return {
        "name": module["name"],
        "content_type": module["content_type"],
        "content_base64": base64.b64encode(content).decode(),
    }


def _containers(document: Document) -> list[Document] | None:
    """Containers by class, also where only the exports link them."""
    given = document.get("containers")
    if given is None:
        return None
    linked = {entry.get("container"): name for name, entry in (document["exports"] or {}).items()}
    shown = [{**each, "class_name": each.get("class_name") or linked.get(each.get("name"))} for each in given]
    return [each for each in shown if each["class_name"]]


def _urls(call: Call, owner: Document, document: Document) -> list[str]:
    below = subdomain(call.store, call.account_id)
    if below is None or not owner["subdomain"]["previews_enabled"]:
        return []
    return [f"https://{document['id'][:8]}-{owner['name']}.{below}.workers.dev"]
