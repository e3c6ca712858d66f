"""What the control routes tell and change."""

from emulator.calls import Call
from emulator.clock import hex_id
from emulator.journal import CAPACITY
from emulator.paging import whole_query
from emulator.registry import load_services
from emulator.seed import SETUP_KINDS, seed_account
from emulator.settings import Account
from emulator.store import Document

from . import errors

_EFFECTS = ("status", "retry_after", "delay_ms", "drop")


def read_journal(call: Call) -> list[Document]:
    """Requests since a sequence number."""
    after = whole_query(call, "after", 0, 0, 10**10)
    limit = whole_query(call, "limit", CAPACITY, 1, CAPACITY)
    return call.state.journal.entries(after=after, limit=limit, operation=call.query.get("operation", ""))


def clear_journal(call: Call) -> None:
    """Forget the requests."""
    call.state.journal.clear()


def list_faults(call: Call) -> list[Document]:
    """The rules in force."""
    return [fault.describe() for fault in call.state.faults.all()]


def add_fault(call: Call, rule: Document) -> Document:
    """Put a rule in force."""
    if not any(effect in rule for effect in _EFFECTS):
        raise errors.EMPTY_FAULT()
    return call.state.faults.add(rule).describe()


def clear_faults(call: Call) -> None:
    """Lift all rules."""
    call.state.faults.clear()


def remove_fault(call: Call) -> None:
    """Lift one rule."""
    wanted = call.params["fault_id"]
    if not (wanted.isascii() and wanted.isdigit() and call.state.faults.remove(int(wanted))):
        raise errors.NO_FAULT()


def read_clock(call: Call) -> Document:
    """The emulator's time."""
    return {"now": call.state.clock.stamp(), "offset_seconds": call.state.clock.offset}


def advance_clock(call: Call, body: Document) -> Document:
    """Move the clock on by `advance` seconds."""
    call.state.clock.advance(body["advance"])
    call.state.settle()
    return read_clock(call)


def read_latency(call: Call) -> Document:
    """Milliseconds added to every call of the API."""
    return {"ms": call.state.latency_ms}


def set_latency(call: Call, body: Document) -> Document:
    """Slow every call of the API down."""
    call.state.latency_ms = body["ms"]
    return body


def add_account(call: Call, wanted: Document) -> Document:
    """Have an account, new unless its id is known, with these zones among its own."""
    account_id = wanted.get("id") or hex_id()
    there = {zone["name"] for zone in call.store.find("zone", "", "account", account_id)}
    zones = tuple(name for name in wanted.get("zones", ()) if name not in there)
    return seed_account(call.store, call.state.clock, Account(account_id, wanted.get("name", Account.name), zones))


def read_state(call: Call) -> Document:
    """What the state holds: counts per kind, of all of it and of what was deployed, and whether that is nothing."""
    call.state.settle()
    return _counts(call)


def _counts(call: Call) -> Document:
    counts = call.store.counts()
    deployed = {kind: count for kind, count in counts.items() if kind not in SETUP_KINDS}
    return {"kinds": counts, "deployed": deployed, "empty": not deployed}


def list_operations(_call: Call) -> list[Document]:
    """What the emulator offers."""
    return [
        {
            "id": operation.id,
            "method": operation.method,
            "path": operation.base + operation.path,
            "needs": list(operation.needs),
            "fidelity": operation.fidelity,
            "note": operation.note,
        }
        for service in load_services()
        for operation in service.operations
    ]


def reset(call: Call) -> Document:
    """Back to the state of the first start."""
    call.state.reset()
    return _counts(call)
