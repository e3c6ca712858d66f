"""Operations on workers.dev, schedules, account settings and tails."""

from emulator.calls import Call, Raw, Taken
from emulator.registry import STORED, Mounted, Service
from emulator.runtime.proxy.websocket import wants_websocket
from emulator.schema import fields, flag, items, nullable, number, options, text

from . import errors, rules

api = Service(
    "workers_triggers",
    source="official Python SDK 5.9.0, wrangler 4.158.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
TAIL = ("Workers Tail Read", "Workers Scripts Write")
_WORKERS = "/accounts/{account_id}/workers"
_SCRIPT = _WORKERS + "/scripts/{script_name}"
_NAME = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_ACCOUNT_SUBDOMAIN = fields({"subdomain": text(pattern=_NAME)})
_SUBDOMAIN = fields({"enabled": flag()}, {"previews_enabled": nullable(flag())})
_CRONS = items(fields({"cron": text(least=1, most=100)}, closed=False), most=250)
_TEXTS = items(text(least=1), least=1)
_FILTER = options(
    sampling_rate=number(least=0, most=1),
    outcome=_TEXTS,
    method=_TEXTS,
    header=fields({"key": text(least=1)}, {"query": text()}),
    client_ip=_TEXTS,
    query=text(least=1),
    scriptVersion=text(least=1),
)
_TAIL = nullable(options(filters=nullable(items(_FILTER, most=20))))
_SETTINGS = options(default_usage_model=nullable(text()), green_compute=nullable(flag()))


@api.mount(
    "tail",
    (Mounted("GET", "/tail/{tail_id}", "the address itself", note="a WebSocket of protocol trace-v1, for six hours"),),
)
async def listen(call: Call) -> Raw:
    """Send what a Worker logs and throws."""
    script, tail = rules.tail_of(call, call.segments[-1])
    if not wants_websocket(call):
        raise errors.NO_WEBSOCKET()
    await call.state.runtime.tails.serve(call, script, tail["filters"])
    return Taken(status=101)


_FROM_START = "an account has one from the start"
_LOGS = "logs and exceptions come from workerd; all filters"

api.get(_WORKERS + "/subdomain", rules.get_account_subdomain, READ, note=_FROM_START)
api.put(_WORKERS + "/subdomain", rules.put_account_subdomain, WRITE, body=_ACCOUNT_SUBDOMAIN)
api.delete(_WORKERS + "/subdomain", rules.delete_account_subdomain, WRITE)
api.get(_WORKERS + "/subdomains/{subdomain_name}", rules.check_subdomain, READ)
api.get(_WORKERS + "/account-settings", rules.get_account_settings, READ, STORED)
api.put(_WORKERS + "/account-settings", rules.put_account_settings, WRITE, STORED, body=_SETTINGS)
api.get(_SCRIPT + "/subdomain", rules.get_subdomain, READ)
api.post(_SCRIPT + "/subdomain", rules.set_subdomain, WRITE, body=_SUBDOMAIN)
api.delete(_SCRIPT + "/subdomain", rules.delete_subdomain, WRITE)
api.get(_SCRIPT + "/schedules", rules.get_schedules, READ)
api.put(_SCRIPT + "/schedules", rules.put_schedules, WRITE, STORED, body=_CRONS)
api.get(_SCRIPT + "/tails", rules.get_tail, TAIL, view=rules.tail_view)
api.post(_SCRIPT + "/tails", rules.create_tail, TAIL, body=_TAIL, view=rules.tail_view, note=_LOGS)
api.delete(_SCRIPT + "/tails/{tail_id}", rules.delete_tail, TAIL)
