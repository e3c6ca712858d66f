"""What a DNS record may look like; pure.

Names are made complete with the zone's, keeping the case they came in; contents are checked by type.
"""

import ipaddress
import re
from typing import Any

from emulator.schema import Check, anything, fields, flag, items, mapping, nullable, number, options, problems, text

from . import errors

Record = dict[str, Any]

PLAIN_TYPES = ("A", "AAAA", "CNAME", "MX", "NS", "OPENPGPKEY", "PTR", "TXT")
DATA_FIELDS = {
    "CAA": ("flags", "tag", "value"),
    "CERT": ("type", "key_tag", "algorithm", "certificate"),
    "DNSKEY": ("flags", "protocol", "algorithm", "public_key"),
    "DS": ("key_tag", "algorithm", "digest_type", "digest"),
    "HTTPS": ("priority", "target", "value"),
    "LOC": (),
    "NAPTR": ("order", "preference", "flags", "service", "regex", "replacement"),
    "SMIMEA": ("usage", "selector", "matching_type", "certificate"),
    "SRV": ("priority", "weight", "port", "target"),
    "SSHFP": ("algorithm", "type", "fingerprint"),
    "SVCB": ("priority", "target", "value"),
    "TLSA": ("usage", "selector", "matching_type", "certificate"),
    "URI": ("weight", "target"),
}
_TEXT_DATA = frozenset({
    "tag", "value", "certificate", "public_key", "digest", "target", "service", "regex", "replacement", "fingerprint",
})  # fmt: skip
_LOC_DATA = (
    "altitude", "lat_degrees", "lat_minutes", "lat_seconds", "long_degrees", "long_minutes", "long_seconds",
    "precision_horz", "precision_vert", "size",
)  # fmt: skip
TYPES = (*PLAIN_TYPES, *DATA_FIELDS)
PROXIABLE = ("A", "AAAA", "CNAME")
_ADDRESSES = frozenset({"A", "AAAA"})
_LABEL = re.compile(r"\*|[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")

_OPTIONAL = {
    "content": nullable(text(most=4096)),
    "data": nullable(mapping(nullable(anything()))),  # checked by type
    "priority": nullable(number(least=0, most=65535, whole=True)),
    "proxied": nullable(flag()),
    "comment": nullable(text(most=500)),
    "tags": nullable(items(text(least=1, most=100), most=20)),
    "settings": nullable(fields({}, dict.fromkeys(("ipv4_only", "ipv6_only", "flatten_cname"), nullable(flag())))),
    "private_routing": nullable(flag()),
    # Records read from the API are often sent back whole.
    **dict.fromkeys(
        ("id", "zone_id", "zone_name", "created_on", "modified_on", "comment_modified_on", "tags_modified_on"),
        anything(),
    ),
    **dict.fromkeys(("proxiable", "meta", "locked"), anything()),
}
_REQUIRED = {"name": text(least=1, most=255), "type": text(choices=TYPES), "ttl": number()}
WHOLE = fields(_REQUIRED, _OPTIONAL)
CHANGE = options(**_REQUIRED, **_OPTIONAL)
WHOLE_OF = fields({**_REQUIRED, "id": text(least=1)}, _OPTIONAL)
CHANGE_OF = fields({"id": text(least=1)}, {**_REQUIRED, **_OPTIONAL})
SETTABLE = (
    "name", "type", "content", "data", "priority", "ttl", "proxied", "comment", "tags", "settings", "private_routing",
)  # fmt: skip


def complete_name(name: str, zone_name: str) -> str:
    """The full name: `@` and short names get the zone's."""
    name = name.rstrip(".")
    if name in ("@", ""):
        return zone_name
    lower = name.lower()
    if lower != zone_name and not lower.endswith(f".{zone_name}"):
        name = f"{name}.{zone_name}"
    if not is_host_name(name):
        raise errors.BAD_NAME()
    return name


def is_host_name(name: str) -> bool:
    """Whether a name has only labels DNS allows; the first may be `*`."""
    labels = name.rstrip(".").split(".")
    return len(name) <= 253 and all(_LABEL.fullmatch(label) for label in labels) and "*" not in labels[1:]


def normalise(record: Record, zone_name: str) -> Record:
    """Complete and check a record; the settable part of what will be stored."""
    kind = record["type"]
    result = {name: record[name] for name in SETTABLE if record.get(name) is not None}
    result["name"] = complete_name(record["name"], zone_name)
    result["proxied"] = bool(record.get("proxied"))
    if result["proxied"] and kind not in PROXIABLE:
        raise errors.NOT_PROXIABLE()
    ttl = record["ttl"]
    if ttl != 1 and not (60 <= ttl <= 86400 and ttl == int(ttl)):
        raise errors.BAD_TTL()
    result["ttl"] = 1 if result["proxied"] else int(ttl)
    if kind in DATA_FIELDS and isinstance(record.get("data"), dict):
        _check_data(kind, record["data"])
        result["content"] = _content_of(kind, record["data"])
    if not result.get("content"):
        raise errors.NO_CONTENT(field="data" if kind in DATA_FIELDS else "content")
    if kind == "MX" and "priority" not in result:
        raise errors.NO_PRIORITY()
    _check_content(kind, result)
    return result


def _check_data(kind: str, data: Record) -> None:
    known: dict[str, Check] = {name: text() if name in _TEXT_DATA else number() for name in DATA_FIELDS[kind]}
    if kind == "NAPTR":
        known["flags"] = text()
    if kind == "LOC":
        known = {**dict.fromkeys(_LOC_DATA, number()), **_DIRECTIONS}
    optional = {name: nullable(check) for name, check in known.items()}
    found = problems(fields({}, optional), data)
    if found:
        raise errors.INVALID(problem=f"data.{found[0]}")


_DIRECTIONS = {"lat_direction": text(choices=["N", "S"]), "long_direction": text(choices=["E", "W"])}


def _content_of(kind: str, data: Record) -> str:
    names = DATA_FIELDS[kind] or tuple(sorted(data))
    return " ".join(str(data[name]) for name in names if data.get(name) is not None)


def _check_content(kind: str, record: Record) -> None:
    content = record["content"]
    if kind in _ADDRESSES:
        try:
            address = ipaddress.ip_address(content)
        except ValueError:
            address = None
        if address is None or address.version != (4 if kind == "A" else 6):
            raise errors.BAD_A() if kind == "A" else errors.BAD_AAAA()
    elif kind == "CNAME":
        if not is_host_name(content):
            raise errors.BAD_CNAME()
        if content.rstrip(".").lower() == record["name"].lower():
            raise errors.SELF_REFERENCE()
    elif kind in ("MX", "NS", "PTR") and not is_host_name(content):
        raise errors.BAD_HOST(type=kind)


def check_neighbours(record: Record, others: list[Record]) -> None:
    """Refuse what cannot stand beside the records that have the same name."""
    kind = record["type"]
    for other in others:
        if kind == "CNAME" and other["type"] in PROXIABLE:
            raise errors.HOST_TAKEN()
        if other["type"] == "CNAME" and kind in PROXIABLE:
            raise errors.CNAME_TAKEN()
        if other["type"] == kind and other["content"] == record["content"]:
            raise errors.IDENTICAL()
