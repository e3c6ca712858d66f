"""Operations on services and environments, as far as clients use them."""

from emulator.registry import PARTIAL, Service

from . import rules

api = Service(
    "workers_services", source="wrangler 4.158.0, Terraform provider 5.22.0; not in the description", date="2026-11-16"
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SERVICE = "/accounts/{account_id}/workers/services/{service_name}"
_ENVIRONMENT = _SERVICE + "/environments/{environment_name}"
_NOTE = "one environment, production"


api.get(_SERVICE, rules.get_service, READ, PARTIAL, note=_NOTE)
api.delete(_SERVICE, rules.delete_service, WRITE, note="as the deletion of the script")
api.get(_ENVIRONMENT, rules.get_environment, READ, PARTIAL, note=_NOTE)
api.get(_ENVIRONMENT + "/bindings", rules.list_bindings, READ)
api.get(_ENVIRONMENT + "/settings", rules.get_settings, READ)
api.get(_ENVIRONMENT + "/content/v2", rules.get_content, READ)
api.get(_ENVIRONMENT + "/routes", rules.list_routes, READ)
api.get(_ENVIRONMENT + "/subdomain", rules.get_subdomain, READ)
api.get("/accounts/{account_id}/workers/scripts/{script_name}/references", rules.get_references, READ)
api.get("/accounts/{account_id}/workers/tails/by-consumer/{script_name}", rules.list_tail_producers, READ)
