"""Declarative exports: the classes a Worker says it has, reconciled with the namespaces it really has.

All disagreements are reported together, each with the scenario Cloudflare names it by; nothing is created, renamed or
deleted unless every entry is in order. A class that is merely left out is an error, never a deletion.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from emulator.errors import ApiError
from emulator.schema import Check, fields, nullable, problems, text

from . import errors
from .containers import Wiring
from .model import Namespace, Outcome, Pending, Situation, mark_containers

Entry = dict[str, Any]
LIVE = ("created", "expecting-transfer")

_OUTCOME = (
    *("created", "updated", "deleted", "renamed", "transferred", "transfer_pending"),
    *("warnings", "info", "removable_entries"),
)

_KIND = text(choices=["durable-object"])
_STORAGE = text(choices=["sqlite", "legacy-kv"])
_NAME = text(pattern=r"[A-Za-z_$][\w$]*")
_LIVE = {"container": nullable(text(least=1))}
_ENTRIES: dict[str, Check] = {
    "created": fields({"type": _KIND, "storage": _STORAGE}, {"state": text(), **_LIVE}),
    "deleted": fields({"type": _KIND, "state": text()}),
    "renamed": fields({"type": _KIND, "state": text(), "renamed_to": _NAME}),
    "transferred": fields({"type": _KIND, "state": text(), "transferred_to": text(least=1)}),
    "expecting-transfer": fields(
        {"type": _KIND, "state": text(), "storage": _STORAGE, "transfer_from": text(least=1)}, _LIVE
    ),
}


def check_entries(exports: dict[str, Any]) -> None:
    """Refuse entries that are malformed whatever the state is."""
    found = {name: _malformed(entry) for name, entry in durable_objects(exports).items()}
    details = [_invalid_export(name, problem) for name, problem in found.items() if problem]
    if details:
        raise _refusal(details)


def _malformed(entry: Entry) -> str:
    state = entry.get("state") or "created"
    check = _ENTRIES.get(state) if isinstance(state, str) else None
    found = [f"state must be one of {', '.join(_ENTRIES)}"] if check is None else problems(check, entry)
    return found[0] if found else ""


def _invalid_export(name: str, problem: str) -> dict[str, Any]:
    message = f"The entry is invalid: {problem}."
    return {"class": name, "scenario": "invalid_export", "message": message, "suggestion": "correct the entry"}


def _refusal(details: list[dict[str, Any]]) -> ApiError:
    names = ", ".join(sorted({detail["class"] for detail in details}))
    return errors.RECONCILIATION(classes=names, meta={"details": details})


def durable_objects(exports: dict[str, Any]) -> dict[str, Entry]:
    """The entries that are about Durable Objects; others (Worker entry points, Workflows) have no lifecycle."""
    return {name: entry for name, entry in exports.items() if entry.get("type") == "durable-object"}


def state_of(entry: Entry) -> str:
    """An entry without a state is live."""
    return str(entry.get("state") or "created")


@dataclass
class _Work:
    """What reconciliation has found so far."""

    situation: Situation
    entries: dict[str, Entry]
    own: dict[str, Namespace]
    namespaces: list[Namespace]
    pending: list[Pending]
    errors: list[dict[str, Any]] = field(default_factory=list)
    lost: list[Namespace] = field(default_factory=list)
    outcome: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _OUTCOME})

    def refuse(self, name: str, scenario: str, message: str, suggestion: str, scripts: tuple[str, ...] = ()) -> None:
        detail: dict[str, Any] = {"class": name, "scenario": scenario, "message": message, "suggestion": suggestion}
        if scripts:
            detail["referencing_scripts"] = list(scripts)
        self.errors.append(detail)

    def note(self, name: str, scenario: str, message: str, scripts: tuple[str, ...] = ()) -> None:
        info: dict[str, Any] = {"class": name, "scenario": scenario, "message": message}
        if scripts:
            info["referencing_scripts"] = list(scripts)
        self.outcome["info"].append(info)

    def swap(self, old: Namespace, new: Namespace | None) -> None:
        at = self.namespaces.index(old)
        self.namespaces[at : at + 1] = [] if new is None else [new]

    def users(self, namespace: Namespace) -> tuple[str, ...]:
        return self.situation.users.get(namespace.id, ())


def reconcile(situation: Situation, exports: dict[str, Any], wiring: Wiring) -> Outcome:
    """Bring the namespaces in line with the exports, or say all that is wrong."""
    entries = durable_objects(exports)
    script = situation.script
    others = [each for each in situation.pending if each.target != script]
    work = _Work(situation, entries, situation.own(), list(situation.namespaces), others)
    for name, entry in entries.items():
        problem = _malformed(entry)
        if problem:
            work.errors.append(_invalid_export(name, problem))
        else:
            _STATES[state_of(entry)](work, name, entry)
    _unmentioned(work)
    for scenario, name, message in wiring.problems(
        {name for name, entry in entries.items() if state_of(entry) in LIVE}
    ):
        work.refuse(name, scenario, message, "make `containers` and `exports` agree")
    if work.errors:
        raise _refusal(work.errors)
    classes = wiring.classes()
    after = mark_containers(tuple(work.namespaces), script, classes)
    work.outcome["updated"] = [n.class_name for n in situation.own().values() if _flips(n, after)]
    return Outcome(after, tuple(work.lost), situation.tag, tuple(work.pending), work.outcome)


def _flips(before: Namespace, after: tuple[Namespace, ...]) -> bool:
    """Whether a namespace that stays changes its container flag."""
    return any(n.id == before.id and n.script == before.script and n.container != before.container for n in after)


def _created(work: _Work, name: str, entry: Entry) -> None:
    namespace, missing = work.own.get(name), work.situation.exported.lacks(name)
    if namespace is None and missing and not _renamed_to(work, name):
        text_ = f"Class '{name}' is neither exported by the code nor provisioned."
        work.refuse(name, "config_references_nonexistent_class", text_, "remove the entry or export the class")
    elif missing:
        text_ = f"Class '{name}' is declared but the code does not export it."
        work.refuse(name, "config_export_not_in_code", text_, "export the class, or replace the entry by a tombstone")
    elif namespace is not None:
        _check_storage(work, name, entry, namespace)
    elif source := _renamed_to(work, name):
        _check_storage(work, name, entry, source)
    elif entry["storage"] != "sqlite":
        text_ = f"Class '{name}' asks for a new namespace on key-value storage."
        work.refuse(name, "invalid_export", text_, 'use "storage": "sqlite"')
    else:
        work.namespaces.append(Namespace(work.situation.script, name))
        work.outcome["created"].append(name)


def _renamed_to(work: _Work, name: str) -> Namespace | None:
    """The namespace that a tombstone renames to this class."""
    for source, entry in work.entries.items():
        if state_of(entry) == "renamed" and entry.get("renamed_to") == name and source in work.own:
            return work.own[source]
    return None


def _check_storage(work: _Work, name: str, entry: Entry, namespace: Namespace) -> None:
    if (entry["storage"] == "sqlite") != namespace.sqlite:
        text_ = f"The namespace of '{name}' is on {'sqlite' if namespace.sqlite else 'legacy-kv'} storage."
        work.refuse(name, "storage_type_mismatch", text_, "storage cannot be changed: delete the namespace first")


def _deleted(work: _Work, name: str, _entry: Entry) -> None:
    namespace = work.own.get(name)
    if work.situation.exported.has(name):
        text_ = f"Class '{name}' is to be deleted but the code still exports it."
        work.refuse(name, "tombstone_delete_class_still_in_code", text_, "remove the class from the code first")
    elif namespace is None:
        _stale(work, name, "deleted")
    elif users := work.users(namespace):
        text_ = f"Other Workers are bound to '{name}'."
        scenario = "tombstone_delete_blocked_by_external_bindings"
        work.refuse(name, scenario, text_, "redeploy them without the binding first", users)
    else:
        work.swap(namespace, None)
        work.lost.append(namespace)
        work.outcome["deleted"].append(name)


def _stale(work: _Work, name: str, state: str, users: tuple[str, ...] = ()) -> None:
    text_ = f"Tombstone of type '{state}' for class '{name}' has no effect (no namespace exists with this class name)."
    work.note(name, "stale_tombstone", text_ + (" Safe to remove from `exports`." if not users else ""), users)
    if not users:
        work.outcome["removable_entries"].append(name)


def _renamed(work: _Work, name: str, entry: Entry) -> None:
    namespace, to = work.own.get(name), entry["renamed_to"]
    if to == name or state_of(work.entries.get(to, {"state": "missing"})) != "created":
        text_ = f"'{name}' is renamed to '{to}', which is not a live entry of its own."
        work.refuse(name, "invalid_export", text_, f"declare '{to}' as a live class")
    elif namespace is None:
        target = work.own.get(to)
        _stale(work, name, "renamed", work.users(target) if target else ())
    elif to in work.own:
        text_ = f"'{name}' is renamed to '{to}', which already has a namespace."
        work.refuse(name, "tombstone_renamed_to_occupied", text_, f"delete the namespace of '{to}' in a deploy before")
    else:
        work.swap(namespace, replace(namespace, class_name=to))
        work.outcome["renamed"].append({"from": name, "to": to})
        _still_in_code(work, name, "renamed")


def _still_in_code(work: _Work, name: str, state: str) -> None:
    if work.situation.exported.has(name):
        text_ = f"Tombstone of type '{state}' applied. Class '{name}' is still exported in code."
        work.note(name, "tombstone_class_still_in_code", text_)


def _transferred(work: _Work, name: str, entry: Entry) -> None:
    namespace, target = work.own.get(name), entry["transferred_to"]
    waiting = [
        each for each in work.situation.pending if (each.class_name, each.source) == (name, work.situation.script)
    ]
    if namespace is None:
        moved = work.situation.of(target, name)
        _stale(work, name, "transferred", work.users(moved) if moved else ())
    elif target not in work.situation.scripts:
        text_ = f"The Worker '{target}' does not exist."
        work.refuse(name, "transferred_target_missing", text_, "name a Worker that exists")
    elif not waiting:
        text_ = f"The Worker '{target}' does not expect '{name}' from this Worker."
        work.refuse(name, "transferred_pending_not_found", text_, "deploy the target with `expecting-transfer` first")
    elif waiting[0].target != target:
        text_ = f"'{name}' is expected by the Worker '{waiting[0].target}', not by '{target}'."
        work.refuse(name, "transferred_target_mismatch", text_, "name the Worker that expects it")
    elif work.situation.of(target, name):
        text_ = f"The Worker '{target}' already has a namespace for '{name}'."
        work.refuse(name, "phase_one_transfer_target_class_provisioned", text_, "delete the namespace there first")
    else:
        work.swap(namespace, replace(namespace, script=target, received_from=work.situation.script))
        work.pending.remove(waiting[0])
        work.outcome["transferred"].append({"class": name, "phase": "committed", "to": target})
        _still_in_code(work, name, "transferred")


def _expecting(work: _Work, name: str, entry: Entry) -> None:
    source, own, script = entry["transfer_from"], work.own.get(name), work.situation.script
    given = work.situation.of(source, name)
    if own is not None:
        _expecting_too_late(work, name, source, own)
    elif work.situation.exported.lacks(name):
        text_ = f"Class '{name}' is declared but the code does not export it."
        work.refuse(name, "config_export_not_in_code", text_, "export the class")
    elif source not in work.situation.scripts:
        work.refuse(name, "phase_one_transfer_source_missing", f"The Worker '{source}' does not exist.", "correct it")
    elif given is None:
        text_ = f"The Worker '{source}' has no namespace for '{name}'."
        work.refuse(name, "phase_one_transfer_source_namespace_missing", text_, "deploy the class there first")
    elif any((each.class_name, each.source) == (name, source) for each in work.pending):
        text_ = f"Another Worker expects '{name}' from '{source}'."
        work.refuse(name, "phase_one_transfer_duplicate", text_, "cancel the other transfer first")
    else:
        _check_storage(work, name, entry, given)
        work.pending.append(Pending(script, name, source))
        work.outcome["transfer_pending"].append({"class": name, "from": source})


def _expecting_too_late(work: _Work, name: str, source: str, own: Namespace) -> None:
    if own.received_from == source:
        work.note(name, "transfer_receive_already_applied", f"'{name}' has been received from '{source}'.")
    elif own.received_from:
        text_ = f"'{name}' was received from '{own.received_from}', not from '{source}'."
        work.refuse(name, "phase_one_transfer_after_commit_mismatch", text_, "replace the entry by a live one")
    else:
        text_ = f"This Worker already has a namespace for '{name}'."
        work.refuse(name, "phase_one_transfer_target_class_provisioned", text_, "replace the entry by a live one")


def _unmentioned(work: _Work) -> None:
    for name, namespace in work.own.items():
        if name in work.entries or any(entry.get("renamed_to") == name for entry in work.entries.values()):
            continue
        text_ = f"A namespace exists for '{name}' but no `exports` entry declares it."
        lacking = work.situation.exported.lacks(name)
        scenario = "orphaned_provisioned_namespace" if lacking else "provisioned_class_missing_from_config"
        suggestion = f"add an entry for '{name}', or a tombstone to retire the namespace"
        work.refuse(name, scenario, text_, suggestion, work.users(namespace))


_STATES: dict[str, Callable[[_Work, str, Entry], None]] = {
    "created": _created,
    "deleted": _deleted,
    "renamed": _renamed,
    "transferred": _transferred,
    "expecting-transfer": _expecting,
}
