"""What the control routes tell and change."""

from typing import Any

from emulator.clock import hex_id
from emulator.registry import load_services
from emulator.seed import SETUP_KINDS, seed_account
from emulator.settings import Account
from emulator.world import World

from . import errors

_EFFECTS = ("status", "retry_after", "delay_ms", "drop")


def add_fault(world: World, rule: dict[str, Any]) -> dict[str, Any]:
    """Put a fault rule in force."""
    if not any(effect in rule for effect in _EFFECTS):
        raise errors.EMPTY_FAULT()
    return world.faults.add(rule).describe()


def add_account(world: World, wanted: dict[str, Any]) -> dict[str, Any]:
    """Write an account and zones, as far as they are missing; the account."""
    account_id = wanted.get("id") or hex_id()
    there = {zone["name"] for zone in world.store.find("zone", "", "account", account_id)}
    zones = tuple(name for name in wanted.get("zones", ()) if name not in there)
    return seed_account(world.store, world.clock, Account(account_id, wanted.get("name", Account.name), zones))


def clock(world: World) -> dict[str, Any]:
    """The emulator's time."""
    return {"now": world.clock.stamp(), "offset_seconds": world.clock.offset}


def state(world: World) -> dict[str, Any]:
    """Counts per kind: all of it, what was deployed, and whether that is nothing."""
    counts = world.store.counts()
    deployed = {kind: count for kind, count in counts.items() if kind not in SETUP_KINDS}
    return {"kinds": counts, "deployed": deployed, "empty": not deployed}


def operations() -> list[dict[str, Any]]:
    """Every declared operation."""
    return [
        {
            "id": operation.id,
            "method": operation.method,
            "path": operation.base + operation.path,
            "needs": list(operation.needs),
            "fidelity": operation.fidelity,
            "note": operation.note,
        }
        for service in load_services()
        for operation in service.operations
    ]
