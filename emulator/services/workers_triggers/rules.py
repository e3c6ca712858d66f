"""State of triggers.

An account has a workers.dev subdomain from the start, derived from its id; it can be given up and registered anew.
Schedules belong to the Worker's document. Tails are handed out and expire.
"""

from datetime import timedelta

from emulator.calls import Call, Raw
from emulator.clock import hex_id, stamp
from emulator.schema import without_nulls
from emulator.services.workers import rules as workers
from emulator.store import Document, Store, pick

from . import errors
from .cron import is_valid

_ACCOUNT = "worker_account"
_HOURS = 6


def subdomain(store: Store, account: str) -> str | None:
    """The account's name below workers.dev."""
    stored = store.get(_ACCOUNT, account, "subdomain")
    name: str | None = f"emulated-{account[:8]}" if stored is None else stored["subdomain"]
    return name


def get_account_subdomain(call: Call) -> Document:
    """Read the account's name below workers.dev."""
    name = subdomain(call.store, call.account_id)
    if name is None:
        raise errors.NO_SUBDOMAIN()
    return {"subdomain": name}


def put_account_subdomain(call: Call, body: Document) -> Document:
    """Register the account's name below workers.dev."""
    name = body["subdomain"]
    current = subdomain(call.store, call.account_id)
    if current is not None and current != name:
        raise errors.SUBDOMAIN_EXISTS()
    if current is None and _taken(call, name):
        raise errors.SUBDOMAIN_TAKEN(name=name)
    return call.store.put(_ACCOUNT, call.account_id, "subdomain", body, labels={"subdomain": name})


def check_subdomain(call: Call) -> None:
    """Tell whether a name is taken; a free one is answered with 404, code 10032."""
    name = call.params["subdomain_name"]
    raise errors.SUBDOMAIN_TAKEN(name=name) if _taken(call, name) else errors.SUBDOMAIN_FREE(name=name)


def _taken(call: Call, name: str) -> bool:
    accounts = [document["id"] for document in call.store.select("account", "")]
    return any(subdomain(call.store, account) == name for account in accounts)


def delete_account_subdomain(call: Call) -> Raw:
    """Release the account's name."""
    get_account_subdomain(call)
    call.store.put(_ACCOUNT, call.account_id, "subdomain", {"subdomain": None})
    return Raw(b"", None, 204)


def get_account_settings(call: Call) -> Document:
    """The account's settings for Workers."""
    return call.store.get(_ACCOUNT, call.account_id, "settings") or {
        "default_usage_model": "standard",
        "green_compute": False,
    }


def put_account_settings(call: Call, body: Document) -> Document:
    """Change what was sent."""
    changed = {**get_account_settings(call), **without_nulls(body)}
    return call.store.put(_ACCOUNT, call.account_id, "settings", changed)


def get_subdomain(call: Call) -> Document:
    """Read whether a Worker answers on workers.dev."""
    return dict(workers.get(call)["subdomain"])


def delete_subdomain(call: Call) -> Document:
    """Take a Worker off workers.dev."""
    return set_subdomain(call, {"enabled": False, "previews_enabled": False})


def set_subdomain(call: Call, body: Document) -> Document:
    """Let the path's Worker answer on workers.dev, or not; previews follow unless said."""
    worker = workers.get(call)
    if body["enabled"] and subdomain(call.store, call.account_id) is None:
        raise errors.NEEDS_SUBDOMAIN()
    previews = body.get("previews_enabled")
    worker["subdomain"] = {
        "enabled": body["enabled"],
        "previews_enabled": body["enabled"] if previews is None else previews,
    }
    workers.put(call, worker, touch=False)
    shown: Document = worker["subdomain"]
    return shown


def get_schedules(call: Call) -> Document:
    """Read a Worker's schedules."""
    return {"schedules": workers.get(call)["schedules"]}


def put_schedules(call: Call, body: list[Document]) -> Document:
    """Replace the schedules of the path's Worker; one that stays keeps its date."""
    crons = [each["cron"] for each in body]
    worker = workers.get(call)
    now = call.state.clock.stamp()
    former = {each["cron"]: each for each in worker["schedules"]}
    for cron in crons:
        if not is_valid(cron):
            raise errors.BAD_CRON(cron=cron)
    schedules = [
        {"cron": cron, "created_on": former.get(cron, {}).get("created_on", now), "modified_on": now}
        for cron in dict.fromkeys(crons)
    ]
    worker["schedules"] = schedules
    workers.put(call, worker, touch=False)
    return {"schedules": schedules}


def create_tail(call: Call, body: Document | None) -> Document:
    """Begin a tail of the path's Worker."""
    filters = (body or {}).get("filters") or []
    worker = workers.get_script(call)
    tail_id = hex_id()
    expires = stamp(call.state.clock.now() + timedelta(hours=_HOURS))
    origin = call.state.base_url.removesuffix("/client/v4").replace("http://", "ws://")
    tail = {"id": tail_id, "url": f"{origin}/tail/{tail_id}", "expires_at": expires, "filters": filters}
    listens_to = {"account_id": call.account_id, "script": worker["name"]}
    place = workers.scope(call, worker)
    return call.store.put(workers.TAIL, place, tail_id, {**tail, **listens_to}, labels={"id": tail_id})


def tail_view(_call: Call, tail: Document) -> Document:
    """A tail as the API describes it."""
    return pick(tail, "id", "url", "expires_at")


def tail_of(call: Call, tail_id: str) -> tuple[tuple[str, str], Document]:
    """The account and script of a tail that has not expired, and its document; knowing the id is the permission."""
    found = [tail for _, tail in call.store.find_anywhere(workers.TAIL, "id", tail_id)]
    if not found or found[0]["expires_at"] <= call.state.clock.stamp():
        raise errors.NO_TAIL()
    return (found[0]["account_id"], found[0]["script"]), found[0]


def get_tail(call: Call) -> Document:
    """The tail of the path's Worker that was begun last and has not expired."""
    now = call.state.clock.stamp()
    found = call.store.select(workers.TAIL, workers.scope(call, workers.get(call)), descending=True, limit=1)
    if not found or found[0]["expires_at"] <= now:
        raise errors.NO_TAIL()
    return found[0]


def delete_tail(call: Call) -> None:
    """End a tail."""
    if not call.store.delete(workers.TAIL, workers.scope(call, workers.get(call)), call.params["tail_id"]):
        raise errors.NO_TAIL()
