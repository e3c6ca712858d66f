"""Rules of versions and deployments.

A version uploaded here changes nothing until it is deployed, and may not bring a migration. A deployment has one or two
versions whose shares make 100; it cannot go back behind a change of Durable Object classes, nor, unless forced, to
secrets that have changed since.
"""

from collections.abc import Iterable
from datetime import datetime

from emulator.calls import Call, Result
from emulator.clock import parse_stamp
from emulator.errors import BAD_QUERY
from emulator.paging import asked_page, page_of
from emulator.schema import anything, fields, items, mapping, nullable, number, text, without_nulls
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.durable_objects.exports import durable_objects as durable_exports
from emulator.services.workers import bindings, versions, views
from emulator.services.workers import rules as workers
from emulator.services.workers.upload import read_upload
from emulator.services.workers.versions import Options, Traffic
from emulator.store import Document, pick
from emulator.vault import Vault

from . import errors

_DEPLOY = fields(
    {
        "strategy": text(choices=["percentage"]),
        "versions": items(fields({"version_id": text(), "percentage": number(least=0.01, most=100)}), least=1, most=2),
    },
    {"annotations": nullable(mapping(nullable(text()))), "code_update_strategy": anything()},
)
_DEPLOYABLE = 10


def upload_version(call: Call) -> Document:
    """Upload a version without deploying it."""
    worker = workers.get(call)
    strict = call.choice("bindings_inherit", ("strict", ""), "") == "strict"
    given = read_upload(call)
    if given.metadata.get("migrations"):
        raise errors.MIGRATION()
    version = versions.draft(call, worker, given, Options(strict=strict))
    _check(call, worker, version)
    versions.add(call, worker, version)
    return {
        **version_view(call, version),
        **without_nulls({"exports_reconciliation": version["exports_reconciliation"]}),
    }


def _check(call: Call, worker: Document, version: Document) -> None:
    """What can be told before the deployment: classes in the code, exports in order, namespaces for the bindings."""
    lifecycle = versions.lifecycle(worker, version)
    _, planned = durable_objects.plan(call.store, call.account_id, lifecycle)
    version["exports_reconciliation"] = planned.reconciliation
    declared = durable_exports(version["exports"] or {})
    for binding in version["bindings"]:
        name = binding.get("class_name")
        if binding["type"] != "durable_object_namespace" or name is None:
            continue
        script = binding.get("script_name") or worker["name"]
        if durable_objects.namespace_of(call.store, call.account_id, script, name) is None:
            own = script == worker["name"] and name in declared
            raise (errors.BINDING_NEEDS_EXPORT if own else errors.NO_CLASS)(name=name)


def list_versions(call: Call) -> Result:
    """List versions, the newest first."""
    place, page = workers.scope(call, workers.get(call)), asked_page(call, default=10)
    limit = min(page.size, _DEPLOYABLE) if call.flag("deployable") else page.size
    part = call.store.select(workers.VERSION, place, descending=True, limit=limit, offset=page.offset)
    info = page.info(len(part), call.store.count(workers.VERSION, place))
    return Result({"items": [version_view(call, version) for version in part]}, info)


def get_version(call: Call) -> Document:
    """The path's version."""
    version = workers.version(call, workers.get(call), call.params["version_id"])
    if version is None:
        raise errors.NO_VERSION()
    return version


def version_view(call: Call, version: Document) -> Document:
    """A version with what it runs on, its bindings and the ids of its Durable Object namespaces."""
    named = [{"name": name, "handlers": []} for name in version["exported"]["names"] if name != "default"]
    runtime = {
        "compatibility_date": version.get("compatibility_date"),
        "compatibility_flags": version["compatibility_flags"],
        "usage_model": version["usage_model"],
        "limits": version.get("limits"),
        "migration_tag": version["migration_tag"],
        "exports": views.exports(version["exports"]),
        "containers": version.get("containers"),
    }
    return {
        "id": version["id"],
        "number": version["number"],
        "metadata": {
            **pick(version, "created_on", "modified_on", "source", "author_id", "author_email"),
            "hasPreview": version["main_module"] is not None,
        },
        "annotations": {"workers/triggered_by": "upload", **version["annotations"]},
        "resources": {
            "bindings": bindings.public(call, version["bindings"]),
            "script": {
                "etag": version["etag"],
                "handlers": version["handlers"],
                "named_handlers": named,
                "last_deployed_from": version["source"],
            },
            "script_runtime": without_nulls(runtime),
        },
        "startup_time_ms": version["startup_time_ms"],
    }


def create_deployment(call: Call) -> Document:
    """Send traffic to one or two versions."""
    worker, body = workers.get(call), call.body(_DEPLOY, errors.INVALID)
    force = call.flag("force")
    shares = _shares(call, worker, body["versions"])
    live = workers.live_version(call.store, call.account_id, worker)
    for version, _ in shares:
        if version["applied"] and version["number"] < worker["lifecycle_number"]:
            raise errors.LIFECYCLE_BETWEEN(version=version["id"])
        if live and not force and version["number"] < live["number"]:
            _check_secrets(call.state.vault, version, live)
    if len(shares) > 1 and any(version["exports"] != shares[0][0]["exports"] for version, _ in shares):
        raise errors.VERSION_EXPORTS()
    annotations = without_nulls(body.get("annotations"))
    return versions.deploy(call, worker, Traffic(sorted(shares, key=lambda each: -each[1]), annotations))


def _check_secrets(vault: Vault, version: Document, live: Document) -> None:
    """Refuse secrets that would change: by their values, as one that was only sent again is sealed anew."""
    before, now = _secrets(vault, version), _secrets(vault, live)
    changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if changed:
        raise errors.SECRETS_CHANGED(names=", ".join(changed))


def _secrets(vault: Vault, version: Document) -> dict[str, Document]:
    """Secret bindings by name, opened."""
    sealed = [each for each in version["bindings"] if "sealed" in each]
    return {each["name"]: {**each, "sealed": bindings.open_secret(each, vault)} for each in sealed}


def _shares(call: Call, worker: Document, given: Iterable[Document]) -> list[tuple[Document, float]]:
    shares = []
    for each in given:
        version = workers.version(call, worker, each["version_id"])
        if version is None:
            raise errors.NO_VERSION()
        shares.append((version, each["percentage"]))
    if len({version["id"] for version, _ in shares}) != len(shares):
        raise errors.BAD_SHARES(problem="A version can be named only once in a deployment")
    if sum(share for _, share in shares) != 100:
        raise errors.BAD_SHARES(problem="The percentages of a deployment must add up to 100")
    return shares


def list_deployments(call: Call) -> Result:
    """List deployments, the one that serves first."""
    span = {name: _moment(name, value) for name, value in call.query.given("since", "until").items()}
    every = call.store.select(workers.DEPLOYMENT, workers.scope(call, workers.get(call)), descending=True)
    listed = page_of(call, [each for each in every if _within(span, each)], default=10)
    part = listed.result
    listed.result = {"deployments": part, "items": [{"deployments": part}] if part else []}
    return listed


def _moment(name: str, value: str) -> datetime:
    moment = parse_stamp(value)
    if moment is None:
        raise BAD_QUERY(name=name, problem="must be a time as in RFC 3339")
    return moment


def _within(span: dict[str, datetime], deployment: Document) -> bool:
    made = _moment("created_on", deployment["created_on"])
    return span.get("since", made) <= made <= span.get("until", made)


def get_deployment(call: Call) -> Document:
    """The path's deployment."""
    found = call.store.get(workers.DEPLOYMENT, workers.scope(call, workers.get(call)), call.params["deployment_id"])
    if found is None:
        raise errors.NO_DEPLOYMENT()
    return found


def delete_deployment(call: Call) -> None:
    """Remove a deployment that does not serve from the history."""
    worker, deployment = workers.get(call), get_deployment(call)
    if worker["live"] and worker["live"]["deployment_id"] == deployment["id"]:
        raise errors.LIVE_DEPLOYMENT()
    call.store.delete(workers.DEPLOYMENT, workers.scope(call, worker), deployment["id"])
