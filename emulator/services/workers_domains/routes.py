"""Operations on custom domains."""

from emulator.calls import Call, Result
from emulator.registry import Fidelity, Service
from emulator.schema import fields, flag, items, nullable, text

from . import errors, rules

api = Service(
    "workers_domains",
    source="official Python SDK 5.9.0, wrangler 4.158.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ = ("Workers Scripts Read", "Workers Routes Read")
WRITE = ("Workers Scripts Write", "Workers Routes Write")
_WORKERS = "/accounts/{account_id}/workers"
_DOMAIN = _WORKERS + "/domains/{domain_id}"
_SCRIPT = _WORKERS + "/scripts/{script_name}/domains"
_NO_RECORD = "the DNS record and certificate that come with a domain are not made; it is active at once"
_ZONE = {"zone_id": nullable(text()), "zone_name": nullable(text())}
_BODY = fields(
    {"hostname": text(least=1), "service": text(least=1)}, {**_ZONE, "environment": nullable(text())}, closed=False
)
_ORIGINS = items(
    fields(
        {"hostname": text(least=1)},
        {**_ZONE, "enabled": nullable(flag()), "previews_enabled": nullable(flag())},
        closed=False,
    ),
    most=1000,
)
_OVERRIDES = ("override_scope", "override_existing_origin", "override_existing_dns_record")
_RECORDS = fields({"origins": _ORIGINS}, {name: nullable(flag()) for name in _OVERRIDES})


@api.operation("GET", _WORKERS + "/domains", needs=READ)
def list_domains(call: Call) -> Result:
    """List custom domains, in one page."""
    return Result(rules.listed(call))


@api.operation("PUT", _WORKERS + "/domains", needs=WRITE, fidelity=Fidelity.PARTIAL, note=_NO_RECORD)
def attach_domain(call: Call) -> Result:
    """Attach a host name to a Worker; one that is attached to another Worker moves, under the same id."""
    return Result(rules.attach(call, call.body(_BODY, errors.INVALID)))


@api.operation("GET", _DOMAIN, needs=READ)
def get_domain(call: Call) -> Result:
    """Read a custom domain."""
    return Result(rules.get_domain(call))


@api.operation("DELETE", _DOMAIN, needs=WRITE)
def detach_domain(call: Call) -> Result:
    """Detach a custom domain, whatever Worker has it now."""
    rules.detach(call)
    return Result(None)


@api.operation("GET", _WORKERS + "/domains/records", needs=READ, note="used by wrangler")
def list_records(call: Call) -> Result:
    """List custom domains."""
    return Result(rules.listed(call))


@api.operation("GET", _WORKERS + "/domains/records/{domain_id}", needs=READ, note="used by wrangler")
def get_record(call: Call) -> Result:
    """Read a custom domain."""
    return Result(rules.get_domain(call))


@api.operation("POST", _SCRIPT + "/changeset", needs=WRITE, note="used by wrangler")
def preview_domains(call: Call) -> Result:
    """Tell what giving a Worker these domains would do."""
    origins = call.body(_ORIGINS, errors.INVALID)
    return Result(rules.changeset(call, origins, replace=call.flag("replace_state")))


@api.operation(
    "PUT", _SCRIPT + "/records", needs=WRITE, fidelity=Fidelity.PARTIAL, note=f"used by wrangler; {_NO_RECORD}"
)
def replace_domains(call: Call) -> Result:
    """Give a Worker these domains."""
    return Result(rules.replace_domains(call, call.body(_RECORDS, errors.INVALID)))
