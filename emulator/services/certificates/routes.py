"""Operations on certificate packs."""

from emulator.registry import PARTIAL, STORED, Service
from emulator.schema import fields, flag, items, nullable, number, options, text

from . import errors, rules

api = Service(
    "certificates",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)

READ, WRITE = "SSL and Certificates Read", "SSL and Certificates Write"
_PACKS = "/zones/{zone_id}/ssl/certificate_packs"
_PACK = _PACKS + "/{certificate_pack_id}"


_UNIVERSAL = "/zones/{zone_id}/ssl/universal/settings"
_UNIVERSAL_SETTINGS = options(
    enabled=flag(), certificate_authority=nullable(text(choices=["google", "lets_encrypt", "ssl_com"]))
)
_ORDER = fields(
    {
        "certificate_authority": text(choices=["google", "lets_encrypt", "ssl_com"]),
        "type": text(choices=["advanced"]),
        "validation_method": text(choices=["txt", "http", "email"]),
        "validity_days": number(whole=True, choices=(14, 30, 90, 365)),
        "hosts": items(text(least=1, most=253), least=1, most=50),
    },
    {"cloudflare_branding": nullable(flag())},
)
_EDIT_UNIVERSAL = "no certificate is made; the pack comes and goes"
_ORDER_PACK = "active after 30 s of the emulator's clock"

api.get(_PACKS, rules.list_packs, READ, note="the universal pack too, unless it is switched off")
api.get(_PACKS + "/quota", rules.get_quota, READ, PARTIAL, note="100 for every zone")
api.get(_UNIVERSAL, rules.get_universal, READ)
api.patch(_UNIVERSAL, rules.edit_universal, WRITE, STORED, body=_UNIVERSAL_SETTINGS, note=_EDIT_UNIVERSAL)
api.post(_PACKS + "/order", rules.order_pack, WRITE, body=_ORDER, view=rules.pack_view, note=_ORDER_PACK)
api.get(_PACK, rules.get_pack, READ, PARTIAL, view=rules.pack_view, note="no validation records")
api.patch(_PACK, rules.edit_pack, WRITE, STORED, view=rules.pack_view, note="an active pack stays active")
api.delete(_PACK, rules.delete_pack, WRITE)
