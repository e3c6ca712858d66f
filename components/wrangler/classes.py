"""Durable Object classes of a configuration: those that exist once every migration ran, or that exports declare.

Whether a step was deployed is not known here. What could take data away is therefore never carried out by taking over:
a deletion is left out, a transfer is told as lost.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..platform.durable_objects import CREATED_BY, EXPORT, EXPORTS, SQLITE

if TYPE_CHECKING:
    from .conversion import Draft

Path = tuple[str | int, ...]


def read(draft: "Draft", contained: set[str]) -> None:
    """Take the classes over; `contained` are those that have containers."""
    said = draft.said
    exports = {
        name: each
        for name, each in (said.get("exports", dict) or {}).items()
        if isinstance(each, dict) and each.get("type") == EXPORT
    }
    for name in (said.get("exports", dict) or {}).keys() - exports.keys():
        draft.entry("lost", ("exports", name), "only exports of Durable Objects are taken over")
    if exports and said.get("migrations", list):
        draft.problem(("exports",), "there are migrations too; Cloudflare takes one of the two")
    storage, former = _declared(draft, exports) if exports else _migrated(draft)
    worker = draft.worker
    if exports:
        worker["lifecycle"] = EXPORTS
    for name in sorted(contained - storage.keys()):
        draft.problem(("containers",), f"no migration and no export makes the class {name}")
    plain = {name: {"storage": kind} for name, kind in storage.items() if name not in contained}
    if plain:
        worker["classes"] = plain
    if former:
        worker["renamed_classes"] = former
    _bound(draft, storage)


def _bound(draft: "Draft", storage: dict[str, str]) -> None:
    listed = (draft.said.get("durable_objects", dict) or {}).get("bindings")
    own = {
        each.get("class_name")
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and not each.get("script_name")
    }
    for name in sorted(storage.keys() - own):
        draft.entry("change", ("durable_objects",), f"the class {name} is bound under its own name", "bindings")
    for name in sorted(str(each) for each in own - storage.keys()):
        draft.problem(("durable_objects",), f"no migration and no export makes the class {name}")


def _migrated(draft: "Draft") -> tuple[dict[str, str], dict[str, str]]:
    storage: dict[str, str] = {}
    former: dict[str, str] = {}
    deleted: dict[str, Path] = {}
    for index, step in enumerate(draft.said.get("migrations", list) or ()):
        if not isinstance(step, dict):
            draft.problem(("migrations", index), "this is no migration")
            continue
        for key, kind in CREATED_BY.items():
            storage |= dict.fromkeys(_texts(step.get(key)), kind)
        for move in _moves(step.get("renamed_classes")):
            old, new = move["from"], move["to"]
            storage[new] = storage.pop(old, SQLITE)
            former[new] = old
        for move in _moves(step.get("transferred_classes")):
            storage[move["to"]] = SQLITE
            _tell_transfer(draft, ("migrations", index, "transferred_classes"), move["to"])
        for name in _texts(step.get("deleted_classes")):
            storage.pop(name, None)
            deleted[name] = ("migrations", index, "deleted_classes")
    for name in sorted(deleted.keys() - storage.keys()):
        _tell_deletion(draft, deleted[name], name)
    return storage, _renamed(draft, ("migrations",), storage, former)


def _declared(draft: "Draft", exports: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    storage: dict[str, str] = {}
    former: dict[str, str] = {}
    for name, each in exports.items():
        match each.get("state", "created"):
            case "created":
                storage[name] = each.get("storage", SQLITE)
            case "renamed" if isinstance(each.get("renamed_to"), str):
                former[each["renamed_to"]] = name
            case "deleted":
                _tell_deletion(draft, ("exports", name), name)
            case state:
                draft.entry("lost", ("exports", name), f"a class that is {state} is moved by both scripts")
    return storage, _renamed(draft, ("exports",), storage, former)


def _renamed(draft: "Draft", path: Path, storage: dict[str, str], former: dict[str, str]) -> dict[str, str]:
    found = {new: old for new, old in former.items() if new in storage}
    for new, old in found.items():
        draft.entry(
            "change", path, f"the class {old} becomes {new}, with its data, if it has not yet", "renamedClasses"
        )
    return found


def _tell_transfer(draft: "Draft", path: Path, name: str) -> None:
    what = "is made without the data of the other script's class, unless wrangler has transferred it already"
    draft.entry("lost", path, f"the class {name} {what}")


def _tell_deletion(draft: "Draft", path: Path, name: str) -> None:
    what = "is not carried over; if it is still to be deleted, with its data, name it in `worker.deleted_classes`"
    draft.entry("note", path, f"the deletion of the class {name} {what}")


def _texts(value: Any) -> Iterator[str]:
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, str))


def _moves(value: Any) -> Iterator[dict[str, str]]:
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict) and isinstance(each.get("from"), str) and isinstance(each.get("to"), str):
            yield each
