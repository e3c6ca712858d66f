"""What the operations of Containers do: from what a call asks for, through the rules, to what the API shows."""

from collections.abc import Callable

from emulator.calls import Call, Result
from emulator.paging import cursor_after, cursor_for, whole_query
from emulator.store import Document

from . import bodies, changes, errors, images, instances, rules, sizes, views

_MOST = 500


def _page(call: Call, found: list[Document], when: str, show: Callable[[Document], Document], default: int) -> Result:
    """One page of a list in order of age; 0 as default means all unless a page is asked for."""
    asked = "per_page" in call.query or "page_token" in call.query
    size = whole_query(call, "per_page", default or 100, 1, _MOST) if asked or default else len(found)
    after = cursor_after(call, "page_token") or ""
    rest = [each for each in sorted(found, key=lambda each: _place(each, when)) if _place(each, when) > after]
    info: Document = {"per_page": size}
    if call.query.get("page_token"):
        info["page_token"] = call.query["page_token"]
    if len(rest) > size:
        info["next_page_token"] = cursor_for(_place(rest[size - 1], when))
    return Result([show(each) for each in rest[:size]], info)


def _place(each: Document, when: str) -> str:
    return f"{views.moment(each[when])}/{each['id']}"


def create_application(call: Call, body: Document) -> Result:
    """Create an application."""
    status, app = rules.create(call, body)
    return Result(rules.shown(call, app), status=status)


def list_applications(call: Call) -> Result:
    """List applications, oldest first."""
    name, image = call.query.get("name"), call.query.get("image")
    found = [
        app
        for app in rules.all_of(call)
        if name in ("", app["name"]) and image in ("", app["configuration"].get("image"))
    ]
    return _page(call, found, "created_at", lambda app: rules.shown(call, app), 0)


def edit_application(call: Call) -> Document:
    """Change an application."""
    app = rules.find(call, lasting=True)
    check = bodies.PATCH_MANAGED if app["policy"] == bodies.MANAGED else bodies.PATCH_SCHEDULED
    return rules.modify(call, app, call.body(check, errors.INVALID))


def delete_application(call: Call) -> Document:
    """Begin to delete an application."""
    rules.delete(call, rules.find(call, lasting=True))
    return {"message": "Application deletion has been started."}


def list_versions(call: Call) -> list[Document]:
    """List versions, newest first."""
    app = rules.find(call)
    return [] if app["policy"] == bodies.MANAGED else changes.versions(call, app)


def list_instances(call: Call) -> Result:
    """List instances."""
    return _instances(call, 100)


def list_instances_v1(call: Call) -> Result:
    """List instances in the old form."""
    page = _instances(call, 0)
    return Result({"instances": page.result}, page.info)


def _instances(call: Call, default: int) -> Result:
    app = rules.find(call)
    state = call.choice("state", ("active", "not-active", ""), "")
    matches = instances.matching(state, call.query.get("name_prefix", ""))
    found = [each for each in instances.all_of(call.store, app) if matches(each)]
    return _page(call, found, "started_at", lambda each: _instance(call, app, each), default)


def _instance(call: Call, app: Document, each: Document) -> Document:
    managed = app["policy"] == bodies.MANAGED
    configuration = None if managed else rules.version_of(call, app, each["version"])["configuration"]
    return views.instance(app, each, configuration)


def get_instance(call: Call) -> Document:
    """Read an instance."""
    app = rules.find(call)
    return _instance(call, app, instances.find(call, app, call.params["instance_id"]))


def create_rollout(call: Call) -> Document:
    """Start a rollout."""
    app = rules.find(call, lasting=True)
    return changes.shown(call, app, changes.begin(call, app, call.body(bodies.ROLLOUT, errors.INVALID)))


def list_rollouts(call: Call) -> list[Document]:
    """List rollouts."""
    app = rules.find(call)
    found, last = changes.all_of(call, app), call.query.get("last")
    ids = [rollout["id"] for rollout in found]
    begin = ids.index(last) + 1 if last in ids else 0
    limit = whole_query(call, "limit", len(found) or 1, 1, 10**6)
    return [changes.shown(call, app, rollout) for rollout in found[begin : begin + limit]]


def get_rollout(call: Call) -> Document:
    """Read a rollout."""
    app = rules.find(call)
    return changes.shown(call, app, changes.find(call, app, call.params["rollout_id"]))


def update_rollout(call: Call) -> Document:
    """Move a rollout by hand."""
    app = rules.find(call, lasting=True)
    action = call.body(bodies.ROLLOUT_ACTION, errors.INVALID)["action"]
    return changes.shown(call, app, changes.act(call, app, call.params["rollout_id"], action))


def delete_rollout(call: Call) -> Document:
    """Forget a rollout."""
    changes.remove(call, rules.find(call, lasting=True), call.params["rollout_id"])
    return {}


def prepare_image(call: Call, body: Document) -> Result:
    """Start or observe the preparation of an image."""
    status, answer = images.prepare(call, body["image"])
    return Result(answer, status=status)


def get_me(call: Call) -> Document:
    """Limits and defaults of the account."""
    return sizes.account_view(call.account_id)


def dash_applications(call: Call) -> Result:
    """Applications for `wrangler containers list`."""
    found = rules.all_of(call)
    return _page(call, found, "created_at", lambda app: views.dash_application(rules.shown(call, app)), 100)


def dash_instances(call: Call) -> Result:
    """Instances for `wrangler containers instances`."""
    app = rules.find(call)
    page = _page(call, instances.all_of(call.store, app), "started_at", lambda each: each, 100)
    objects = [views.durable_object(each) for each in page.result] if app["namespace_id"] else []
    shown = [views.dash_instance(each) for each in page.result]
    return Result({"instances": shown, "durable_objects": objects}, page.info)
