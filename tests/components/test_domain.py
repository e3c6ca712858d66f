"""PreviewDomain: what it registers for which settings, to the last input."""

from typing import Any

import pulumi
import pulumi_cloudflare
import pytest

from components.domain import DomainArgs, PreviewDomain
from components.settings.domain import DomainSettings
from tests.components.monitor import Recorded, deploy, unknown_inputs

ZONE_ID = "f" * 32
LOOKUP = "cloudflare:index/getZone:getZone"
SHARED = {"hostname": "sandbox.example.com", "zone": "example.com"}


def made(document: dict[str, Any], *, preview: bool = False) -> Recorded:
    def program() -> None:
        script = pulumi.Output.from_input("sandbox-dev")
        PreviewDomain("domain", DomainArgs(DomainSettings.parse(document), script, ("sandbox", "dev")))

    return deploy(program, answers={LOOKUP: lambda _: {"zoneId": ZONE_ID, "id": ZONE_ID}}, preview=preview)


def record(name: str) -> dict[str, Any]:
    return {
        "zoneId": ZONE_ID,
        "name": name,
        "type": "AAAA",
        "content": "100::",
        "proxied": True,
        "ttl": 1,
        "comment": "Sandbox stack sandbox-dev",
    }


def route(pattern: str) -> dict[str, Any]:
    return {"zoneId": ZONE_ID, "pattern": pattern, "script": "sandbox-dev"}


def test_a_zone_of_its_own_needs_one_record_and_one_route():
    recorded = made({"hostname": "example.com"})
    assert recorded.names() == [
        "DnsRecord domain-previews",
        "PreviewDomain domain",
        "WorkersRoute domain-previews-route",
    ]
    assert recorded.one("DnsRecord").inputs == record("*.example.com")
    assert recorded.one("WorkersRoute").inputs == route("*.example.com/*")
    assert recorded.one("PreviewDomain").type == "cloudflare-sandbox:index:PreviewDomain"
    assert recorded.one("PreviewDomain").outputs == [{"preview_hostname": "example.com", "zone_id": ZONE_ID}]
    assert {each.parent for each in recorded.resources if each.custom} == {"domain"}
    assert recorded.warnings == []


def test_the_zone_is_looked_up_by_name_in_previews_too():
    asked = [(LOOKUP, {"filter": {"match": "all", "name": "example.com"}})]
    assert made(SHARED).calls == asked
    recorded = made(SHARED, preview=True)
    assert (recorded.calls, recorded.one("DnsRecord").inputs["zoneId"]) == (asked, ZONE_ID)


def test_a_zone_given_by_id_is_not_looked_up():
    recorded = made({**SHARED, "zone_id": "a" * 32})
    assert recorded.calls == []
    assert {each.inputs["zoneId"] for each in recorded.resources if each.custom} == {"a" * 32}


def test_one_level_deeper_a_certificate_is_ordered():
    assert made(SHARED).one("CertificatePack").inputs == {
        "zoneId": ZONE_ID,
        "type": "advanced",
        "hosts": ["*.sandbox.example.com", "example.com", "sandbox.example.com"],
        "certificateAuthority": "google",
        "validationMethod": "txt",
        "validityDays": 90,
    }


def test_the_certificate_authority_can_be_chosen_and_the_certificate_left_to_the_user():
    chosen = made({**SHARED, "certificate_authority": "lets_encrypt"})
    assert chosen.one("CertificatePack").inputs["certificateAuthority"] == "lets_encrypt"
    assert made({**SHARED, "certificate": "own"}).of("CertificatePack") == []


@pytest.mark.parametrize("api", ["example.com", "api.example.com", "sandbox.example.com"])
def test_an_api_host_beside_the_wildcard_has_its_own_record_and_route(api: str):
    recorded = made({**SHARED, "api_hostname": api})
    assert recorded.one("DnsRecord", "domain-api").inputs == record(api)
    assert recorded.one("WorkersRoute", "domain-api-route").inputs == route(f"{api}/*")
    assert recorded.one("PreviewDomain").outputs[0]["api_url"] == f"https://{api}"


def test_an_api_host_below_the_wildcard_needs_nothing_more():
    recorded = made({**SHARED, "api_hostname": "api.sandbox.example.com"})
    assert recorded.names() == made(SHARED).names()
    assert recorded.one("PreviewDomain").outputs[0]["api_url"] == "https://api.sandbox.example.com"


def test_other_services_are_spared_before_the_wildcard_takes_their_requests():
    recorded = made({"hostname": "example.com", "bypass": ["www.example.com"]})
    spared = recorded.one("WorkersRoute", "domain-bypass-www.example.com")
    assert spared.inputs == {"zoneId": ZONE_ID, "pattern": "www.example.com/*"}
    assert recorded.one("WorkersRoute", "domain-previews-route").dependencies == {"domain-bypass-www.example.com"}


def test_who_shares_a_zone_is_warned():
    (warning,) = made(SHARED).warnings
    assert warning.startswith("Previews at *.sandbox.example.com run code of others in the zone example.com")
    assert made({**SHARED, "shared_zone": "accept"}).warnings == []


def test_two_domains_in_one_zone_have_nothing_in_common():
    def program() -> None:
        for stack in ("dev", "test"):
            document = {"hostname": f"{stack}.example.com", "zone": "example.com", "zone_id": ZONE_ID}
            PreviewDomain(stack, DomainArgs(DomainSettings.parse(document), "script", ("sandbox", stack)))

    recorded = deploy(program)
    assert len({each.inputs["name"] for each in recorded.of("DnsRecord")}) == 2
    assert len({each.inputs["pattern"] for each in recorded.of("WorkersRoute")}) == 2


def test_the_sdk_knows_every_input():
    recorded = made({**SHARED, "api_hostname": "api.example.com", "bypass": ["www.sandbox.example.com"]})
    custom = [each for each in recorded.resources if each.custom]
    assert [path for each in custom for path in unknown_inputs(each, pulumi_cloudflare)] == []
    assert len(custom) == 6
