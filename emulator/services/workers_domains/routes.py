"""Operations on custom domains."""

from emulator.registry import PARTIAL, Service
from emulator.schema import fields, flag, items, nullable, text

from . import errors, rules

api = Service(
    "workers_domains",
    source="official Python SDK 5.9.0, wrangler 4.158.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
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
_REPLACE_DOMAINS = f"used by wrangler; {_NO_RECORD}"

api.get(_WORKERS + "/domains", rules.list_domains, READ)
api.put(_WORKERS + "/domains", rules.attach_domain, WRITE, PARTIAL, body=_BODY, note=_NO_RECORD)
api.get(_DOMAIN, rules.DOMAINS.get, READ, name="get_domain")
api.delete(_DOMAIN, rules.detach_domain, WRITE)
api.get(_WORKERS + "/domains/records", rules.list_domains, READ, name="list_records", note="used by wrangler")
api.get(_WORKERS + "/domains/records/{domain_id}", rules.DOMAINS.get, READ, name="get_record", note="used by wrangler")
api.post(_SCRIPT + "/changeset", rules.preview_domains, WRITE, body=_ORIGINS, note="used by wrangler")
api.put(_SCRIPT + "/records", rules.replace_domains, WRITE, PARTIAL, body=_RECORDS, note=_REPLACE_DOMAINS)
