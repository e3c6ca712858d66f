"""Operations of the newer view."""

from emulator.calls import Call, Result
from emulator.paging import asked_page, page_of
from emulator.registry import Fidelity, Service
from emulator.schema import fields, flag, items, mapping, nullable, text
from emulator.services.workers import metadata
from emulator.services.workers import rules as workers
from emulator.services.workers.upload import BODY_LIMIT

from . import errors, rules, views

api = Service(
    "workers_beta", source="official Python SDK 5.9.0, Terraform provider 5.22.0, wrangler 4.158.0", date="2026-11-16"
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_WORKERS = "/accounts/{account_id}/workers/workers"
_WORKER = _WORKERS + "/{worker_id}"
_VERSIONS = _WORKER + "/versions"
_NAME = text(least=1, most=255)
_CONSUMERS = nullable(items(fields({"name": text(least=1)}), most=10))
_ENV = nullable(mapping(nullable(fields({"type": text()}, closed=False))))
_PREVIEWS = {
    **{name: metadata.CONFIG[name] for name in ("cache_options", "limits", "placement")},
    "env": _ENV,
    "logpush": nullable(flag()),
    "observability": nullable(metadata.OBSERVABILITY),
    "tail_consumers": _CONSUMERS,
}
_SETTINGS = {
    "logpush": nullable(flag()),
    "observability": nullable(metadata.OBSERVABILITY),
    "previews_base_config": nullable(fields({}, _PREVIEWS)),
    "subdomain": nullable(
        fields({}, {"enabled": nullable(flag()), "previews_enabled": nullable(flag())}, closed=False)
    ),
    "tags": metadata.TAGS,
    "tail_consumers": _CONSUMERS,
}
_CREATE = fields({"name": _NAME}, _SETTINGS)
_EDIT = fields({}, {"name": _NAME, **_SETTINGS})
_MODULE = fields({"name": text(least=1), "content_type": text(), "content_base64": text()}, closed=False)
_VERSION = fields(
    {},
    {**metadata.CONFIG, "main_module": nullable(text(least=1)), "modules": nullable(items(_MODULE, most=10000))},
    closed=False,
)
_PATCH = fields(
    {},
    {
        "env": _ENV,
        "annotations": nullable(mapping(nullable(text()))),
    },
)


@api.operation("GET", _WORKERS, needs=READ)
def list_workers(call: Call) -> Result:
    """List Workers."""
    order = call.choice("order_by", ("deployed_on", "updated_on", "created_on", "name"), "deployed_on")
    field = "modified_on" if order == "updated_on" else order
    descending = call.choice("order", ("asc", "desc"), "desc") == "desc"
    found = call.store.select(workers.WORKER, call.account_id)
    found.sort(key=lambda each: str(each[field] or ""), reverse=descending)
    listed = page_of(call, found, default=10)
    listed.result = [views.worker(call, each) for each in listed.result]
    return listed


@api.operation("POST", _WORKERS, needs=WRITE)
def create_worker(call: Call) -> Result:
    """Create a Worker without a version."""
    return Result(views.worker(call, rules.create_worker(call, call.body(_CREATE, errors.INVALID))))


@api.operation("GET", _WORKER, needs=READ, note="by id or name, as wrangler asks for it")
def get_worker(call: Call) -> Result:
    """Read a Worker."""
    return Result(views.worker(call, rules.get_worker(call)))


@api.operation("PUT", _WORKER, needs=WRITE)
def replace_worker(call: Call) -> Result:
    """Replace a Worker's settings, its name among them."""
    return Result(views.worker(call, rules.change_worker(call, call.body(_CREATE, errors.INVALID), whole=True)))


@api.operation("PATCH", _WORKER, needs=WRITE)
def edit_worker(call: Call) -> Result:
    """Change some of a Worker's settings."""
    return Result(views.worker(call, rules.change_worker(call, call.body(_EDIT, errors.INVALID), whole=False)))


@api.operation("DELETE", _WORKER, needs=WRITE, note="as the deletion of the script; custom domains do not hold it")
def delete_worker(call: Call) -> Result:
    """Delete a Worker."""
    workers.delete(call, rules.get_worker(call), force=call.flag("force"))
    return Result(None)


@api.operation("GET", _VERSIONS, needs=READ)
def list_versions(call: Call) -> Result:
    """List versions, the newest first."""
    worker = rules.get_worker(call)
    place, page = workers.scope(call, worker), asked_page(call, default=10)
    part = call.store.select(workers.VERSION, place, descending=True, limit=page.size, offset=page.offset)
    info = page.info(len(part), call.store.count(workers.VERSION, place))
    return Result([views.version(call, worker, each) for each in part], info)


@api.operation(
    "POST",
    _VERSIONS,
    needs=WRITE,
    fidelity=Fidelity.PARTIAL,
    note="with a runtime the code is started once; migrations and exports take effect with the deployment",
    body_limit=BODY_LIMIT,
)
def create_version(call: Call) -> Result:
    """Create a version from modules in base64, and deploy it if asked."""
    worker = rules.get_worker(call)
    body = call.body(_VERSION, errors.INVALID)
    version = rules.create_version(call, worker, body, deploy=call.flag("deploy"))
    return Result(views.version(call, worker, version))


@api.operation("PATCH", _VERSIONS + "/latest", needs=WRITE, note="used by wrangler for secrets of versions")
def patch_latest_version(call: Call) -> Result:
    """Create a version like the latest with some bindings changed."""
    worker = rules.get_worker(call)
    version = rules.patch_latest(call, worker, call.body(_PATCH, errors.INVALID))
    return Result(views.version(call, worker, version))


@api.operation("GET", _VERSIONS + "/{version_id}", needs=READ)
def get_version(call: Call) -> Result:
    """Read a version, with its code when `include=modules`."""
    worker = rules.get_worker(call)
    modules = call.choice("include", ("modules", ""), "") == "modules"
    return Result(views.version(call, worker, rules.get_version(call, worker), modules=modules))


@api.operation("DELETE", _VERSIONS + "/{version_id}", needs=WRITE)
def delete_version(call: Call) -> Result:
    """Delete a version that no traffic goes to."""
    rules.delete_version(call, rules.get_worker(call))
    return Result(None)
