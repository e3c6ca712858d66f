"""Rules of the newer view: a Worker can exist before it has a version, and a version before it is deployed.

Migrations and exports of a version take effect with its deployment; until then a binding to a class that they create
has no namespace id.
"""

from emulator.calls import Call
from emulator.schema import without_nulls
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.workers import bindings, metadata, references, versions
from emulator.services.workers import rules as workers
from emulator.services.workers.upload import decode_modules, make_upload
from emulator.services.workers.versions import Options, Traffic
from emulator.store import Document

from . import errors


def get_worker(call: Call) -> Document:
    """The path's Worker, by its id or its name."""
    wanted = call.params["worker_id"]
    found = call.store.find(workers.WORKER, call.account_id, "id", wanted)
    worker = found[0] if found else workers.find(call.store, call.account_id, wanted)
    if worker is None:
        raise errors.NO_WORKER()
    return worker


def create_worker(call: Call, body: Document) -> Document:
    """A Worker without a version."""
    if workers.find(call.store, call.account_id, body["name"]):
        raise errors.NAME_TAKEN(name=body["name"])
    worker = workers.create(call, body["name"])
    worker.update(_settings(call, body, {}))
    return workers.put(call, worker)


def change_worker(call: Call, body: Document, *, whole: bool) -> Document:
    """Set a Worker's settings; with `whole`, what is left out goes back to its default."""
    worker = get_worker(call)
    name = body.get("name") or worker["name"]
    if name != worker["name"]:
        workers.rename(call, worker, name)
    worker.update(_settings(call, body, {} if whole else worker))
    return workers.put(call, worker)


def _settings(call: Call, body: Document, former: Document) -> Document:
    """What a body sets, over what was there."""
    given = without_nulls(body)
    subdomain = {**former.get("subdomain", {}), **without_nulls(given.get("subdomain"))}
    enabled = subdomain.get("enabled", False)
    consumers = former.get("tail_consumers")
    if "tail_consumers" in given:
        consumers = [{"service": each["name"]} for each in given["tail_consumers"]]
    previews = former.get("previews_base_config")
    if "previews_base_config" in given:
        previews = without_nulls(given["previews_base_config"])
        previews["env"] = _sealed(call, previews.get("env") or {})
    return {
        "logpush": given.get("logpush", former.get("logpush", False)),
        "observability": given.get("observability", former.get("observability")),
        "previews_base_config": previews,
        "subdomain": {"enabled": enabled, "previews_enabled": subdomain.get("previews_enabled", enabled)},
        "tags": given.get("tags", former.get("tags", [])),
        "tail_consumers": consumers,
    }


def _sealed(call: Call, env: Document) -> Document:
    """Bindings by name, their secrets sealed; nulls remove."""
    given = bindings.check([{**each, "name": name} for name, each in env.items() if each is not None])
    former = bindings.Former(None, call.store, "")
    settled = bindings.settle(given, former, call.world.vault, keep=(), strict=True)
    return {each["name"]: each for each in settled}


def references_of(call: Call, worker: Document) -> Document:
    """Everything that needs a Worker."""
    store, account, name = call.store, call.account_id, worker["name"]
    domains = store.find("worker_domain", account, "service", name)
    callers = sorted({each["source"] for each in references.services(store, account, name)} - {name})
    users = [
        (namespace, user)
        for namespace in durable_objects.namespaces_of(store, account, name)
        for user in durable_objects.users_of(store, account, namespace)
    ]
    return {
        "dispatch_namespace_outbounds": [],
        "domains": [
            {
                "id": each["id"],
                "certificate_id": each["cert_id"],
                **{field: each[field] for field in ("hostname", "zone_id", "zone_name")},
            }
            for each in domains
        ],
        "durable_objects": [
            {"namespace_id": each["id"], "namespace_name": each["name"], **_named(call, user)} for each, user in users
        ],
        "queues": [
            {"queue_id": queue["queue_id"], "queue_consumer_id": each["consumer_id"], "queue_name": queue["queue_name"]}
            for queue, each in references.consumers(store, account, name)
        ],
        "workers": [{"id": _id(call, caller), "name": caller} for caller in callers],
    }


def _named(call: Call, name: str) -> Document:
    return {"worker_id": _id(call, name), "worker_name": name}


def _id(call: Call, name: str) -> str:
    worker = workers.find(call.store, call.account_id, name)
    return str(worker["id"]) if worker else ""


def create_version(call: Call, worker: Document, body: Document, *, deploy: bool) -> Document:
    """Add a version, and give it all traffic if asked."""
    checked = metadata.check_metadata(
        {name: value for name, value in body.items() if name != "modules"}, call.world.clock
    )
    upload = make_upload(checked, decode_modules(body.get("modules") or []))
    version = versions.draft(call, worker, upload, Options())
    if not version["migrations"] and not version["exports"]:
        version["bindings"] = [versions.resolve(call, worker, version, each) for each in version["bindings"]]
    else:
        version["bindings"] = [_with_namespace(call, worker, each) for each in version["bindings"]]
    versions.add(call, worker, version)
    if deploy:
        versions.deploy(call, worker, Traffic([(version, 100)], {"workers/triggered_by": "create_version_api"}))
    return version


def _with_namespace(call: Call, worker: Document, binding: Document) -> Document:
    """A binding with its namespace, if that is there already."""
    name = binding.get("class_name")
    if binding["type"] != "durable_object_namespace" or name is None:
        return binding
    script = binding.get("script_name") or worker["name"]
    found = durable_objects.namespace_of(call.store, call.account_id, script, name)
    return {**binding, "namespace_id": found["id"]} if found else binding


def get_version(call: Call, worker: Document) -> Document:
    """The path's version."""
    version = workers.version(call, worker, call.params["version_id"])
    if version is None:
        raise errors.NO_VERSION()
    return version


def delete_version(call: Call, worker: Document) -> None:
    """Remove a version that no traffic goes to."""
    version = get_version(call, worker)
    deployments = call.store.select(workers.DEPLOYMENT, workers.scope(call, worker), descending=True, limit=1)
    if any(each["version_id"] == version["id"] for deployment in deployments for each in deployment["versions"]):
        raise errors.LIVE_VERSION()
    call.store.delete(workers.VERSION, workers.scope(call, worker), version["id"])
    if worker["latest"] == version["id"]:
        newest = call.store.select(workers.VERSION, workers.scope(call, worker), descending=True, limit=1)
        worker["latest"] = newest[0]["id"] if newest else None
        workers.put(call, worker, touch=False)


def patch_latest(call: Call, worker: Document, body: Document) -> Document:
    """A version like the latest, with bindings of `env` set, or removed where null; it is not deployed."""
    latest = workers.latest_version(call, worker)
    if latest is None:
        raise errors.NO_VERSIONS()
    env: Document = body.get("env") or {}
    kept = [each for each in latest["bindings"] if each["name"] not in env]
    version = versions.copy(call, latest, bindings=[*kept, *_sealed(call, env).values()])
    version["annotations"] = without_nulls(body.get("annotations"))
    return versions.add(call, worker, version)
