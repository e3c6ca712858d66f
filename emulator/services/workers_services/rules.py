"""Workers seen as services: one environment each, called production."""

from emulator.calls import Call
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.workers import references, views
from emulator.services.workers import rules as workers
from emulator.store import Document

from . import errors

ENVIRONMENT = "production"


def get_service(call: Call) -> Document:
    """The path's Worker."""
    worker = workers.find(call.store, call.account_id, call.params["service_name"])
    if worker is None:
        raise errors.NO_SERVICE()
    return worker


def serving(call: Call) -> tuple[Document, Document]:
    """The path's Worker and live version; the path's environment must be the one there is."""
    worker = get_service(call)
    live = workers.live_version(call.store, call.account_id, worker)
    if call.params["environment_name"] != ENVIRONMENT or live is None:
        raise errors.NO_ENVIRONMENT()
    return worker, live


def environment(worker: Document) -> Document:
    """The environment of a Worker."""
    return {
        "environment": ENVIRONMENT,
        "created_on": worker["created_on"],
        "modified_on": worker["modified_on"],
        "script_tag": worker["id"],
        "script": views.script(worker),
    }


def service(worker: Document) -> Document:
    """A Worker as a service."""
    shown = environment(worker)
    return {
        "id": worker["name"],
        "created_on": worker["created_on"],
        "modified_on": worker["modified_on"],
        "usage_model": "standard",
        "default_environment": shown,
        "environments": [{name: value for name, value in shown.items() if name != "script"}],
    }


def references_to(call: Call, worker: Document) -> Document:
    """Who would miss a Worker."""
    store, account, name = call.store, call.account_id, worker["name"]
    incoming = [
        {"service": each["source"], "environment": ENVIRONMENT, "name": each["binding"]}
        for each in references.services(store, account, name)
        if each["source"] != name
    ]
    objects = [
        {
            "service": user,
            "environment": ENVIRONMENT,
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


def routes_of(call: Call, worker: Document) -> list[Document]:
    """The routes of a Worker, each with its zone."""
    return [
        {**route, "zone_name": zone["name"], "zone_id": zone["id"]}
        for _, zone in call.store.find_anywhere("zone", "account", call.account_id)
        for route in call.store.find("worker_route", zone["id"], "script", worker["name"])
    ]
