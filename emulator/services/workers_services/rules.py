"""Workers seen as services: one environment each, called production."""

from emulator.calls import Call, Raw
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.workers import bindings, references, views
from emulator.services.workers import rules as workers
from emulator.store import Document

from . import errors

ENVIRONMENT = "production"


def _worker(call: Call) -> Document:
    """The path's Worker."""
    worker = workers.find(call.store, call.account_id, call.params["service_name"])
    if worker is None:
        raise errors.NO_SERVICE()
    return worker


def _serving(call: Call) -> tuple[Document, Document]:
    """The path's Worker and live version; the path's environment must be the one there is."""
    worker = _worker(call)
    live = workers.live_version(call.store, call.account_id, worker)
    if call.params["environment_name"] != ENVIRONMENT or live is None:
        raise errors.NO_ENVIRONMENT()
    return worker, live


def get_environment(call: Call) -> Document:
    """Read an environment."""
    return _environment(_serving(call)[0])


def list_bindings(call: Call) -> list[Document]:
    """List the bindings of the live version."""
    return bindings.public(call, _serving(call)[1]["bindings"])


def get_settings(call: Call) -> Document:
    """Read the settings of the live version."""
    return views.settings(call, *_serving(call))


def get_content(call: Call) -> Raw:
    """Download the code of the live version."""
    return views.content(call.state.blobs, _serving(call)[1])


def get_subdomain(call: Call) -> Document:
    """Read whether the Worker answers on workers.dev."""
    return dict(_serving(call)[0]["subdomain"])


def _environment(worker: Document) -> Document:
    return {
        "environment": ENVIRONMENT,
        "created_on": worker["created_on"],
        "modified_on": worker["modified_on"],
        "script_tag": worker["id"],
        "script": views.script(worker),
    }


def delete_service(call: Call) -> None:
    """Delete a Worker."""
    workers.delete(call, _worker(call), force=call.flag("force"))


def get_service(call: Call) -> Document:
    """Read a Worker with its migration tag and where it was last deployed from."""
    worker = _worker(call)
    shown = _environment(worker)
    return {
        "id": worker["name"],
        "created_on": worker["created_on"],
        "modified_on": worker["modified_on"],
        "usage_model": "standard",
        "default_environment": shown,
        "environments": [{name: value for name, value in shown.items() if name != "script"}],
    }


def get_references(call: Call) -> Document:
    """Tell who would miss a Worker."""
    store, account, name = call.store, call.account_id, workers.get(call)["name"]
    incoming = [
        {**_in_production(each["source"]), "name": each["binding"]}
        for each in references.services(store, account, name)
        if each["source"] != name
    ]
    objects = [
        {
            **_in_production(user),
            "durable_object_namespace_id": namespace["id"],
            "durable_object_namespace_name": namespace["name"],
        }
        for namespace in durable_objects.namespaces_of(store, account, name)
        for user in durable_objects.users_of(store, account, namespace)
    ]
    return {
        "services": {"incoming": incoming, "outgoing": [], "pages_function": False},
        "durable_objects": objects,
        "dispatch_outbounds": [],
    }


def list_tail_producers(call: Call) -> list[Document]:
    """Tell which Workers send their logs to this one."""
    consumer = call.params["script_name"]
    return [
        {"consumer": _in_production(consumer), "producer": _in_production(producer)}
        for producer in references.tail_producers(call.store, call.account_id, consumer)
    ]


def _in_production(service: str) -> Document:
    return {"service": service, "environment": ENVIRONMENT}


def list_routes(call: Call) -> list[Document]:
    """List the routes of a Worker over all zones."""
    worker, _ = _serving(call)
    return [
        {**route, "zone_name": zone["name"], "zone_id": zone["id"]}
        for _, zone in call.store.find_anywhere("zone", "account", call.account_id)
        for route in call.store.find("worker_route", zone["id"], "script", worker["name"])
    ]
