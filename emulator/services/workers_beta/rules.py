"""Rules of the newer view: a Worker can exist before it has a version, and a version before it is deployed.

Migrations and exports of a version take effect with its deployment; until then a binding to a class that they create
has no namespace id.
"""

from emulator.calls import Call, Result
from emulator.paging import asked_page, page_of
from emulator.schema import fields, items, mapping, nullable, open_options, options, text, without_nulls
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.workers import bindings, metadata, references, versions
from emulator.services.workers import rules as workers
from emulator.services.workers.upload import decode_modules, make_upload
from emulator.services.workers.versions import Options, Traffic
from emulator.store import Document, pick

from . import errors

ENV = nullable(mapping(nullable(fields({"type": text()}, closed=False))))
_MODULE = fields({"name": text(least=1), "content_type": text(), "content_base64": text()}, closed=False)
_VERSION = open_options(
    **metadata.CONFIG, main_module=nullable(text(least=1)), modules=nullable(items(_MODULE, most=10000))
)
_PATCH = options(env=ENV, annotations=nullable(mapping(nullable(text()))))


def list_workers(call: Call) -> Result:
    """List Workers."""
    order = call.choice("order_by", ("deployed_on", "updated_on", "created_on", "name"), "deployed_on")
    field = "modified_on" if order == "updated_on" else order
    descending = call.choice("order", ("asc", "desc"), "desc") == "desc"
    found = call.store.select(workers.WORKER, call.account_id)
    return page_of(call, sorted(found, key=lambda each: str(each[field] or ""), reverse=descending), default=10)


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


def replace_worker(call: Call, body: Document) -> Document:
    """Replace a Worker's settings, its name among them: what is left out goes back to its default."""
    return _change(call, body, {})


def edit_worker(call: Call, body: Document) -> Document:
    """Change some of a Worker's settings."""
    return _change(call, body, get_worker(call))


def delete_worker(call: Call) -> None:
    """Delete a Worker."""
    workers.delete(call, get_worker(call), force=call.flag("force"))


def _change(call: Call, body: Document, base: Document) -> Document:
    worker = get_worker(call)
    name = body.get("name") or worker["name"]
    if name != worker["name"]:
        workers.rename(call, worker, name)
    worker.update(_settings(call, body, base))
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
    settled = bindings.settle(given, former, call.state.vault, keep=(), strict=True)
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
                **pick(each, "hostname", "zone_id", "zone_name"),
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


def list_versions(call: Call) -> Result:
    """List versions, the newest first."""
    place, page = workers.scope(call, get_worker(call)), asked_page(call, default=10)
    part = call.store.select(workers.VERSION, place, descending=True, limit=page.size, offset=page.offset)
    return Result(part, page.info(len(part), call.store.count(workers.VERSION, place)))


def create_version(call: Call) -> Document:
    """Create a version from modules in base64, and give it all traffic if asked."""
    worker = get_worker(call)
    body = call.body(_VERSION, errors.INVALID)
    checked = metadata.check_metadata(
        {name: value for name, value in body.items() if name != "modules"}, call.state.clock
    )
    upload = make_upload(checked, decode_modules(body.get("modules") or []))
    version = versions.draft(call, worker, upload, Options())
    if not version["migrations"] and not version["exports"]:
        version["bindings"] = [versions.resolve(call, worker, version, each) for each in version["bindings"]]
    else:
        version["bindings"] = [_with_namespace(call, worker, each) for each in version["bindings"]]
    versions.add(call, worker, version)
    if call.flag("deploy"):
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


def get_version(call: Call) -> Document:
    """The path's version."""
    version = workers.version(call, get_worker(call), call.params["version_id"])
    if version is None:
        raise errors.NO_VERSION()
    return version


def delete_version(call: Call) -> None:
    """Delete a version that no traffic goes to."""
    worker, version = get_worker(call), get_version(call)
    deployments = call.store.select(workers.DEPLOYMENT, workers.scope(call, worker), descending=True, limit=1)
    if any(each["version_id"] == version["id"] for deployment in deployments for each in deployment["versions"]):
        raise errors.LIVE_VERSION()
    call.store.delete(workers.VERSION, workers.scope(call, worker), version["id"])
    if worker["latest"] == version["id"]:
        newest = call.store.select(workers.VERSION, workers.scope(call, worker), descending=True, limit=1)
        worker["latest"] = newest[0]["id"] if newest else None
        workers.put(call, worker, touch=False)


def patch_latest_version(call: Call) -> Document:
    """Create a version like the latest, with bindings of `env` set, or removed where null; it is not deployed."""
    worker = get_worker(call)
    body = call.body(_PATCH, errors.INVALID)
    latest = workers.latest_version(call, worker)
    if latest is None:
        raise errors.NO_VERSIONS()
    env: Document = body.get("env") or {}
    kept = [each for each in latest["bindings"] if each["name"] not in env]
    version = versions.copy(call, latest, bindings=[*kept, *_sealed(call, env).values()])
    version["annotations"] = without_nulls(body.get("annotations"))
    return versions.add(call, worker, version)
