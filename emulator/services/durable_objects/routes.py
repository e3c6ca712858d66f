"""Operations on Durable Object namespaces, and control routes that tell what was lost."""

from emulator.errors import Failure
from emulator.registry import CONTROL, PARTIAL, Service
from emulator.schema import fields, text

from . import rules
from .model import ALLOWED, FREE, REFUSED

api = Service(
    "durable_objects",
    source="official Python SDK 5.9.0, wrangler 4.158.0, Cloudflare's documentation",
    date="2026-11-16",
)
control = Service(
    "durable_objects_control",
    source="the emulator's own",
    date="2026-11-16",
    base=CONTROL,
    invalid=Failure(400, 10001, "{problem}", "the emulator's own"),
)

_READ = "Workers Scripts Read"
_NAMESPACES = "/accounts/{account_id}/workers/durable_objects/namespaces"
_NAMESPACE = _NAMESPACES + "/{namespace_id}"


_KEY_VALUE = fields({"value": text(choices=[ALLOWED, REFUSED, FREE])})
_LIST_OBJECTS = "always empty: objects live in the runtime"

api.get(_NAMESPACES, rules.list_namespaces, _READ, view=rules.view)
api.get(_NAMESPACE, rules.get_namespace, _READ, view=rules.view, note="used by wrangler; not in the description")
api.get(_NAMESPACE + "/objects", rules.list_objects, _READ, PARTIAL, note=_LIST_OBJECTS)
control.get("/durable_objects/data_loss", rules.read_data_loss)
control.put("/durable_objects/{account_id}/key_value", rules.set_key_value, body=_KEY_VALUE)
