"""Routes below `/_emulator/`, for tests and tools; they need a token that may do everything."""

from emulator.faults import CHECK
from emulator.registry import CONTROL, Service
from emulator.schema import fields, items, number, options, text

from . import errors, rules

api = Service("control", source=errors.OWN, date="2026-11-16", base=CONTROL)

_ACCOUNT = options(
    id=text(pattern="[0-9a-f]{32}"),
    name=text(least=1, most=100),
    zones=items(text(pattern=r"[a-z0-9-]+(\.[a-z0-9-]+)+", most=253), most=100),
)
_YEARS = 100 * 365 * 86400


api.get("/journal", rules.read_journal)
api.delete("/journal", rules.clear_journal)
api.get("/faults", rules.list_faults)
api.post("/faults", rules.add_fault, body=CHECK, status=201)
api.delete("/faults", rules.clear_faults)
api.delete("/faults/{fault_id}", rules.remove_fault)
api.get("/clock", rules.read_clock)
api.post("/clock", rules.advance_clock, body=fields({"advance": number(least=0, most=_YEARS)}))
api.get("/latency", rules.read_latency)
api.put("/latency", rules.set_latency, body=fields({"ms": number(least=0, most=60_000)}))
api.post("/accounts", rules.add_account, body=_ACCOUNT, status=201)
api.get("/state", rules.read_state)
api.get("/operations", rules.list_operations)
api.post("/reset", rules.reset)
