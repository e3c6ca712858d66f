"""Operations on Durable Object namespaces, and control routes that tell what was lost."""

from emulator.calls import Call, Result
from emulator.errors import Failure
from emulator.paging import page_of_kind, whole_query
from emulator.registry import CONTROL, Fidelity, Service
from emulator.schema import fields, text

from . import errors, rules
from .model import ALLOWED, FREE, REFUSED

api = Service(
    "durable_objects",
    source="official Python SDK 5.9.0, wrangler 4.158.0, Cloudflare's documentation",
    date="2026-11-16",
)
control = Service("durable_objects_control", source="the emulator's own", date="2026-11-16", base=CONTROL)

_READ = "Workers Scripts Read"
_NAMESPACES = "/accounts/{account_id}/workers/durable_objects/namespaces"
_INVALID = Failure(400, 10001, "{problem}", "the emulator's own")


@api.operation("GET", _NAMESPACES, needs=_READ)
def list_namespaces(call: Call) -> Result:
    """List namespaces."""
    listed = page_of_kind(call, rules.NAMESPACE, call.account_id, default=20, most=1000)
    listed.result = [rules.view(namespace) for namespace in listed.result]
    return listed


@api.operation("GET", _NAMESPACES + "/{namespace_id}", needs=_READ, note="used by wrangler; not in the description")
def get_namespace(call: Call) -> Result:
    """Read a namespace."""
    return Result(rules.view(_namespace(call)))


@api.operation(
    "GET",
    _NAMESPACES + "/{namespace_id}/objects",
    needs=_READ,
    fidelity=Fidelity.PARTIAL,
    note="always empty: objects live in the runtime",
)
def list_objects(call: Call) -> Result:
    """List the objects of a namespace."""
    _namespace(call)
    size = whole_query(call, "limit", 1000, 1, 10000)
    call.query.has_no_effect("cursor")  # an empty list has one page
    return Result([], {"count": 0, "per_page": size, "cursors": {"after": ""}, "cursor": ""})


def _namespace(call: Call) -> dict[str, object]:
    namespace = rules.namespace_by_id(call.store, call.account_id, call.params["namespace_id"])
    if namespace is None:
        raise errors.NO_NAMESPACE()
    return namespace


@control.operation("GET", "/durable_objects/data_loss")
def read_data_loss(call: Call) -> Result:
    """Tell which namespaces were deleted with their objects, when and why."""
    return Result(rules.data_losses(call.store))


@control.operation("PUT", "/durable_objects/{account_id}/key_value")
def set_key_value(call: Call) -> Result:
    """Say whether an account may create namespaces on key-value storage."""
    body = call.body(fields({"value": text(choices=[ALLOWED, REFUSED, FREE])}), _INVALID)
    rules.set_key_value(call.store, call.params["account_id"], body["value"])
    return Result(body)
