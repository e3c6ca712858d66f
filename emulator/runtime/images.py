"""Which images a Durable Object class runs.

An application of the default policy has one; where the objects themselves choose, the upload names several.
"""

from typing import Any

from emulator.services.containers.rules import KIND
from emulator.store import Document, Store

Images = dict[str, str]  # by name; the one that runs when none is chosen has the empty name


def images_of(store: Store, account: str, namespace: Document, version: Document) -> Images:
    """The images of a namespace's class; none when it has no container."""
    if not namespace["container"]:
        return {}
    found: Images = {}
    for app in store.find(KIND, account, "namespace", namespace["id"]):
        if image := app["configuration"].get("image"):
            found[""] = image
    for entry in version.get("containers") or ():
        if namespace["class"] in (entry.get("class_name"), _linked_class(version, entry)):
            found |= _named(entry.get("images"))
    return found


def _linked_class(version: Document, entry: Document) -> str | None:
    """The class that is linked to an entry from the side of `exports`."""
    exports = version["exports"] or {}
    linked = (name for name, export in exports.items() if export.get("container") == entry.get("name", ""))
    return next(linked, None)


def _named(images: Any) -> Images:
    """Images by name, given as references or as objects that hold one."""
    entries = images.items() if isinstance(images, dict) else ()
    references = {name: each.get("image") if isinstance(each, dict) else each for name, each in entries}
    return {name: reference for name, reference in references.items() if isinstance(reference, str)}
