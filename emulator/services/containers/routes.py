"""Operations of Containers: what goes in, what comes out."""

from collections.abc import Callable

from emulator.calls import Call, Result
from emulator.paging import cursor_after, cursor_for, whole_query
from emulator.registry import Fidelity, Service
from emulator.store import Document
from emulator.world import World

from . import changes, images, instances, registries, rules, shapes, sizes, views
from .checks import checked
from .control import control
from .errors import WRANGLER

__all__ = ["api", "control"]

api = Service(
    "containers",
    source=f"official Python SDK 5.9.0 (client.containers); {WRANGLER}",
    date="2026-11-16",
)

READ, WRITE = "Workers Containers Read", "Workers Containers Write"
_BASE = "/accounts/{account_id}/containers"
_APPLICATIONS = _BASE + "/applications"
_APPLICATION = _APPLICATIONS + "/{application_id}"
_ROLLOUTS = _APPLICATION + "/rollouts"
_ROLLOUT = _ROLLOUTS + "/{rollout_id}"
_UNPUBLISHED = "unpublished; used by wrangler 4.158"
_DASH = "the fields wrangler reads"
_MOST = 500


@api.on_settle
def settle(world: World) -> None:
    """Deletions that are due are done, rollouts are where they must be by now."""
    rules.settle_all(world)


def _page(call: Call, found: list[Document], when: str, show: Callable[[Document], Document], default: int) -> Result:
    """One page of a list in order of age; 0 as default means all unless a page is asked for."""
    asked = "per_page" in call.query or "page_token" in call.query
    size = whole_query(call, "per_page", default or 100, 1, _MOST) if asked or default else len(found)
    after = cursor_after(call, "page_token") or ""
    rest = [each for each in found if _place(each, when) > after]
    info: Document = {"per_page": size}
    if call.query.get("page_token"):
        info["page_token"] = call.query["page_token"]
    if len(rest) > size:
        info["next_page_token"] = cursor_for(_place(rest[size - 1], when))
    return Result([show(each) for each in rest[:size]], info)


def _place(each: Document, when: str) -> str:
    return f"{views.moment(each[when])}/{each['id']}"


@api.operation("POST", _APPLICATIONS, needs=WRITE, note="names need not be unique")
def create_application(call: Call) -> Result:
    """Create an application."""
    status, app = rules.create(call, checked(call, shapes.CREATE))
    return Result(rules.shown(call, app), status=status)


@api.operation("GET", _APPLICATIONS, needs=READ)
def list_applications(call: Call) -> Result:
    """List applications, oldest first."""
    name, image = call.query.get("name"), call.query.get("image")
    found = [
        app
        for app in sorted(rules.all_of(call), key=lambda app: _place(app, "created_at"))
        if name in ("", app["name"]) and image in ("", app["configuration"].get("image"))
    ]
    return _page(call, found, "created_at", lambda app: rules.shown(call, app), 0)


@api.operation("GET", _APPLICATION, needs=READ)
def get_application(call: Call) -> Result:
    """Read an application."""
    return Result(rules.shown(call, rules.find(call)))


@api.operation(
    "PATCH",
    _APPLICATION,
    needs=WRITE,
    note="image, size, command and environment are taken as wrangler sends them; instances follow by a rollout only",
)
def edit_application(call: Call) -> Result:
    """Change an application."""
    app = rules.find(call, lasting=True)
    check = shapes.PATCH_MANAGED if app["policy"] == shapes.MANAGED else shapes.PATCH_SCHEDULED
    return Result(rules.shown(call, rules.modify(call, app, checked(call, check))))


@api.operation("DELETE", _APPLICATION, needs=WRITE, note="gone after 3 s of the emulator's clock (see the pace)")
def delete_application(call: Call) -> Result:
    """Begin to delete an application."""
    rules.delete(call, rules.find(call, lasting=True))
    return Result({"message": "Application deletion has been started."})


@api.operation("GET", _APPLICATION + "/versions", needs=READ)
def list_versions(call: Call) -> Result:
    """List versions, newest first."""
    app = rules.find(call)
    return Result([] if app["policy"] == shapes.MANAGED else changes.versions(call, app))


@api.operation("GET", _APPLICATION + "/instances-v2", needs=READ, note="those the runtime or a test reports")
def list_instances(call: Call) -> Result:
    """List instances."""
    return _instances(call, 100)


@api.operation("GET", _APPLICATION + "/instances", needs=READ, note="deprecated; the list lies in result.instances")
def list_instances_v1(call: Call) -> Result:
    """List instances in the old form."""
    page = _instances(call, 0)
    return Result({"instances": page.result}, page.info)


def _instances(call: Call, default: int) -> Result:
    app = rules.find(call)
    state = call.choice("state", ("active", "not-active", ""), "")
    matches = instances.matching(state, call.query.get("name_prefix", ""))
    found = [each for each in instances.all_of(call.store, app) if matches(each)]
    found.sort(key=lambda each: _place(each, "started_at"))
    return _page(call, found, "started_at", lambda each: _instance(call, app, each), default)


def _instance(call: Call, app: Document, each: Document) -> Document:
    managed = app["policy"] == shapes.MANAGED
    configuration = None if managed else rules.version_of(call, app, each["version"])["configuration"]
    return views.instance(app, each, configuration)


@api.operation("GET", _APPLICATION + "/instances/{instance_id}", needs=READ)
def get_instance(call: Call) -> Result:
    """Read an instance."""
    app = rules.find(call)
    return Result(_instance(call, app, instances.find(call, app, call.params["instance_id"])))


@api.operation("POST", _ROLLOUTS, needs=WRITE, note="a step takes 2 s of the emulator's clock (see the pace)")
def create_rollout(call: Call) -> Result:
    """Start a rollout."""
    app = rules.find(call, lasting=True)
    rollout = changes.begin(call, app, checked(call, shapes.ROLLOUT))
    return Result(changes.shown(call, app, rollout), status=201)


@api.operation("GET", _ROLLOUTS, needs=READ, source=_UNPUBLISHED, note="newest first; `limit`, and `last` to go on")
def list_rollouts(call: Call) -> Result:
    """List rollouts."""
    app = rules.find(call)
    found, last = changes.all_of(call, app), call.query.get("last")
    ids = [rollout["id"] for rollout in found]
    begin = ids.index(last) + 1 if last in ids else 0
    limit = whole_query(call, "limit", len(found) or 1, 1, 10**6)
    return Result([changes.shown(call, app, rollout) for rollout in found[begin : begin + limit]])


@api.operation("GET", _ROLLOUT, needs=READ, source=_UNPUBLISHED)
def get_rollout(call: Call) -> Result:
    """Read a rollout."""
    app = rules.find(call)
    return Result(changes.shown(call, app, changes.find(call, app, call.params["rollout_id"])))


@api.operation("POST", _ROLLOUT, needs=WRITE, source=_UNPUBLISHED, note="actions next, previous, revert")
def update_rollout(call: Call) -> Result:
    """Move a rollout by hand."""
    app = rules.find(call, lasting=True)
    action = checked(call, shapes.ROLLOUT_ACTION)["action"]
    return Result(changes.shown(call, app, changes.act(call, app, call.params["rollout_id"], action)))


@api.operation("DELETE", _ROLLOUT, needs=WRITE, source=_UNPUBLISHED, note="not while it is under way")
def delete_rollout(call: Call) -> Result:
    """Forget a rollout."""
    changes.remove(call, rules.find(call, lasting=True), call.params["rollout_id"])
    return Result({})


@api.operation("POST", _BASE + "/image-preparations", needs=WRITE, note="ready after 1 s of the emulator's clock")
def prepare_image(call: Call) -> Result:
    """Start or observe the preparation of an image."""
    status, answer = images.prepare(call, checked(call, shapes.PREPARATION)["image"])
    return Result(answer, status=status)


@api.operation("GET", _BASE + "/me", needs=READ, fidelity=Fidelity.PARTIAL, source=_UNPUBLISHED, note="fixed limits")
def get_me(call: Call) -> Result:
    """Limits and defaults of the account."""
    return Result(sizes.account_view(call.account_id))


@api.operation(
    "GET", _BASE + "/dash/applications", needs=READ, fidelity=Fidelity.PARTIAL, source=_UNPUBLISHED, note=_DASH
)
def dash_applications(call: Call) -> Result:
    """Applications for `wrangler containers list`."""
    found = sorted(rules.all_of(call), key=lambda app: _place(app, "created_at"))
    return _page(call, found, "created_at", lambda app: views.dash_application(rules.shown(call, app)), 100)


@api.operation(
    "GET",
    _BASE + "/dash/applications/{application_id}/instances",
    needs=READ,
    fidelity=Fidelity.PARTIAL,
    source=_UNPUBLISHED,
    note=_DASH,
)
def dash_instances(call: Call) -> Result:
    """Instances for `wrangler containers instances`."""
    app = rules.find(call)
    found = sorted(instances.all_of(call.store, app), key=lambda each: _place(each, "started_at"))
    page = _page(call, found, "started_at", lambda each: each, 100)
    objects = [views.durable_object(each) for each in page.result] if app["namespace_id"] else []
    shown = [views.dash_instance(each) for each in page.result]
    return Result({"instances": shown, "durable_objects": objects}, page.info)


@api.operation("GET", _BASE + "/registries", needs=READ, note="the managed one is listed with its loopback address")
def list_registries(call: Call) -> Result:
    """List registries."""
    return Result(registries.all_of(call))


@api.operation(
    "POST", _BASE + "/registries", needs=WRITE, fidelity=Fidelity.PARTIAL, note="the secret is not looked up"
)
def configure_registry(call: Call) -> Result:
    """Add a registry elsewhere."""
    return Result(registries.configure(call, checked(call, shapes.REGISTRY)), status=201)


@api.operation("DELETE", _BASE + "/registries/{domain}", needs=WRITE)
def delete_registry(call: Call) -> Result:
    """Remove a registry."""
    return Result(registries.remove(call, call.params["domain"]))


@api.operation(
    "POST",
    _BASE + "/registries/{domain}/credentials",
    needs=WRITE,
    note="registry.cloudflare.com means the registry of this emulator: `registry_host` is its address on loopback, "
    "which clients must use (wrangler: CLOUDFLARE_CONTAINER_REGISTRY); made-up password for registries elsewhere",
)
def generate_credentials(call: Call) -> Result:
    """Mint credentials."""
    body = checked(call, shapes.CREDENTIALS)
    return Result(registries.generate_credentials(call, call.params["domain"], body), status=201)
