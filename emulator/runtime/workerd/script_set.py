"""Which scripts run together, and from what: read off the state, nothing else.

Scripts that are bound to each other, directly or through others, need one process: Durable Objects and calls between
entry points do not cross processes. `ScriptSet.fingerprint` changes whenever the process would have to be another.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from emulator.runtime.sandboxes.images import Images, images_of
from emulator.services.durable_objects import rules as durable_objects
from emulator.services.workers import references
from emulator.services.workers import rules as workers
from emulator.store import Document, Store


@dataclass(frozen=True)
class Member:
    """A script with its live version and the namespaces of its classes."""

    worker: Document
    version: Document
    namespaces: tuple[Document, ...]
    images: dict[str, Images]  # by the id of the namespace whose containers run them

    @property
    def name(self) -> str:
        """The script's name, unique within its account."""
        return str(self.worker["name"])


@dataclass(frozen=True)
class ScriptSet:
    """Scripts that run in one process, by name."""

    account: str
    members: tuple[Member, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything the process is made from."""
        parts = [[each.worker["id"], each.name, each.version, each.namespaces, each.images] for each in self.members]
        return hashlib.sha256(json.dumps([self.account, parts], sort_keys=True).encode()).hexdigest()

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """Ids of the namespaces whose objects the process opens."""
        return frozenset(space["id"] for each in self.members for space in each.namespaces)

    @cached_property
    def workers(self) -> frozenset[str]:
        """Ids of the Workers, which outlive a change of name."""
        return frozenset(each.worker["id"] for each in self.members)


def scripts_with(store: Store, account: str, script: str, *, with_images: bool) -> ScriptSet | None:
    """What runs together with a script; None when it has no live version.

    A process needs to know the images only where workerd itself has containers started.
    """
    found: dict[str, Member] = {}
    waiting = [script]
    while waiting:
        name = waiting.pop()
        member = None if name in found else _member(store, account, name, with_images=with_images)
        if member is not None:
            found[name] = member
            waiting += _neighbours(store, account, member)
    return ScriptSet(account, tuple(found[name] for name in sorted(found))) if script in found else None


def _member(store: Store, account: str, name: str, *, with_images: bool) -> Member | None:
    worker = workers.find(store, account, name)
    version = workers.live_version(store, account, worker) if worker else None
    if worker is None or version is None:
        return None
    namespaces = sorted(durable_objects.namespaces_of(store, account, name), key=lambda each: str(each["id"]))
    wanted = namespaces if with_images else []
    images = {each["id"]: images_of(store, account, each, version) for each in wanted}
    return Member(worker, version, tuple(namespaces), images)


def _neighbours(store: Store, account: str, member: Member) -> set[str]:
    """Scripts that a member calls, and those that call it."""
    found = {each["source"] for each in references.services(store, account, member.name)}
    for namespace in member.namespaces:
        found.update(durable_objects.users_of(store, account, namespace))
    for binding in member.version["bindings"]:
        if binding["type"] == "service":
            found.add(binding["service"])
        if binding["type"] == "durable_object_namespace":
            target = durable_objects.namespace_by_id(store, account, binding["namespace_id"])
            if target:
                found.add(target["script"])
    return found
