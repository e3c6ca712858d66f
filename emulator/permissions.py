"""Cloudflare's permission groups, as far as the emulated services ask for them.

Ids marked real were seen in public token definitions (2026-11); the others are derived from the name, since programs
should look groups up by name. A `Write` group includes the `Read` group of the same product.
"""

import hashlib
from dataclasses import dataclass

ACCOUNT = "com.cloudflare.api.account"
ZONE = "com.cloudflare.api.account.zone"
USER = "com.cloudflare.api.user"
R2_BUCKET = "com.cloudflare.edge.r2.bucket"


@dataclass(frozen=True)
class Group:
    """One permission group."""

    name: str
    scope: str
    id: str


_REAL = {
    "Account Settings Read": "c1fde68c7bcc44588cbb6ddbc16d6480",
    "DNS Read": "82e64a83756745bbbb1c9c2701bf816b",
    "DNS Write": "4755a26eedb94da69e1066d98aa820be",
    "Memberships Read": "3518d0f75557482e952c6762d3e64903",
    "SSL and Certificates Read": "7b7216b327b04b8fbc8f524e1f9b7531",
    "SSL and Certificates Write": "c03055bc037c4ea9afb9a9f104b7b721",
    "User Details Read": "8acbe5bb0d54464ab867149d7f7cf8ac",
    "Workers Containers Write": "bdbcd690c763475a985e8641dddc09f7",
    "Workers KV Storage Read": "8b47d2786a534c08a1f94ee8f9f599ef",
    "Workers KV Storage Write": "f7f0eda5697f475c90846e879bab8666",
    "Workers R2 Storage Bucket Item Read": "6a018a9f2fc74eb6b293b0c548f38b39",
    "Workers R2 Storage Bucket Item Write": "2efd5506f9c8494dacb1fa10a3e7d5b6",
    "Workers R2 Storage Read": "b4992e1108244f5d8bfbd5744320c2e1",
    "Workers R2 Storage Write": "bf7481a1826f439697cb59a20b22293e",
    "Workers Routes Read": "2072033d694d415a936eaeb94e6405b8",
    "Workers Routes Write": "28f4b596e7d643029c524985477ae49a",
    "Workers Scripts Read": "1a71c399035b4950a1bd1466bbe4f420",
    "Workers Scripts Write": "e086da7e2179491d91ee5f35b3ca210a",
    "Workers Tail Read": "05880cd1bdc24d8bae0be2136972816b",
    "Zone Read": "c8fed203ed3043cba015a93ad1616f1f",
    "Zone Settings Read": "517b21aee92c4d89936c976ba6e4be55",
    "Zone Settings Write": "3030687196b94b638145a3953da2b699",
    "Zone Write": "e6d2666161e84845a636613608cee8d5",
}

_PAIRS = {
    ACCOUNT: (
        "Access: Apps and Policies",
        "Access: Organizations, Identity Providers, and Groups",
        "Access: Service Tokens",
        "Account API Tokens",
        "Account Rulesets",
        "Account Settings",
        "D1",
        "Queues",
        "Secrets Store",
        "Workers Containers",
        "Workers KV Storage",
        "Workers Observability",
        "Workers R2 Storage",
        "Workers Scripts",
        "Workers Tail",
    ),
    ZONE: (
        "DNS",
        "SSL and Certificates",
        "Workers Routes",
        "Zone",
        "Zone Settings",
        "Zone WAF",
        "Access: Apps and Policies",
    ),
    USER: ("API Tokens", "Memberships", "User Details"),
    R2_BUCKET: ("Workers R2 Storage Bucket Item",),
}


def _groups() -> tuple[Group, ...]:
    found = []
    for scope, products in _PAIRS.items():
        for product in products:
            for right in ("Read", "Write"):
                name = f"{product} {right}"
                derived = hashlib.md5(f"{scope}/{name}".encode(), usedforsecurity=False).hexdigest()
                found.append(Group(name, scope, _REAL.get(name, derived)))
    return tuple(sorted(found, key=lambda group: (group.name, group.scope)))


GROUPS = _groups()
BY_ID = {group.id: group for group in GROUPS}


def satisfies(held: frozenset[str], needed: str) -> bool:
    """Whether a holder of these groups may do what needs this one."""
    if needed in held:
        return True
    product, _, right = needed.rpartition(" ")
    return right == "Read" and f"{product} Write" in held
