"""Route patterns: an optional scheme, a host that may begin with a wildcard, a path that may end with one."""

import re

from emulator.services.zones.rules import in_zone

_PATTERN = re.compile(r"(?:(?P<scheme>https?|\*)://)?(?P<host>[^/?#\s]+)(?P<path>/[^?#\s]*)?")
_HOST = re.compile(r"(\*\.?)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def problem(pattern: str, zone_name: str | None) -> str:
    """Why a pattern cannot be a route (of the zone); empty if it can."""
    found = _PATTERN.fullmatch(pattern)
    if found is None:
        return "it must be a host with a path, without query or fragment"
    host, path = found["host"].lower(), found["path"] or "/"
    if not _HOST.fullmatch(host):
        return "a wildcard is allowed only at the beginning of the host"
    if "*" in path[:-1]:
        return "a wildcard is allowed only at the end of the path"
    if zone_name is not None and not in_zone(host_of(pattern), zone_name):
        return f"the host is not part of the zone {zone_name}"
    return ""


def host_of(pattern: str) -> str:
    """The host of a pattern, without a leading wildcard."""
    found = _PATTERN.fullmatch(pattern)
    return found["host"].lower().removeprefix("*").removeprefix(".") if found else ""
