"""What the API and the dashboard say of sandboxes: the instances of their applications."""

from emulator.services.containers import instances, rules
from emulator.services.containers.replacing import LIVE
from emulator.state import State
from emulator.store import Document, Store

from .sandbox import Sandbox

KILLED = 137


def record(state: State, sandbox: Sandbox, phase: str, outcome: Document | None = None) -> None:
    """Note what has become of a sandbox; an application that is gone shows nothing."""
    app, store = sandbox.application, state.store
    if app is None or not store.has(rules.KIND, app["account_id"], app["id"]):
        return
    container = sandbox.container
    report: Document = {
        "id": sandbox.key.object,
        "state": phase,
        "version": sandbox.version,
        "image": sandbox.image,
        "digest": container.image.digest if container else "",
        "own": True,
    }
    if outcome is not None:
        report["exit_code"] = outcome.get("code", KILLED)
        died = "out of memory" if container and container.out_of_memory else None
        report["problem"] = outcome.get("problem", died)
        report["log"] = container.last_words[-4096:] if container else ""
    with store.transaction():
        instances.record(store, state.clock.time(), app, report)


def stop_all(store: Store) -> list[str]:
    """Note of all sandboxes that they have ended; the names of those that had not."""
    lost = []
    for scope, _, each in store.everywhere(instances.KIND):
        if each["state"] in LIVE and each.get("own"):
            store.put(instances.KIND, scope, each["id"], {**each, "state": "stopped"})
            lost.append(each["id"][:12])
    return sorted(lost)
