"""State and rules of applications.

An application owns its namespace until it is gone, and it is gone only some seconds after it was deleted. What a
configuration was at each version is kept; `settle` lets time do its work before anything else looks at an application.
"""

from functools import partial

from emulator.calls import Call
from emulator.clock import uuid_id
from emulator.services.durable_objects import rules as durable_objects
from emulator.state import State
from emulator.store import Document, Store

from . import durations, errors, images, instances, rollouts, sizes, views
from .bodies import MANAGED
from .instances import scope

KIND, VERSION, ROLLOUT = "container_application", "container_version", "container_rollout"
_EU, _US = {"EEUR", "WEUR"}, {"ENAM", "WNAM"}
PERMITTED = {"eu": _EU, "fedramp": _US, "us": _US}
_HOT = ("authorized_keys", "wrangler_ssh")
"""Parts of the configuration that change without a rollout."""


def create(call: Call, body: Document) -> tuple[int, Document]:
    """Make an application; status and document. For a managed one, making the same again finds it."""
    namespace_id = _namespace_of(call, body["durable_objects"]) if "durable_objects" in body else ""
    owner = _owner(call, namespace_id)
    if owner is not None:
        same = owner["policy"] == body["scheduling_policy"] == MANAGED and owner["name"] == body["name"]
        if same and owner["delete_at"] is None:
            return 200, owner
        raise errors.NAMESPACE_TAKEN(name=owner["name"], id=owner["id"])
    now = call.state.clock.time()
    app: Document = {
        "id": namespace_id if body["scheduling_policy"] == MANAGED else uuid_id(),
        "account_id": call.account_id,
        "name": body["name"],
        "policy": body["scheduling_policy"],
        "namespace_id": namespace_id,
        "configuration": body.get("configuration", {}),
        "observability": body.get("observability"),
        "created_at": now,
        "updated_at": now,
        "active_rollout_id": None,
        "delete_at": None,
        "rollout_failure": None,
    }
    if app["policy"] != MANAGED:
        app |= _scheduled(call, body)
        write_version(call, app, 1, app["configuration"])
    return 201, put(call.store, app)


def _namespace_of(call: Call, wanted: Document) -> str:
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


def _scheduled(call: Call, body: Document) -> Document:
    """What only a scheduled application has."""
    if body.get("jobs"):
        raise errors.NO_JOBS()
    configuration = checked_configuration(call, body["configuration"])
    check_observability(body.get("observability"), configuration)
    check_constraints(body.get("constraints"))
    check_totals(call, configuration, body["max_instances"])
    return {
        "configuration": configuration,
        "instances": int(body["instances"]),
        "max_instances": int(body["max_instances"]),
        "constraints": body.get("constraints"),
        "affinities": body.get("affinities"),
        "priorities": body.get("priorities"),
        "rollout_active_grace_period": int(body.get("rollout_active_grace_period", 0)),
        "version": 1,
        "latest_version": 1,
    }


def modify(call: Call, app: Document, body: Document) -> Document:
    """Change what was sent and keep the rest; a change of the image takes effect on instances by a rollout only."""
    changed: Document = {**app, "updated_at": call.state.clock.time()}
    if app["policy"] == MANAGED:
        changed["configuration"] = {**app["configuration"], **body.get("configuration", {})}
        changed["observability"] = body.get("observability", app["observability"])
        return put(call.store, changed)
    configuration = app["configuration"]
    if "configuration" in body:
        change = checked_configuration(call, body["configuration"], sizes.size_of(configuration))
        configuration = sizes.merged(configuration, change)
    if "observability" in body:
        check_observability(body["observability"], body.get("configuration", {}))
        configuration = {name: value for name, value in configuration.items() if name != "observability"}
    check_constraints(body.get("constraints"))
    for name in ("constraints", "affinities", "observability", "priorities"):
        changed[name] = body.get(name, app[name])
    for name in ("instances", "max_instances", "rollout_active_grace_period"):
        changed[name] = int(body[name]) if name in body else app[name]
    changed["configuration"] = configuration
    check_totals(call, configuration, changed["max_instances"], apart_from=app["id"])
    instances.cut(call, changed)
    return put(call.store, changed)


def delete(call: Call, app: Document) -> None:
    """Begin to delete; until it is gone it is still listed and still owns its namespace."""
    put(call.store, {**app, "delete_at": call.state.clock.time() + durations.read(call.store).deletion})


def find(call: Call, *, lasting: bool = False) -> Document:
    """The path's application; one that is being deleted does not count where `lasting` is asked for."""
    stored = call.store.get(KIND, call.account_id, call.params["application_id"])
    app = None if stored is None else settle(call.state, stored)
    if app is None or (lasting and app["delete_at"] is not None):
        raise errors.NO_APPLICATION()
    return app


def all_of(call: Call) -> list[Document]:
    """The account's applications, oldest first."""
    settled = [settle(call.state, app) for app in call.store.select(KIND, call.account_id)]
    return [app for app in settled if app is not None]


def settle(state: State, app: Document) -> Document | None:
    """The application after what time alone has done to it; None when it is gone."""
    now = state.clock.time()
    if app["delete_at"] is not None and app["delete_at"] <= now:
        state.store.delete(KIND, app["account_id"], app["id"])
        state.store.delete_scope(scope(app))
        return None
    if not app["active_rollout_id"]:
        return app
    before = state.store.get(ROLLOUT, scope(app), app["active_rollout_id"])
    if before is None:
        return app
    after = rollouts.advance(before, now, partial(instances.are_replaced, state.store, app))
    return app if after == before else take_over(state.store, app, after)


def settle_all(state: State) -> None:
    """Let time do its work on every application."""
    for account_id in state.store.scopes(KIND):
        for app in state.store.select(KIND, account_id):
            settle(state, app)


def take_over(store: Store, app: Document, rollout: rollouts.Rollout) -> Document:
    """Write a rollout and let the application and its instances follow it."""
    store.put(ROLLOUT, scope(app), rollout["id"], rollout)
    instances.distribute(store, app, rollout)
    if rollouts.is_active(rollout):
        return app
    changed = {**app, "active_rollout_id": None, "updated_at": rollout["updated_at"]}
    # What was changed while it went stays, except for what the rollout itself is about.
    if rollout["status"] == rollouts.COMPLETED:
        changed["version"] = rollout["target_version"]
        changed["configuration"] = sizes.merged(app["configuration"], rollout["change"])
    elif rollout["status"] == rollouts.REVERTED:
        cold = [name for name in rollout["change"] if name not in _HOT]
        changed["configuration"] = sizes.restored(app["configuration"], rollout["current_configuration"], cold)
    return put(store, changed)


def put(store: Store, app: Document) -> Document:
    """Write an application."""
    labels = {"name": app["name"], "namespace": app["namespace_id"]}
    return store.put(KIND, app["account_id"], app["id"], app, labels=labels)


def write_version(call: Call, app: Document, version: int, configuration: Document) -> None:
    """Remember the configuration of a version."""
    body = {"version": version, "configuration": configuration}
    call.store.put(VERSION, scope(app), f"{version:09d}", body)


def version_of(call: Call, app: Document, version: int) -> Document:
    """What a version was."""
    found = call.store.get(VERSION, scope(app), f"{version:09d}")
    return found or {"version": version, "configuration": app["configuration"]}


def active_rollout(call: Call, app: Document) -> rollouts.Rollout | None:
    """The rollout that is under way."""
    return call.store.get(ROLLOUT, scope(app), app["active_rollout_id"]) if app["active_rollout_id"] else None


def shown(call: Call, app: Document) -> Document:
    """The application as the API shows it."""
    rollout = active_rollout(call, app)
    target: Document = {"version": app.get("version"), "configuration": app["configuration"]}
    if rollout is not None:
        target = {"version": rollout["target_version"], "configuration": rollout["target_configuration"]}
    return views.application(app, instances.all_of(call.store, app), rollout, target)


def _owner(call: Call, namespace_id: str) -> Document | None:
    """The application a namespace already has."""
    if not namespace_id:
        return None
    for app in call.store.find(KIND, call.account_id, "namespace", namespace_id):
        if (settled := settle(call.state, app)) is not None:
            return settled
    return None


def checked_configuration(call: Call, sent: Document, base: sizes.Size = sizes.LITE) -> Document:
    """A configuration with its size in one form and an image that exists; `base` is the size it changes."""
    configuration, problems = sizes.normalise(sent, base)
    if problems:
        raise errors.INVALID.about(problems)
    if sizes.over(sizes.size_of(configuration), sizes.LARGEST):
        raise errors.BASE_LIMITS()
    if "image" in configuration:
        images.check(call, configuration["image"])
    return configuration


def check_observability(top: Document | None, configuration: Document) -> None:
    """The old place and the new one exclude each other."""
    if top is not None and configuration.get("observability") is not None:
        raise errors.INVALID.about({"observability": "cannot be combined with configuration.observability"})


def check_constraints(constraints: Document | None) -> None:
    """Regions must lie in the jurisdiction."""
    permitted = PERMITTED.get((constraints or {}).get("jurisdiction", ""))
    outside = [] if permitted is None else [r for r in (constraints or {}).get("regions", []) if r not in permitted]
    if outside:
        raise errors.LOCATION(regions=", ".join(outside))


def check_totals(call: Call, configuration: Document, most: int, apart_from: str = "") -> None:
    """All applications at their largest must fit into the account."""
    wanted: list[tuple[sizes.Size, int]] = [(sizes.size_of(configuration), most)]
    others = [app for app in all_of(call) if app["policy"] != MANAGED and app["id"] != apart_from]
    wanted += [(sizes.size_of(app["configuration"]), app["max_instances"]) for app in others]
    total = sizes.Size(
        sum(size.vcpu * count for size, count in wanted),
        sum(size.memory_mib * count for size, count in wanted),
        sum(size.disk_mb * count for size, count in wanted),
    )
    if sizes.over(total, sizes.TOTAL):
        raise errors.TOTAL_LIMITS()
