"""Operations on services and environments, as far as clients use them."""

from emulator.calls import Call, Raw, Result
from emulator.registry import Fidelity, Service
from emulator.services.workers import bindings, references, views
from emulator.services.workers import rules as workers

from . import rules

api = Service(
    "workers_services", source="wrangler 4.158.0, Terraform provider 5.22.0; not in the description", date="2026-11-16"
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SERVICE = "/accounts/{account_id}/workers/services/{service_name}"
_ENVIRONMENT = _SERVICE + "/environments/{environment_name}"
_NOTE = "one environment, production"


@api.operation("GET", _SERVICE, needs=READ, fidelity=Fidelity.PARTIAL, note=_NOTE)
def get_service(call: Call) -> Result:
    """Read a Worker with its migration tag and where it was last deployed from."""
    return Result(rules.service(rules.get_service(call)))


@api.operation("DELETE", _SERVICE, needs=WRITE, note="as the deletion of the script")
def delete_service(call: Call) -> Result:
    """Delete a Worker."""
    workers.delete(call, rules.get_service(call), force=call.flag("force"))
    return Result(None)


@api.operation("GET", _ENVIRONMENT, needs=READ, fidelity=Fidelity.PARTIAL, note=_NOTE)
def get_environment(call: Call) -> Result:
    """Read an environment."""
    return Result(rules.environment(rules.serving(call)[0]))


@api.operation("GET", _ENVIRONMENT + "/bindings", needs=READ)
def list_bindings(call: Call) -> Result:
    """List the bindings of the live version."""
    return Result(bindings.public(call, rules.serving(call)[1]["bindings"]))


@api.operation("GET", _ENVIRONMENT + "/settings", needs=READ)
def get_settings(call: Call) -> Result:
    """Read the settings of the live version."""
    return Result(views.settings(call, *rules.serving(call)))


@api.operation("GET", _ENVIRONMENT + "/content/v2", needs=READ)
def get_content(call: Call) -> Raw:
    """Download the code of the live version."""
    return views.content(call.world.blobs, rules.serving(call)[1])


@api.operation("GET", _ENVIRONMENT + "/routes", needs=READ)
def list_routes(call: Call) -> Result:
    """List the routes of a Worker over all zones."""
    return Result(rules.routes_of(call, rules.serving(call)[0]))


@api.operation("GET", _ENVIRONMENT + "/subdomain", needs=READ)
def get_subdomain(call: Call) -> Result:
    """Read whether the Worker answers on workers.dev."""
    return Result(rules.serving(call)[0]["subdomain"])


@api.operation("GET", "/accounts/{account_id}/workers/scripts/{script_name}/references", needs=READ)
def get_references(call: Call) -> Result:
    """Tell which other Workers need this one."""
    return Result(rules.references_to(call, workers.get(call)))


@api.operation("GET", "/accounts/{account_id}/workers/tails/by-consumer/{script_name}", needs=READ)
def list_tail_producers(call: Call) -> Result:
    """Tell which Workers send their logs to this one."""
    producers = references.tail_producers(call.store, call.account_id, call.params["script_name"])
    consumer = {"service": call.params["script_name"], "environment": rules.ENVIRONMENT}
    return Result(
        [{"consumer": consumer, "producer": {"service": name, "environment": rules.ENVIRONMENT}} for name in producers]
    )
