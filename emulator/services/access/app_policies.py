"""Policies of one application: its own, which are part of it, and references to reusable ones of the account."""

from emulator.calls import Call, Result
from emulator.clock import uuid_id
from emulator.paging import page_of
from emulator.store import Document

from . import errors, rules


def listed(call: Call) -> list[Document]:
    """The policies of the path's application, in the order of their precedence."""
    return list(rules.app_view(call, rules.APPS.get(call)).get("policies", []))


def list_app_policies(call: Call) -> Result:
    """One page of them."""
    return page_of(call, listed(call), default=25, most=1000)


def get_app_policy(call: Call) -> Document:
    """The path's policy, written out."""
    policy = next((each for each in listed(call) if each["id"] == call.params["policy_id"]), None)
    if policy is None:
        raise errors.NO_POLICY()
    return policy


def create_app_policy(call: Call, body: Document) -> Document:
    """Add a policy of the application's own, after all others unless the body says where."""
    last = max((each["precedence"] for each in listed(call)), default=0)
    now = call.state.clock.stamp()
    policy = {"precedence": last + 1, **rules.settable(body), "id": uuid_id(), "reusable": False}
    return _put(call, {**policy, "created_at": now, "updated_at": now})


def replace_app_policy(call: Call, body: Document) -> Document:
    """Replace a policy of the application's own; it keeps its place unless the body says another."""
    former = _own(call)
    changed: Document = {name: former[name] for name in ("id", "precedence", "created_at") if name in former}
    changed |= {**rules.settable(body), "reusable": False, "updated_at": call.state.clock.stamp()}
    return _put(call, changed)


def delete_app_policy(call: Call) -> Document:
    """Remove a policy of the application's own; its id."""
    policy = _own(call)
    _store(call, [each for each in rules.APPS.get(call)["policies"] if each["id"] != policy["id"]])
    return {"id": policy["id"]}


def _own(call: Call) -> Document:
    policy = get_app_policy(call)
    if policy.get("reusable"):
        raise errors.REUSABLE(policy=policy["id"])
    return policy


def _put(call: Call, policy: Document) -> Document:
    others = [each for each in rules.APPS.get(call).get("policies", []) if each["id"] != policy["id"]]
    if any(each["precedence"] == policy["precedence"] for each in others):
        raise errors.INVALID(problem="policy precedences must be unique")
    _store(call, [*others, policy])
    return policy


def _store(call: Call, policies: list[Document]) -> None:
    rules.APPS.put(call, {**rules.APPS.get(call), "policies": policies, "updated_at": call.state.clock.stamp()})
