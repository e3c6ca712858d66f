from typing import Any

import pytest

from components.platform import previews
from components.settings import SettingsError
from components.settings.domain import DomainSettings, overlaps

ZONE = {"zone": "example.com", "shared_zone": "accept"}


def problems(document: dict[str, Any]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        DomainSettings.parse(document)
    return caught.value.problems


def test_a_host_name_is_enough():
    settings = DomainSettings.parse({"hostname": "sandboxes.dev"})
    assert settings.zone_name == "sandboxes.dev"
    assert settings.hosts == {"previews": "*.sandboxes.dev"}
    assert (settings.certificate_hosts, settings.warning, settings.api_url) == ((), None, None)
    assert settings.variables == {"PREVIEW_HOSTNAME": "sandboxes.dev"}


def test_the_longest_preview_fits_into_a_label_and_the_longest_host_into_a_name():
    label = f"{65535}-{'i' * previews.LONGEST_ID}-{'t' * previews.LONGEST_TOKEN}"
    assert len(label) == previews.LONGEST_PREVIEW_LABEL == previews.LONGEST_LABEL
    hostname = ".".join(["x" * 61, "x" * 61, "x" * 61, "de"])
    assert len(hostname) == previews.LONGEST_HOSTNAME - 1
    assert len(f"{label}.x{hostname}") == previews.LONGEST_HOST
    assert DomainSettings.parse({"hostname": f"x{hostname}"}).hostname == f"x{hostname}"


SCHEME = "give the host name alone, without a scheme"
PART = "give the host name alone, without port or path"
FULL = "give a full host name of letters, digits and inner hyphens, such as previews.example.com"


@pytest.mark.parametrize(
    ("host", "remedy"),
    [
        ("https://example.com", SCHEME),
        ("example.com/api", PART),
        ("example.com:443", PART),
        ("*.example.com", "leave the wildcard out; it is added where it is needed"),
        ("example.com.", "leave the dot at the end out"),
        ("bücher.example", "give an internationalised name in its ASCII form, which begins with xn--"),
        ("Example.com", "use lower case"),
        ("example", FULL),
        ("exa_mple.com", FULL),
        ("-a.example.com", FULL),
        ("a..example.com", FULL),
        ("192.0.2.1", FULL),
        ("", FULL),
        (f"{'x' * 64}.com", FULL),
        (".".join(["x" * 63] * 4), "use 253 characters at most"),
    ],
)
def test_what_is_no_host_name_says_why(host: str, remedy: str):
    line = f"{host!r} cannot be used; {remedy}"
    assert problems({"hostname": host}) == [f"hostname: {line}"]
    assert problems({"hostname": "a.example", "bypass": [host]})[0] == f"bypass: {line}"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "hostname: is required; add it"),
        (
            {"hostname": "previews.example", "local_port": 8787},
            "local_port: previews.example does not end in .localhost; remove it on an account",
        ),
        (
            {"hostname": "team.workers.dev"},
            (
                "hostname: previews need a wildcard, which workers.dev does not have, and the SDK refuses it; use a "
                "zone of your own"
            ),
        ),
        (
            {"hostname": ".".join(["x" * 62, "x" * 62, "x" * 62, "dev"])},
            (
                "hostname: use 189 characters at most: previews put a label of up to 63 and a dot before it, and DNS "
                "ends at 253"
            ),
        ),
        (
            {"hostname": "a.example.com", "zone_id": "mine"},
            "zone_id: give the zone's id, 32 hexadecimal digits; its overview page shows it",
        ),
        (
            {"hostname": "a.example.org", **ZONE},
            "hostname a.example.org is not in the zone example.com; use a host of the zone",
        ),
        (
            {"hostname": "notexample.com", **ZONE},
            "hostname notexample.com is not in the zone example.com; use a host of the zone",
        ),
        (
            {"hostname": "a.example.com", "api_hostname": "api.example.com"},
            "api_hostname api.example.com is not in the zone a.example.com; set zone to the zone that holds it",
        ),
        (
            {"hostname": "a.example.com", **ZONE, "api_hostname": "v1.api.a.example.com"},
            (
                "api_hostname v1.api.a.example.com is more than one level below a.example.com, where no certificate "
                "reaches; use a host such as api.a.example.com"
            ),
        ),
        (
            {"hostname": "example.com", "api_hostname": "8080-box-token.example.com"},
            (
                "api_hostname 8080-box-token.example.com looks like a preview and would be taken for one; choose "
                "another name"
            ),
        ),
        (
            {"hostname": "a.example.com", **ZONE, "bypass": ["www.example.com"]},
            "bypass: www.example.com is not below a.example.com, so it does not reach the Worker anyway; leave it out",
        ),
        (
            {"hostname": "example.com", "api_hostname": "api.example.com", "bypass": ["api.example.com"]},
            "bypass: api.example.com is the api_hostname, which has to reach the Worker; leave it out",
        ),
        (
            {"hostname": "example.com", "bypass": ["www.example.com", "www.example.com"]},
            "bypass: www.example.com is listed twice; once is enough",
        ),
        (
            {"hostname": "a.example.com", "zone": "example.com", "shared_zone": "refuse"},
            (
                "hostname a.example.com shares the zone example.com with other sites; use a zone of its own, or set "
                "shared_zone to warn or accept"
            ),
        ),
        ({"hostname": "a.example", "certificate": "never"}, "certificate: expected 'auto' or 'own'"),
    ],
)
def test_a_mistake_is_told_with_rule_and_remedy(document: dict[str, Any], problem: str):
    assert problems(document) == [problem]


@pytest.mark.parametrize(
    ("document", "hosts"),
    [
        ({"hostname": "example.com"}, ()),
        ({"hostname": "example.com", "api_hostname": "api.example.com"}, ()),
        ({"hostname": "example.com", "api_hostname": "example.com"}, ()),
        ({"hostname": "a.example.com", **ZONE}, ("*.a.example.com", "a.example.com", "example.com")),
        (
            {"hostname": "a.example.com", **ZONE, "api_hostname": "api.example.com"},
            ("*.a.example.com", "a.example.com", "example.com"),
        ),
        (
            {"hostname": "a.example.com", **ZONE, "api_hostname": "api.b.example.com"},
            ("*.a.example.com", "a.example.com", "api.b.example.com", "example.com"),
        ),
        ({"hostname": "a.example.com", **ZONE, "certificate": "own"}, ()),
    ],
)
def test_a_certificate_is_ordered_exactly_where_the_zones_own_does_not_reach(
    document: dict[str, Any], hosts: tuple[str, ...]
):
    assert DomainSettings.parse(document).certificate_hosts == hosts


def test_who_shares_a_zone_is_warned_of_cookies():
    shared = DomainSettings.parse({"hostname": "a.example.com", "zone": "example.com"})
    assert shared.warning == (
        "Previews at *.a.example.com run code of others in the zone example.com: it can read cookies that are set for "
        "example.com as a whole, and set such cookies. Use a zone of its own for previews, or set domain.shared_zone "
        "to accept."
    )
    assert DomainSettings.parse({"hostname": "a.example.com", **ZONE}).warning is None


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ({"hostname": "a.example.com"}, {"hostname": "b.example.com"}, []),
        ({"hostname": "a.example.com"}, {"hostname": "a.example.com"}, ["*.a.example.com"]),
        ({"hostname": "example.com"}, {"hostname": "b.example.com"}, []),
        ({"hostname": "example.com"}, {"hostname": "b.example.com", "api_hostname": "api.example.com"}, []),
        (
            {"hostname": "example.com", "api_hostname": "api.example.com"},
            {"hostname": "b.example.com", "api_hostname": "api.example.com"},
            ["api.example.com"],
        ),
        (
            {"hostname": "example.com", "bypass": ["api.example.com"]},
            {"hostname": "b.example.com", "api_hostname": "api.example.com"},
            ["api.example.com"],
        ),
    ],
)
def test_two_domains_overlap_where_both_decide_about_a_host(
    one: dict[str, Any], other: dict[str, Any], common: list[str]
):
    first, second = (DomainSettings.parse({**ZONE, **document}) for document in (one, other))
    assert overlaps(first, second) == overlaps(second, first) == common
