"""The documents a new state starts with: accounts and zones from the configuration.

Seeding is idempotent: what is there already (perhaps changed since) stays as it is.
"""

import hashlib

from .clock import Clock
from .settings import Account, Settings
from .store import Document, Store

SETUP_KINDS = ("account", "zone", "mirror_blob", "mirror_manifest", "mirror_repository", "mirror_tag")
"""Kinds that exist before anything was deployed; mirrors are base images seeded by a tool."""


def seed(store: Store, clock: Clock, settings: Settings) -> None:
    """Write what is missing."""
    for account in settings.accounts:
        seed_account(store, clock, account)


def seed_account(store: Store, clock: Clock, account: Account) -> Document:
    """Write what is missing of one account; the account."""
    now = clock.stamp()
    document = store.get("account", "", account.id)
    if document is None:
        body = {"id": account.id, "name": account.name, "created_on": now}
        document = store.put("account", "", account.id, body)
    for name in account.zones:
        zone_id = hashlib.md5(f"{account.id}/{name}".encode(), usedforsecurity=False).hexdigest()
        if not store.has("zone", "", zone_id):
            put_zone(store, new_zone(zone_id, name, document, now))
    return document


def put_zone(store: Store, zone: Document) -> None:
    """Write a zone with the labels the list filters by."""
    store.put("zone", "", zone["id"], zone, labels={"name": zone["name"], "account": zone["account"]["id"]})


def new_zone(zone_id: str, name: str, account: Document, now: str, *, status: str = "active") -> Document:
    """A zone as the API describes it."""
    return {
        "id": zone_id,
        "name": name,
        "status": status,
        "paused": False,
        "type": "full",
        "development_mode": 0,
        "name_servers": ["ada.ns.cloudflare.com", "bob.ns.cloudflare.com"],
        "original_name_servers": None,
        "original_registrar": None,
        "original_dnshost": None,
        "modified_on": now,
        "created_on": now,
        "activated_on": now if status == "active" else None,
        "meta": {
            "step": 4,
            "custom_certificate_quota": 1,
            "page_rule_quota": 3,
            "phishing_detected": False,
            "cdn_only": False,
            "dns_only": False,
            "foundation_dns": False,
        },
        "owner": {"id": None, "type": "user", "email": None},
        "account": {"id": account["id"], "name": account["name"]},
        "permissions": ["#zone:read", "#zone:edit", "#dns_records:read", "#dns_records:edit"],
        "plan": {
            "id": "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
            "name": "Free Website",
            "price": 0,
            "currency": "USD",
            "frequency": "",
            "is_subscribed": False,
            "can_subscribe": False,
            "legacy_id": "free",
            "legacy_discount": False,
            "externally_managed": False,
        },
    }
