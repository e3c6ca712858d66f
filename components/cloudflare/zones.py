"""DNS records and certificates of a zone, and the zone itself by its name."""

from collections.abc import Sequence
from typing import Any, Final, NotRequired, TypedDict

import pulumi
from pulumi import Input, Output

from .bridged_resource import BridgedResource, call, call_output

_GET: Final = "cloudflare:index/getZone:getZone"


class _DnsRecordArgs(TypedDict):
    zone_id: Input[str]
    name: Input[str]
    type: Input[str]
    ttl: Input[float]
    content: NotRequired[Input[str]]
    proxied: NotRequired[Input[bool]]
    comment: NotRequired[Input[str]]


class DnsRecord(BridgedResource[_DnsRecordArgs]):
    """A DNS record."""

    resource_type = "cloudflare:index/dnsRecord:DnsRecord"
    former_types = ("cloudflare:index/record:Record",)


class _CertificatePackArgs(TypedDict):
    zone_id: Input[str]
    type: Input[str]
    certificate_authority: Input[str]
    validation_method: Input[str]
    validity_days: Input[int]
    hosts: NotRequired[Input[Sequence[Input[str]]]]


class CertificatePack(BridgedResource[_CertificatePackArgs]):
    """A certificate."""

    resource_type = "cloudflare:index/certificatePack:CertificatePack"


@pulumi.output_type
class Zone:
    """A zone."""

    zone_id: str = pulumi.property("zoneId")


def get_zone(name: str, parent: pulumi.Resource | None = None) -> Zone:
    """Look up the one zone of this name."""
    return call(_GET, _called(name), Zone, parent)


def get_zone_output(name: str, parent: pulumi.Resource | None = None) -> Output[Zone]:
    """Look up the one zone of this name, without waiting for it."""
    return call_output(_GET, _called(name), Zone, parent)


def _called(name: str) -> dict[str, Any]:
    return {"filter": {"match": "all", "name": name}}
