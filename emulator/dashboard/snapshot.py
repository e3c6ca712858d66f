"""The one document the page is made of: an account, list by list, and the last requests.

Computed from the store and the moment alone; nothing is written, and equal states make equal documents, so that the
page asks every second and is mostly told that nothing changed.
"""

from datetime import datetime
from typing import Any

from emulator.journal import Journal
from emulator.store import Document, Store

from . import containers, resources, workers
from .listing import MOST, plain

_ENTRY = ("sequence", "time", "method", "status", "ms", "operation", "fault")


def snapshot(store: Store, account: Document, now: datetime) -> Document:
    """The lists of an account."""
    identifier = account["id"]
    names = resources.zones(store, identifier)
    return {
        "workers": workers.workers(store, identifier),
        "classes": workers.classes(store, identifier),
        "applications": containers.applications(store, identifier, now.timestamp()),
        "images": containers.images(store, identifier),
        "buckets": resources.buckets(store, identifier),
        "kv": resources.namespaces(store, identifier),
        "queues": resources.queues(store, identifier),
        "routes": resources.routes(store, names),
        "domains": resources.domains(store, identifier),
        "records": resources.records(store, names),
        "certificates": resources.certificates(store, names, now),
        "access": resources.access(store, identifier, names),
    }


def requests(journal: Journal) -> Document:
    """The last requests, newest first, without their queries: those may hold what nobody should see."""
    entries = journal.entries(after=journal.last - MOST)
    return {"total": journal.last, "rows": [_entry(each) for each in reversed(entries)]}


def _entry(entry: dict[str, Any]) -> Document:
    shown = {name: entry[name] for name in _ENTRY}
    return {**shown, "key": str(entry["sequence"]), "path": plain(entry["path"])}
