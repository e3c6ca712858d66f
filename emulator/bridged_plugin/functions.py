"""The functions the stand-in knows: a zone by its name or id, and the permission groups a token can be given."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from .client import Client
from .decisions import RefusedError
from .kinds import Values
from .spellings import Items, snake

_ZONE: Final = snake(
    "activatedOn", "cnameSuffix", "createdOn", "developmentMode", "id", "modifiedOn", "name", "originalDnshost",
    "originalRegistrar", "paused", "status", "type", "verificationKey",
    account=snake("id", "name"),
    meta=snake(
        "cdnOnly", "customCertificateQuota", "dnsOnly", "foundationDns", "pageRuleQuota", "phishingDetected", "step"
    ),
    nameServers=Items(),
    originalNameServers=Items(),
    owner=snake("id", "name", "type"),
    permissions=Items(),
    plan=snake(
        "canSubscribe", "currency", "externallyManaged", "frequency", "id", "isSubscribed", "legacyDiscount",
        "legacyId", "name", "price",
    ),
    tenant=snake("id", "name"),
    tenantUnit=snake("id"),
    vanityNameServers=Items(),
)  # fmt: skip
_GROUPS: Final = Items(snake("category", "id", "isSelectable", "name", scopes=Items()))


def get_zone(client: Client, arguments: Values) -> Values:
    """Find a zone by its id, or the one zone that a filter leaves."""
    zone_id, wanted = arguments.get("zoneId"), arguments.get("filter")
    if (zone_id is None) == (wanted is None):
        raise RefusedError("exactly one of zoneId and filter has to be set")
    if zone_id is None:
        zone_id = _the_one(client, _known(wanted or {}, ("name", "status", "account", "match")))
    found = _ZONE.from_api(client.get(f"/zones/{zone_id}").strict())
    shown = {"filter": {"match": "all", **wanted}} if wanted else {}
    return {**found, **shown, "zoneId": found["id"]}


def _the_one(client: Client, wanted: Values) -> str:
    account = _known(wanted.get("account") or {}, ("id", "name"))
    query: dict[str, str] = {name: str(wanted[name]) for name in ("name", "status") if name in wanted}
    query["match"] = str(wanted.get("match", "all"))
    query |= {f"account.{name}": str(value) for name, value in account.items()}
    zones = client.get("/zones", query=query).strict()
    if len(zones) != 1:
        raise RefusedError(f"failed to find exactly one result: {len(zones)} found")
    return str(zones[0]["id"])


def get_permission_groups(client: Client, arguments: Values) -> Values:
    """List the permission groups of an account's tokens."""
    given = _known(arguments, ("accountId", "name", "scope", "maxItems"))
    if "accountId" not in given:
        raise RefusedError("Missing required property 'accountId'")
    query: dict[str, str] = {name: str(given[name]) for name in ("name", "scope") if name in given}
    found = client.get(f"/accounts/{given['accountId']}/tokens/permission_groups", query=query).strict()
    return {**given, "results": _GROUPS.from_api(found)[: given.get("maxItems", 1000)]}


def _known(values: Mapping[str, Any], names: tuple[str, ...]) -> Values:
    unknown = [name for name in values if name not in names]
    if unknown:
        raise RefusedError(f"this stand-in for pulumi-resource-cloudflare does not know the argument {unknown[0]}")
    return dict(values)


FUNCTIONS: Final[Mapping[str, Callable[[Client, Values], Values]]] = {
    "cloudflare:index/getZone:getZone": get_zone,
    "cloudflare:index/getAccountApiTokenPermissionGroupsList:getAccountApiTokenPermissionGroupsList": (
        get_permission_groups
    ),
}
