"""How a version comes to be and how it goes live: the one path all uploads take.

A version is stored with its Durable Object lifecycle pending; deploying it applies that, resolves bindings to
namespaces and makes the version what the Worker's document and all references speak of. A handler runs in one
transaction, so an upload that cannot go live leaves nothing behind.
"""

from dataclasses import dataclass, field

from emulator.calls import Call
from emulator.clock import uuid_id
from emulator.services.durable_objects import errors as durable_errors
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.durable_objects.exports import durable_objects as durable_exports
from emulator.services.durable_objects.model import Exported
from emulator.store import Document

from . import assets, bindings, errors, metadata, references, rules
from .source import Code
from .trial import require_start
from .upload import Upload, store_modules

STARTUP_MS = 7


@dataclass(frozen=True)
class Options:
    """How an upload treats what was there before."""

    strict: bool = False  # bindings that cannot be inherited are refused
    keep: tuple[str, ...] = ()  # kinds of bindings kept beside those the upload asks to keep
    reconcile: bool = False  # no `exports` in a Worker that declared some means an empty map


@dataclass
class Traffic:
    """Which versions of a deployment serve how much."""

    shares: list[tuple[Document, float]]
    annotations: Document = field(default_factory=dict)


def draft(call: Call, worker: Document, upload: Upload, options: Options) -> Document:
    """A version made of an upload, not yet stored."""
    given = upload.metadata
    latest = rules.latest_version(call, worker)
    former = bindings.Former(latest, call.store, rules.scope(call, worker))
    keep = (*options.keep, *given.get("keep_bindings", ()))
    asked = bindings.check(given.get("bindings", ()))
    settled = bindings.settle(asked, former, call.state.vault, keep=keep, strict=options.strict)
    bindings.check_targets(call.store, call.account_id, worker["name"], settled)
    exports = given.get("exports")
    durable_objects.check(given.get("migrations"), exports)
    if exports is None and options.reconcile and worker["declared"]:
        exports = {}
    return {
        **_identity(call),
        **metadata.config(given),
        **_code(upload.code),
        "annotations": given.get("annotations", {}),
        "assets": assets.settle(call, given, latest),
        "bindings": settled,
        "body_part": given.get("body_part"),
        "etag": upload.etag,
        "exports": exports,
        "main_module": given.get("main_module"),
        "migrations": given.get("migrations"),
        "modules": store_modules(call.state.blobs, upload.modules),
    }


def _identity(call: Call) -> Document:
    now, user = call.state.clock.stamp(), call.state.settings.user
    return {
        "id": uuid_id(),
        "number": 0,
        "created_on": now,
        "modified_on": now,
        "source": rules.source(call),
        "author_email": user.email,
        "author_id": user.id,
        "startup_time_ms": STARTUP_MS,
        "applied": False,
        "migration_tag": None,
        "exports_reconciliation": None,
    }


def _code(code: Code | None) -> Document:
    exported = code.exported if code else Exported(complete=True)
    return {
        "exported": {"names": sorted(exported.names), "complete": exported.complete},
        "handlers": list(code.handlers) if code else ["fetch"],
    }


def copy(call: Call, former: Document, **changes: object) -> Document:
    """A version like another, with changes; its Durable Object classes stay as they are."""
    return {**former, **_identity(call), "annotations": {}, "migrations": None, **changes}


def add(call: Call, worker: Document, version: Document) -> Document:
    """Store a version as the Worker's latest, if its code starts."""
    require_start(call, version)
    worker["last_number"] += 1
    version["number"] = worker["last_number"]
    worker["latest"] = version["id"]
    put(call, worker, version)
    rules.put(call, worker)
    return version


def put(call: Call, worker: Document, version: Document) -> None:
    """Write a version."""
    call.store.put(rules.VERSION, rules.scope(call, worker), version["id"], version)


def lifecycle(worker: Document, version: Document) -> durable_objects.Lifecycle:
    """What a version says about Durable Object classes."""
    exported = version["exported"]
    return durable_objects.Lifecycle(
        script=worker["name"],
        exported=Exported(frozenset(exported["names"]), complete=exported["complete"]),
        bound=bindings.classes(version["bindings"]),
        migrations=version["migrations"],
        exports=version["exports"],
        containers=version.get("containers"),
        tag=worker["migration_tag"],
        declared=worker["declared"],
    )


def deploy(call: Call, worker: Document, traffic: Traffic) -> Document:
    """Send traffic to versions; the first is the one the Worker is known by."""
    main = traffic.shares[0][0]
    for version, _ in traffic.shares:
        if not version["applied"]:
            _apply(call, worker, version)
    durable_objects.mark(call.state, call.account_id, lifecycle(worker, main))
    now = call.state.clock.stamp()
    deployment: Document = {
        "id": uuid_id(),
        "source": rules.source(call),
        "strategy": "percentage",
        "author_email": call.state.settings.user.email,
        "annotations": {"workers/triggered_by": "deployment", **traffic.annotations},
        "versions": [{"version_id": version["id"], "percentage": share} for version, share in traffic.shares],
        "created_on": now,
    }
    call.store.put(rules.DEPLOYMENT, rules.scope(call, worker), deployment["id"], deployment)
    worker["deployed_on"] = now
    worker["live"] = _digest(call, main, deployment["id"])
    rules.put(call, worker)
    references.remember(call.store, call.account_id, worker["name"], main["bindings"])
    call.state.runtime.deployed.add((call.account_id, worker["name"]))
    return deployment


def _apply(call: Call, worker: Document, version: Document) -> None:
    """Do what a version says about Durable Object classes, then find the namespaces its bindings mean."""
    before, planned = durable_objects.plan(call.store, call.account_id, lifecycle(worker, version))
    cause = "exports" if planned.reconciliation is not None else f"migration to {planned.tag or 'no tag'}"
    durable_objects.apply(call.state, call.account_id, before, planned, cause)
    if planned.changes(before):
        worker["lifecycle_number"] = version["number"]
    worker["migration_tag"] = planned.tag
    worker["declared"] = worker["declared"] or bool(durable_exports(version["exports"] or {}))
    version["bindings"] = [resolve(call, worker, version, each) for each in version["bindings"]]
    version["exports_reconciliation"] = planned.reconciliation
    version["migration_tag"] = planned.tag
    version["applied"] = True
    put(call, worker, version)


def resolve(call: Call, worker: Document, version: Document, binding: Document) -> Document:
    """A binding with the id of the namespace or queue it means; names of both may change later."""
    if binding["type"] == "queue":
        return _with_queue(call, binding)
    if binding["type"] != "durable_object_namespace":
        return binding
    store, account = call.store, call.account_id
    script, name = binding.get("script_name") or worker["name"], binding.get("class_name")
    if name is None:
        found = durable_objects.namespace_by_id(store, account, binding["namespace_id"])
    else:
        entry = (version["exports"] or {}).get(name, {})
        expected = entry.get("transfer_from") if script == worker["name"] else None
        found = durable_objects.namespace_of(store, account, script, name) or (
            durable_objects.namespace_of(store, account, expected, name) if expected else None
        )
    if found is None:
        raise durable_errors.NO_CLASS(name=name or binding["namespace_id"])
    return {**binding, "class_name": name or found["class"], "namespace_id": found["id"]}


def _with_queue(call: Call, binding: Document) -> Document:
    if "queue_id" in binding:
        return binding
    found = call.store.find("queue", call.account_id, "name", binding["queue_name"])
    return {**binding, "queue_id": found[0]["queue_id"]} if found else binding


def _digest(call: Call, version: Document, deployment_id: str) -> Document:
    """What the Worker's document says of its live version."""
    named = [name for name in version["exported"]["names"] if name != "default"]
    return {
        "version_id": version["id"],
        "deployment_id": deployment_id,
        "etag": version["etag"],
        "handlers": version["handlers"],
        "named_handlers": [{"name": name, "handlers": []} for name in named],
        "has_modules": version["main_module"] is not None,
        "has_assets": version["assets"] is not None,
        "compatibility_date": version.get("compatibility_date"),
        "compatibility_flags": version["compatibility_flags"],
        "usage_model": version["usage_model"],
        "placement": version.get("placement"),
        "cache_options": version.get("cache_options"),
        "exports": version["exports"],
        "last_deployed_from": rules.source(call),
    }


def upload_and_deploy(call: Call, worker: Document, version: Document) -> Document:
    """Store a version and give it all traffic."""
    add(call, worker, version)
    deploy(call, worker, Traffic([(version, 100)], {"workers/triggered_by": "upload", **version["annotations"]}))
    return version


def require_latest_live(worker: Document, *, secret: bool = False) -> None:
    """Settings and secrets change the live version only when nothing newer waits to be deployed."""
    if worker["live"] and worker["live"]["version_id"] != worker["latest"]:
        raise errors.SECRET_NOT_LIVE() if secret else errors.SETTINGS_NOT_LIVE()
