"""Operations of Workers KV."""

from emulator.registry import MEBIBYTE, PARTIAL, Service
from emulator.schema import anything, fields, flag, items, nullable, number, text

from . import bulk, errors, rules

api = Service(
    "kv",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.NO_TITLE,
)

READ, WRITE = "Workers KV Storage Read", "Workers KV Storage Write"
_NAMESPACES = "/accounts/{account_id}/storage/kv/namespaces"
_NAMESPACE = _NAMESPACES + "/{namespace_id}"
_BODY = fields(
    {"title": text(least=1, most=512)},
    {"jurisdiction": nullable(text(choices=["eu", "us", "fedramp"])), "mode": nullable(text())},
)

_BULK = 101 * MEBIBYTE
_MOST_WRITTEN, _MOST_READ = 10_000, 100
_SECONDS = nullable(number(least=0, most=10**11, whole=True))
_PAIR = fields(
    {"key": text(), "value": text()},
    {"base64": nullable(flag()), "expiration": _SECONDS, "expiration_ttl": _SECONDS, "metadata": anything()},
)
_PAIRS = items(_PAIR, least=1, most=_MOST_WRITTEN)
_NAMES = items(text(least=1), least=1, most=_MOST_WRITTEN)
_ASKED = fields(
    {"keys": items(text(least=1), least=1, most=_MOST_READ)},
    {"type": nullable(text(choices=["text", "json"])), "withMetadata": nullable(flag())},
)
_CREATE_NAMESPACE = "visible at once; the real one may lag (404 code 10013)"

api.get(_NAMESPACES, rules.list_namespaces, READ)
api.post(_NAMESPACES, rules.create_namespace, WRITE, body=_BODY, note=_CREATE_NAMESPACE)
api.get(_NAMESPACE, rules.NAMESPACES.get, READ, name="get_namespace")
api.put(_NAMESPACE, rules.rename_namespace, WRITE, body=_BODY)
api.delete(_NAMESPACE, rules.delete_namespace, WRITE, PARTIAL, note="bindings to it are not looked for")
api.get(_NAMESPACE + "/keys", rules.list_keys, READ)
api.put(_NAMESPACE + "/values/{key_name}", rules.write_value, WRITE, body_limit=26 * MEBIBYTE)
api.get(_NAMESPACE + "/values/{key_name}", rules.read_value, READ)
api.delete(_NAMESPACE + "/values/{key_name}", rules.delete_value, WRITE)
api.get(_NAMESPACE + "/metadata/{key_name}", rules.read_metadata, READ)
api.put(_NAMESPACE + "/bulk", bulk.write_many, WRITE, body=_PAIRS, invalid=errors.BAD_BULK, body_limit=_BULK)
api.post(_NAMESPACE + "/bulk/get", bulk.read_many, READ, body=_ASKED, invalid=errors.BAD_BULK)
for _delete, _path, _name in (
    (api.post, "/bulk/delete", "delete_many"),
    (api.delete, "/bulk", "delete_many_older"),  # which wrangler still sends
):
    _delete(
        _NAMESPACE + _path,
        bulk.delete_many,
        WRITE,
        body=_NAMES,
        invalid=errors.BAD_BULK,
        body_limit=_BULK,
        name=_name,
    )
