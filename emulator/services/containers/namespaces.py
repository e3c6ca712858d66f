"""What the Workers service knows about Durable Object namespaces, as far as applications depend on it."""

from emulator.calls import Call
from emulator.services.durable_objects import rules as durable_objects
from emulator.store import Document

from . import errors


def resolve(call: Call, wanted: Document) -> str:
    """The id of the namespace a request names, by id or by script and class; it must be container-enabled."""
    store, account = call.store, call.account_id
    if "namespace_id" in wanted:
        found = durable_objects.namespace_by_id(store, account, wanted["namespace_id"])
    else:
        found = durable_objects.namespace_of(store, account, wanted["script_name"], wanted["class_name"])
    if found is None:
        raise errors.NO_NAMESPACE()
    if not durable_objects.container_enabled(found):
        raise errors.NOT_ENABLED()
    return str(found["id"])
