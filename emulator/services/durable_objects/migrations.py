"""Tagged migrations: steps applied in order to the classes of a script.

Each step is checked against what the steps before it have left, so a whole history can be replayed on a new script;
only what remains at the end has to be exported by the code.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from emulator.schema import fields, items, nullable, options, problems, text

from . import errors
from .model import FREE, REFUSED, Namespace, Outcome, Situation

_CLASSES = nullable(items(text(least=1, most=255), most=1000))
_STEP = {
    "new_classes": _CLASSES,
    "new_sqlite_classes": _CLASSES,
    "deleted_classes": _CLASSES,
    "renamed_classes": nullable(items(fields({"from": text(least=1), "to": text(least=1)}), most=1000)),
    "transferred_classes": nullable(
        items(fields({"from": text(least=1), "from_script": text(least=1), "to": text(least=1)}), most=1000)
    ),
}
_TAGS = {"old_tag": nullable(text()), "new_tag": nullable(text())}
CHECK = options(**_TAGS, **_STEP, steps=nullable(items(fields({}, _STEP), most=1000)))
"""One flat step, or several in `steps`."""


@dataclass
class _Work:
    """The namespaces while steps are applied."""

    situation: Situation
    namespaces: list[Namespace]
    lost: list[Namespace] = field(default_factory=list)
    arrived: dict[str, str] = field(default_factory=dict)  # class: the kind of migration that brought it

    def find(self, script: str, name: str) -> Namespace | None:
        return next((n for n in self.namespaces if (n.script, n.class_name) == (script, name)), None)

    def swap(self, old: Namespace, new: Namespace | None) -> None:
        at = self.namespaces.index(old)
        self.namespaces[at : at + 1] = [] if new is None else [new]


def check_shape(migrations: dict[str, Any]) -> None:
    """Refuse what is not a migration at all."""
    found = problems(CHECK, migrations)
    if found:
        raise errors.INVALID_MIGRATION(problem=found[0])


def migrate(situation: Situation, migrations: dict[str, Any]) -> Outcome:
    """Apply migrations, or refuse them all."""
    check_shape(migrations)
    if (migrations.get("old_tag") or None) != situation.tag:
        raise errors.WRONG_TAG(tag=situation.tag or "")
    work = _Work(situation, list(situation.namespaces))
    for step in _steps(migrations):
        _check_targets(step)
        for name, apply in _APPLY.items():
            for item in step.get(name) or ():
                apply(work, item)
    for name, kind in work.arrived.items():
        if work.find(situation.script, name) and situation.exported.lacks(name):
            raise errors.MIGRATION_NOT_EXPORTED(kind=kind, name=name)
    tag = migrations.get("new_tag") or situation.tag
    return Outcome(tuple(work.namespaces), tuple(work.lost), tag, situation.pending)


def _steps(migrations: dict[str, Any]) -> Iterator[dict[str, Any]]:
    flat = {name: migrations[name] for name in _STEP if migrations.get(name)}
    if flat:
        yield flat
    yield from migrations.get("steps") or ()


def _check_targets(step: dict[str, Any]) -> None:
    """Within one step a class is created, deleted or received once."""
    targets = [*(step.get("new_classes") or ()), *(step.get("new_sqlite_classes") or ())]
    targets += step.get("deleted_classes") or ()
    targets += [item["to"] for name in ("renamed_classes", "transferred_classes") for item in step.get(name) or ()]
    for name in targets:
        if targets.count(name) > 1:
            raise errors.TARGETED_TWICE(name=name)


def _transfer(work: _Work, item: dict[str, str]) -> None:
    script, kind = work.situation.script, "transfer-class"
    source = work.find(item["from_script"], item["from"])
    if source is None:
        raise errors.CLASS_MISSING(kind=kind, name=item["from"], where=f" in script '{item['from_script']}'")
    _check_free(work, item["to"], kind)
    moved = replace(source, script=script, class_name=item["to"], received_from=item["from_script"])
    work.swap(source, moved)
    work.arrived[item["to"]] = kind


def _rename(work: _Work, item: dict[str, str]) -> None:
    kind = "rename-class"
    source = _existing(work, item["from"], kind)
    _check_free(work, item["to"], kind)
    work.swap(source, replace(source, class_name=item["to"]))
    work.arrived[item["to"]] = kind


def _delete(work: _Work, name: str) -> None:
    namespace = _existing(work, name, "delete-class")
    # The real check goes by class name alone: a binding to another script's class of that name counts too.
    if name in work.situation.bound or work.situation.users.get(namespace.id):
        raise errors.STILL_BOUND(name=name)
    work.swap(namespace, None)
    if namespace.id:
        work.lost.append(namespace)


def _create(work: _Work, name: str, *, sqlite: bool) -> None:
    kind = "new-sqlite-class" if sqlite else "new-class"
    if not sqlite and work.situation.key_value == FREE:
        raise errors.FREE_PLAN()
    if not sqlite and work.situation.key_value == REFUSED:
        raise errors.KEY_VALUE_REFUSED(name=name)
    _check_free(work, name, kind)
    work.namespaces.append(Namespace(work.situation.script, name, sqlite))
    work.arrived[name] = kind


def _existing(work: _Work, name: str, kind: str) -> Namespace:
    namespace = work.find(work.situation.script, name)
    if namespace is None:
        raise errors.CLASS_MISSING(kind=kind, name=name, where="")
    return namespace


def _check_free(work: _Work, name: str, kind: str) -> None:
    if work.find(work.situation.script, name):
        raise errors.CLASS_EXISTS(kind=kind, name=name)


# The order within a step; the API's documentation gives none, and steps that depend on it are refused above.
_APPLY: dict[str, Callable[[_Work, Any], None]] = {
    "transferred_classes": _transfer,
    "renamed_classes": _rename,
    "deleted_classes": _delete,
    "new_classes": lambda work, name: _create(work, name, sqlite=False),
    "new_sqlite_classes": lambda work, name: _create(work, name, sqlite=True),
}
