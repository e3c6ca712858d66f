"""Routes below `/_emulator/`, for tests and tools; they need a token that may do everything."""

from emulator.calls import Call, Result
from emulator.faults import CHECK
from emulator.journal import CAPACITY
from emulator.paging import whole_query
from emulator.registry import CONTROL, Service
from emulator.schema import fields, items, number, text

from . import errors, rules

api = Service("control", source=errors.OWN, date="2026-11-16", base=CONTROL)

_ACCOUNT = fields(
    {},
    {
        "id": text(pattern="[0-9a-f]{32}"),
        "name": text(least=1, most=100),
        "zones": items(text(pattern=r"[a-z0-9-]+(\.[a-z0-9-]+)+", most=253), most=100),
    },
)
_YEARS = 100 * 365 * 86400


@api.operation("GET", "/journal")
def read_journal(call: Call) -> Result:
    """Requests since a sequence number."""
    after = whole_query(call, "after", 0, 0, 10**10)
    limit = whole_query(call, "limit", CAPACITY, 1, CAPACITY)
    return Result(call.world.journal.entries(after=after, limit=limit, operation=call.query.get("operation", "")))


@api.operation("DELETE", "/journal")
def clear_journal(call: Call) -> Result:
    """Forget the requests."""
    call.world.journal.clear()
    return Result(None)


@api.operation("GET", "/faults")
def list_faults(call: Call) -> Result:
    """The rules in force."""
    return Result([fault.describe() for fault in call.world.faults.all()])


@api.operation("POST", "/faults")
def add_fault(call: Call) -> Result:
    """Put a rule in force."""
    return Result(rules.add_fault(call.world, call.body(CHECK, errors.INVALID)), status=201)


@api.operation("DELETE", "/faults")
def clear_faults(call: Call) -> Result:
    """Lift all rules."""
    call.world.faults.clear()
    return Result(None)


@api.operation("DELETE", "/faults/{fault_id}")
def remove_fault(call: Call) -> Result:
    """Lift one rule."""
    wanted = call.params["fault_id"]
    if not (wanted.isascii() and wanted.isdigit() and call.world.faults.remove(int(wanted))):
        raise errors.NO_FAULT()
    return Result(None)


@api.operation("GET", "/clock")
def read_clock(call: Call) -> Result:
    """The emulator's time."""
    return Result(rules.clock(call.world))


@api.operation("POST", "/clock")
def advance_clock(call: Call) -> Result:
    """Move the clock on by `advance` seconds."""
    body = call.body(fields({"advance": number(least=0, most=_YEARS)}), errors.INVALID)
    call.world.clock.advance(body["advance"])
    call.world.settle()
    return Result(rules.clock(call.world))


@api.operation("GET", "/latency")
def read_latency(call: Call) -> Result:
    """Milliseconds added to every call of the API."""
    return Result({"ms": call.world.latency_ms})


@api.operation("PUT", "/latency")
def set_latency(call: Call) -> Result:
    """Slow every call of the API down."""
    call.world.latency_ms = call.body(fields({"ms": number(least=0, most=60_000)}), errors.INVALID)["ms"]
    return Result({"ms": call.world.latency_ms})


@api.operation("POST", "/accounts")
def add_account(call: Call) -> Result:
    """Have an account, new unless its id is known, with these zones among its own."""
    return Result(rules.add_account(call.world, call.body(_ACCOUNT, errors.INVALID)), status=201)


@api.operation("GET", "/state")
def read_state(call: Call) -> Result:
    """What the state holds."""
    call.world.settle()
    return Result(rules.state(call.world))


@api.operation("GET", "/operations")
def list_operations(_call: Call) -> Result:
    """What the emulator offers."""
    return Result(rules.operations())


@api.operation("POST", "/reset")
def reset(call: Call) -> Result:
    """Back to the state of the first start."""
    call.world.reset()
    return Result(rules.state(call.world))
