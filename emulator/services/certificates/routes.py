"""Operations on certificate packs."""

from emulator.calls import Call, Result
from emulator.paging import page_of
from emulator.registry import Fidelity, Service
from emulator.schema import Check, fields, flag, items, nullable, number, text

from . import errors, rules

api = Service(
    "certificates",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)

READ, WRITE = "SSL and Certificates Read", "SSL and Certificates Write"
_PACKS = "/zones/{zone_id}/ssl/certificate_packs"
_PACK = _PACKS + "/{certificate_pack_id}"


def _one_of(*days: int) -> Check:
    def check(value: object, path: str, found: list[str]) -> None:
        number(whole=True)(value, path, found)
        if not found and value not in days:
            found.append(f"{path} must be one of {', '.join(map(str, days))}")

    return check


_QUOTA = 100
_UNIVERSAL = "/zones/{zone_id}/ssl/universal/settings"
_UNIVERSAL_SETTINGS = fields(
    {}, {"enabled": flag(), "certificate_authority": nullable(text(choices=["google", "lets_encrypt", "ssl_com"]))}
)
_ORDER = fields(
    {
        "certificate_authority": text(choices=["google", "lets_encrypt", "ssl_com"]),
        "type": text(choices=["advanced"]),
        "validation_method": text(choices=["txt", "http", "email"]),
        "validity_days": _one_of(14, 30, 90, 365),
        "hosts": items(text(least=1, most=253), least=1, most=50),
    },
    {"cloudflare_branding": nullable(flag())},
)


@api.operation("GET", _PACKS, needs=READ, note="the universal pack too, unless it is switched off")
def list_packs(call: Call) -> Result:
    """List packs; without `status=all` only the active ones."""
    every = call.choice("status", ("all", ""), "") == "all"
    if call.choice("deploy", ("production", "staging", ""), "") == "staging":
        return page_of(call, [], most=50)  # nothing here is ever staged
    packs = [rules.pack_view(call, pack) for pack in rules.packs(call)]
    return page_of(call, [pack for pack in packs if every or pack["status"] == "active"], most=50)


@api.operation("GET", _PACKS + "/quota", needs=READ, fidelity=Fidelity.PARTIAL, note="100 for every zone")
def get_quota(call: Call) -> Result:
    """Read how many packs were ordered and may be."""
    return Result({"advanced": {"allocated": _QUOTA, "used": call.store.count("certificate_pack", call.zone["id"])}})


@api.operation("GET", _UNIVERSAL, needs=READ)
def get_universal(call: Call) -> Result:
    """Read whether the zone has a universal certificate."""
    return Result(rules.universal(call))


@api.operation(
    "PATCH", _UNIVERSAL, needs=WRITE, fidelity=Fidelity.STORED, note="no certificate is made; the pack comes and goes"
)
def edit_universal(call: Call) -> Result:
    """Switch the universal certificate on or off."""
    return Result(rules.set_universal(call, call.body(_UNIVERSAL_SETTINGS, errors.INVALID)))


@api.operation("POST", _PACKS + "/order", needs=WRITE, note="active after 30 s of the emulator's clock")
def order_pack(call: Call) -> Result:
    """Order a pack."""
    return Result(rules.pack_view(call, rules.order_pack(call, call.body(_ORDER, errors.INVALID))))


@api.operation("GET", _PACK, needs=READ, fidelity=Fidelity.PARTIAL, note="no validation records")
def get_pack(call: Call) -> Result:
    """Read a pack."""
    return Result(rules.pack_view(call, rules.get_pack(call)))


@api.operation("PATCH", _PACK, needs=WRITE, fidelity=Fidelity.STORED, note="an active pack stays active")
def edit_pack(call: Call) -> Result:
    """Start validation anew, or change the branding."""
    pack = rules.ordered_pack(call)
    check = nullable(fields({}, {"cloudflare_branding": flag()}))
    body = call.body(check, errors.INVALID) or {}
    return Result(rules.pack_view(call, rules.restart(call, pack, body)))


@api.operation("DELETE", _PACK, needs=WRITE)
def delete_pack(call: Call) -> Result:
    """Delete a pack."""
    pack = rules.ordered_pack(call)
    call.store.delete("certificate_pack", call.zone["id"], pack["id"])
    return Result({"id": pack["id"]})
