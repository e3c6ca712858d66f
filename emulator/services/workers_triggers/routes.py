"""Operations on workers.dev, schedules, account settings and tails."""

from emulator.calls import Call, Raw, Result, Taken
from emulator.registry import Fidelity, Mounted, Service
from emulator.runtime.websocket import wants_websocket
from emulator.schema import fields, flag, items, nullable, number, text
from emulator.services.workers import rules as workers

from . import errors, rules

api = Service(
    "workers_triggers",
    source="official Python SDK 5.9.0, wrangler 4.158.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
TAIL = ("Workers Tail Read", "Workers Scripts Write")
_WORKERS = "/accounts/{account_id}/workers"
_SCRIPT = _WORKERS + "/scripts/{script_name}"
_NAME = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SUBDOMAIN = fields({"enabled": flag()}, {"previews_enabled": nullable(flag())})
_CRONS = items(fields({"cron": text(least=1, most=100)}, closed=False), most=250)
_TEXTS = items(text(least=1), least=1)
_FILTER = fields(
    {},
    {
        "sampling_rate": number(least=0, most=1),
        "outcome": _TEXTS,
        "method": _TEXTS,
        "header": fields({"key": text(least=1)}, {"query": text()}),
        "client_ip": _TEXTS,
        "query": text(least=1),
        "scriptVersion": text(least=1),
    },
)
_TAIL = nullable(fields({}, {"filters": nullable(items(_FILTER, most=20))}))
_SETTINGS = fields({}, {"default_usage_model": nullable(text()), "green_compute": nullable(flag())})


@api.operation("GET", _WORKERS + "/subdomain", needs=READ, note="an account has one from the start")
def get_account_subdomain(call: Call) -> Result:
    """Read the account's name below workers.dev."""
    name = rules.subdomain(call.store, call.account_id)
    if name is None:
        raise errors.NO_SUBDOMAIN()
    return Result({"subdomain": name})


@api.operation("PUT", _WORKERS + "/subdomain", needs=WRITE)
def put_account_subdomain(call: Call) -> Result:
    """Register the account's name below workers.dev."""
    body = call.body(fields({"subdomain": text(pattern=_NAME)}), errors.INVALID)
    rules.register(call, body["subdomain"])
    return Result(body)


@api.operation("DELETE", _WORKERS + "/subdomain", needs=WRITE)
def delete_account_subdomain(call: Call) -> Raw:
    """Give the account's name up."""
    rules.give_up(call)
    return Raw(b"", None, 204)


@api.operation("GET", _WORKERS + "/subdomains/{subdomain_name}", needs=READ)
def check_subdomain(call: Call) -> Result:
    """Tell whether a name is taken; a free one is answered with 404, code 10032."""
    name = call.params["subdomain_name"]
    if not rules.taken(call, name):
        raise errors.SUBDOMAIN_FREE(name=name)
    raise errors.SUBDOMAIN_TAKEN(name=name)


@api.operation("GET", _WORKERS + "/account-settings", needs=READ, fidelity=Fidelity.STORED)
def get_account_settings(call: Call) -> Result:
    """Read the account's settings for Workers."""
    return Result(rules.settings(call))


@api.operation("PUT", _WORKERS + "/account-settings", needs=WRITE, fidelity=Fidelity.STORED)
def put_account_settings(call: Call) -> Result:
    """Change the account's settings for Workers."""
    return Result(rules.change_settings(call, call.body(_SETTINGS, errors.INVALID)))


@api.operation("GET", _SCRIPT + "/subdomain", needs=READ)
def get_subdomain(call: Call) -> Result:
    """Read whether a Worker answers on workers.dev."""
    return Result(workers.get(call)["subdomain"])


@api.operation("POST", _SCRIPT + "/subdomain", needs=WRITE)
def set_subdomain(call: Call) -> Result:
    """Let a Worker answer on workers.dev, or not."""
    return Result(rules.set_subdomain(call, call.body(_SUBDOMAIN, errors.INVALID)))


@api.operation("DELETE", _SCRIPT + "/subdomain", needs=WRITE)
def delete_subdomain(call: Call) -> Result:
    """Take a Worker off workers.dev."""
    return Result(rules.set_subdomain(call, {"enabled": False, "previews_enabled": False}))


@api.operation("GET", _SCRIPT + "/schedules", needs=READ)
def get_schedules(call: Call) -> Result:
    """Read a Worker's schedules."""
    return Result({"schedules": workers.get(call)["schedules"]})


@api.operation("PUT", _SCRIPT + "/schedules", needs=WRITE, fidelity=Fidelity.STORED)
def put_schedules(call: Call) -> Result:
    """Replace a Worker's schedules; the body is an array."""
    crons = [each["cron"] for each in call.body(_CRONS, errors.INVALID)]
    return Result({"schedules": rules.set_schedules(call, crons)})


@api.operation("GET", _SCRIPT + "/tails", needs=TAIL)
def get_tail(call: Call) -> Result:
    """Read the tail begun last."""
    return Result(rules.tail_view(rules.get_tail(call)))


@api.operation("POST", _SCRIPT + "/tails", needs=TAIL, note="logs and exceptions come from workerd; all filters")
def create_tail(call: Call) -> Result:
    """Begin a tail."""
    given = call.body(_TAIL, errors.INVALID) or {}
    return Result(rules.tail_view(rules.open_tail(call, given.get("filters") or [])))


@api.operation("DELETE", _SCRIPT + "/tails/{tail_id}", needs=TAIL)
def delete_tail(call: Call) -> Result:
    """End a tail."""
    rules.close_tail(call)
    return Result(None)


@api.mount(
    "tail",
    (Mounted("GET", "/tail/{tail_id}", "the address itself", note="a WebSocket of protocol trace-v1, for six hours"),),
)
async def listen(call: Call) -> Raw:
    """Send what a Worker logs and throws."""
    script, tail = rules.tail_of(call, call.segments[-1])
    if not wants_websocket(call):
        raise errors.NO_WEBSOCKET()
    await call.world.runtime.tails.serve(call, script, tail["filters"])
    return Taken(status=101)
