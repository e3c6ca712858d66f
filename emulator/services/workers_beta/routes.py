"""Operations of the newer view."""

from emulator.registry import PARTIAL, Service
from emulator.schema import fields, flag, items, nullable, open_options, options, text
from emulator.services.workers import metadata
from emulator.services.workers.upload import BODY_LIMIT

from . import errors, rules, views

api = Service(
    "workers_beta",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, wrangler 4.158.0",
    date="2026-11-16",
    invalid=errors.INVALID,
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_WORKERS = "/accounts/{account_id}/workers/workers"
_WORKER = _WORKERS + "/{worker_id}"
_VERSIONS = _WORKER + "/versions"
_NAME = text(least=1, most=255)
_CONSUMERS = nullable(items(fields({"name": text(least=1)}), most=10))
_PREVIEWS = {
    **{name: metadata.CONFIG[name] for name in ("cache_options", "limits", "placement")},
    "env": rules.ENV,
    "logpush": nullable(flag()),
    "observability": nullable(metadata.OBSERVABILITY),
    "tail_consumers": _CONSUMERS,
}
_SETTINGS = {
    "logpush": nullable(flag()),
    "observability": nullable(metadata.OBSERVABILITY),
    "previews_base_config": nullable(fields({}, _PREVIEWS)),
    "subdomain": nullable(open_options(enabled=nullable(flag()), previews_enabled=nullable(flag()))),
    "tags": metadata.TAGS,
    "tail_consumers": _CONSUMERS,
}
_CREATE = fields({"name": _NAME}, _SETTINGS)
_EDIT = options(name=_NAME, **_SETTINGS)
_PATCH_LATEST_VERSION = "used by wrangler for secrets of versions"

api.get(_WORKERS, rules.list_workers, READ, view=views.worker)
api.post(_WORKERS, rules.create_worker, WRITE, body=_CREATE, view=views.worker)
api.get(_WORKER, rules.get_worker, READ, view=views.worker, note="by id or name, as wrangler asks for it")
api.put(_WORKER, rules.replace_worker, WRITE, body=_CREATE, view=views.worker)
api.patch(_WORKER, rules.edit_worker, WRITE, body=_EDIT, view=views.worker)
api.delete(_WORKER, rules.delete_worker, WRITE, note="as the deletion of the script; custom domains do not hold it")
api.get(_VERSIONS, rules.list_versions, READ, view=views.version)
api.post(
    _VERSIONS,
    rules.create_version,
    WRITE,
    PARTIAL,
    view=views.version,
    note="with a runtime the code is started once; migrations and exports take effect with the deployment",
    body_limit=BODY_LIMIT,
)
api.patch(_VERSIONS + "/latest", rules.patch_latest_version, WRITE, view=views.version, note=_PATCH_LATEST_VERSION)
api.get(_VERSIONS + "/{version_id}", rules.get_version, READ, view=views.version)
api.delete(_VERSIONS + "/{version_id}", rules.delete_version, WRITE)
