"""Container applications with the progress of their rollouts, and the images of the registry.

Time moves rollouts and deletions on. Elsewhere a read writes that down; here it is worked out and forgotten.
Environment variables and secrets of a configuration are not looked at.
"""

from collections import Counter

from emulator.services.containers import rollouts
from emulator.services.containers.instances import KIND as INSTANCE
from emulator.services.containers.instances import scope as scope_of
from emulator.services.containers.rules import KIND, ROLLOUT
from emulator.services.registry.manifests import INDEXES
from emulator.store import Document, Store

from .listing import MOST, listing, plain

_SHOWN_STATES = ("running", "provisioning", "failed")


def applications(store: Store, account: str, now: float) -> Document:
    """The account's applications, oldest first; `now` in seconds since 1970."""
    return listing(store, KIND, [account], lambda _, each: _application(store, each, now))


def _application(store: Store, app: Document, now: float) -> Document | None:
    if app["delete_at"] is not None and app["delete_at"] <= now:
        return None
    latest = store.select(ROLLOUT, scope_of(app), descending=True, limit=1)
    rollout = rollouts.advance(latest[0], now) if latest else None
    namespace = store.get("do_namespace", app["account_id"], app["namespace_id"]) if app["namespace_id"] else None
    return {
        "key": app["id"],
        "name": app["name"],
        "state": "active" if app["delete_at"] is None else "being deleted",
        "class": f"{namespace['script']}/{namespace['class']}" if namespace else None,
        "version": _version(app, rollout),
        "image": plain(_image(app, rollout)),
        "instances": _instances(store, app),
        "max_instances": app.get("max_instances"),
        "rollout": _rollout(rollout) if rollout else None,
    }


def _version(app: Document, rollout: rollouts.Rollout | None) -> int | None:
    done = rollout is not None and rollout["status"] == rollouts.COMPLETED
    version: int | None = rollout["target_version"] if rollout and done else app.get("version")
    return version


def _image(app: Document, rollout: rollouts.Rollout | None) -> str:
    """The image of the version that is in force, not the one a rollout leads to."""
    if rollout is None or "image" not in rollout["change"]:
        return str(app["configuration"].get("image", ""))
    done = rollout["status"] == rollouts.COMPLETED
    return str(rollout["target_configuration" if done else "current_configuration"].get("image", ""))


def _instances(store: Store, app: Document) -> Document:
    counts = Counter(each["state"] for each in store.select(INSTANCE, scope_of(app)))
    # Without Durable Objects the scheduler keeps the asked number of instances running by itself.
    counts["running"] += 0 if app["namespace_id"] else app.get("instances", 0)
    return {state: counts[state] for state in _SHOWN_STATES}


def _rollout(rollout: rollouts.Rollout) -> Document:
    return {
        "status": "reverting" if rollout["reverting"] else rollout["status"],
        "step": rollout["position"] + (1 if rollout["moving"] else 0),
        "steps": len(rollout["steps"]),
        "percentage": rollouts.percentage(rollout),
        "from": rollout["current_version"],
        "to": rollout["target_version"],
        "errors": sorted({plain(each["event"]) for each in rollout["errors"]}),
    }


def sandboxes(running: list[Document]) -> Document:
    """Containers that run now, oldest first."""
    return {"total": len(running), "rows": [_sandbox(each) for each in running[:MOST]]}


def _sandbox(each: Document) -> Document:
    lines = [plain(line) for line in each["output"].splitlines()]
    shown = {name: each[name] for name in ("object", "application", "version", "digest", "state", "started", "memory")}
    return {**shown, "key": f"{each['namespace']}/{each['object']}", "output": lines}


def images(store: Store, account: str) -> Document:
    """Manifests of the account's repositories."""
    repositories = [each["name"] for each in store.select("image_repository", account, order="key")]
    return listing(store, "image_manifest", repositories, lambda name, each: _image_row(store, name, each))


def _image_row(store: Store, repository: str, manifest: Document) -> Document:
    tags = store.find("image_tag", repository, "digest", manifest["digest"])
    return {
        "key": f"{repository}@{manifest['digest']}",
        "repository": repository.partition("/")[2],
        "tags": sorted(tag["name"] for tag in tags),
        "digest": manifest["digest"],
        "kind": f"index of {len(manifest['manifests'])}" if manifest["media_type"] in INDEXES else "image",
        "size": _size(store, repository, manifest),
    }


def _size(store: Store, repository: str, manifest: Document) -> int:
    """Bytes of a manifest and of everything it names."""
    blobs = (store.get("image_blob", repository, digest) for digest in set(manifest["blobs"]))
    parts = (store.get("image_manifest", repository, digest) for digest in set(manifest["manifests"]))
    size: int = manifest["size"] + sum(blob["size"] for blob in blobs if blob)
    return size + sum(_size(store, repository, part) for part in parts if part)
