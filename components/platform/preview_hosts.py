"""Preview hosts: how their first label is put together and what a certificate covers.

Source: `@cloudflare/sandbox` 0.12.10 (`exposePort`) and Cloudflare's Universal SSL documentation. 2026-11-16.
"""

from typing import Final

CONTROL_PORT: Final = 3000
"""The sandbox server's own port."""
LOWEST_PORT: Final = 1024
HIGHEST_PORT: Final = 65535
LABEL_LIMIT: Final = 63
TOKEN_LENGTH: Final = 16


def label_length(id_length: int, port: int = HIGHEST_PORT) -> int:
    """Give the length of `<port>-<sandbox id>-<token>`."""
    return len(str(port)) + 1 + id_length + 1 + TOKEN_LENGTH


def covered(hostname: str, zone: str, certificate_hosts: tuple[str, ...]) -> bool:
    """Say whether `*.hostname` has a certificate: Universal SSL covers the zone and one level below it."""
    return hostname == zone or f"*.{hostname}" in certificate_hosts


def within(hostname: str, zone: str) -> bool:
    """Say whether a host lies in a zone."""
    return hostname == zone or hostname.endswith(f".{zone}")
