"""Operations on versions and deployments."""

from emulator.registry import PARTIAL, Service
from emulator.services.workers.upload import BODY_LIMIT

from . import rules

api = Service("workers_versions", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-16")

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SCRIPT = "/accounts/{account_id}/workers/scripts/{script_name}"
_VERSIONS, _DEPLOYMENTS = _SCRIPT + "/versions", _SCRIPT + "/deployments"
_DEPLOYMENT = _DEPLOYMENTS + "/{deployment_id}"
_UPLOAD_VERSION = "with a runtime the code is started once; `exports` take effect with the deployment"
_GET_VERSION = "readable at once; a fault can play code 100146"

api.post(_VERSIONS, rules.upload_version, WRITE, PARTIAL, note=_UPLOAD_VERSION, body_limit=BODY_LIMIT)
api.get(_VERSIONS, rules.list_versions, READ, note="with `resources`, which wrangler reads in lists, too")
api.get(_VERSIONS + "/{version_id}", rules.get_version, READ, view=rules.version_view, note=_GET_VERSION)
api.post(_DEPLOYMENTS, rules.create_deployment, WRITE)
api.get(_DEPLOYMENTS, rules.list_deployments, READ, note="`items` repeats `deployments` in the shape the SDK reads")
api.get(_DEPLOYMENT, rules.get_deployment, READ)
api.delete(_DEPLOYMENT, rules.delete_deployment, WRITE)
