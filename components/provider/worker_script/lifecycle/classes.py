"""The life of Durable Object classes: from the classes that are live and those that are wanted to one upload's steps.

The plan is made from what is live, never from a list of past migrations, so it is right after a crash, after a deploy
by other tools, and when the live tag is one we have never seen. Applying a plan and planning again gives no steps.
Whatever would lose objects is refused unless the program names the class it gives up.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....platform.durable_objects import CREATED_BY, EXPORT, EXPORTS, MIGRATIONS, SQLITE


@dataclass(frozen=True)
class Source:
    """A class of another script whose objects move here."""

    script: str
    class_name: str


@dataclass(frozen=True)
class Wanted:
    """A class the program wants."""

    storage: str = SQLITE
    container: bool = False
    renamed_from: str | None = None
    transferred_from: Source | None = None


@dataclass(frozen=True)
class Desired:
    """What a program says about a script's classes."""

    script: str
    classes: Mapping[str, Wanted] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    """Classes whose objects the program gives up."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Classes that another script takes over, and that script."""
    lifecycle: str = MIGRATIONS


@dataclass(frozen=True)
class Live:
    """What the account has."""

    classes: Mapping[str, str] = field(default_factory=dict)
    """Classes of the script that have a namespace, and their storage."""
    tag: str | None = None
    elsewhere: frozenset[Source] = frozenset()
    """Classes of other scripts."""


@dataclass(frozen=True)
class Steps:
    """What an upload has to say; at most one of the two."""

    migrations: dict[str, Any] | None = None
    exports: dict[str, Any] | None = None


class RefusedError(ValueError):
    """The plan would lose objects or cannot work; one (property path, text) per class."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("\n".join(text for _, text in problems))
        self.problems = problems


def plan(live: Live, desired: Desired) -> Steps:
    """Return the steps from what is live to what is wanted, or refuse."""
    renames = pending_renames(live, desired)
    problems = list(_problems(live, desired, renames))
    if problems:
        raise RefusedError(problems)
    if desired.lifecycle == EXPORTS:
        return Steps(exports=_exports(live, desired, renames))
    return Steps(migrations=_migrations(live, desired, renames))


def pending_renames(live: Live, desired: Desired) -> dict[str, str]:
    """Return old name by new name of the renames that are still to be done.

    A rename is due when the old class is live and the new name is free, or becomes free by another due rename.
    """
    due: dict[str, str] = {}
    while True:
        freed = set(due.values())
        found = {
            name: wanted.renamed_from
            for name, wanted in desired.classes.items()
            if wanted.renamed_from in live.classes and (name not in live.classes or name in freed)
        }
        if found == due:
            return due
        due = {name: old for name, old in found.items() if old is not None}


def contradictions(desired: Desired) -> Iterator[tuple[str, str]]:
    """Say what a program cannot mean, whatever is live."""
    for name in sorted(desired.deleted & set(desired.classes)):
        yield "deletedClasses", f"class {name} is wanted in classes and given up in deletedClasses; choose one"
    for name in sorted(set(desired.given) & (set(desired.classes) | desired.deleted)):
        yield f"transferredClasses.{name}", f"class {name} goes to another script; do not name it elsewhere as well"
    for name, wanted in desired.classes.items():
        if wanted.renamed_from is not None and wanted.transferred_from is not None:
            yield f"classes.{name}", f"class {name} cannot be renamed and transferred at once; do one after the other"
        if wanted.container and wanted.storage != SQLITE:
            yield f"classes.{name}.storage", f"containers need sqlite storage, not {wanted.storage}"
        if _returns(name, desired):
            text = f"the renames of class {name} lead back to it, which one upload cannot do; use a name in between"
            yield f"classes.{name}.renamedFrom", text


def _returns(name: str, desired: Desired) -> bool:
    seen: set[str] = set()
    current: str | None = name
    while current is not None and current in desired.classes and current not in seen:
        seen.add(current)
        current = desired.classes[current].renamed_from
    return current == name


def lost(old: Desired, new: Desired) -> Iterator[tuple[str, str]]:
    """Say which classes of the former program a new one would lose, before anything is asked of the account."""
    renamed = {wanted.renamed_from for wanted in new.classes.values()}
    for name in sorted(set(old.classes) - set(new.classes)):
        if name not in renamed | new.deleted and name not in new.given:
            yield _lost(name, new.script)


def _lost(name: str, script: str) -> tuple[str, str]:
    text = (
        f"class {name} of script {script} holds Durable Objects and the program no longer names it; leaving it out "
        f"would lose all its objects and their data. Keep {name} in classes, or say where its objects go (renamedFrom "
        f"of the new class, or transferredClasses), or give them up by naming {name} in deletedClasses"
    )
    return f"classes.{name}", text


def _problems(live: Live, desired: Desired, renames: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    leaving = set(renames.values())
    for name in sorted(set(live.classes) - set(desired.classes) - leaving):
        if name in desired.given and desired.lifecycle == MIGRATIONS:
            taker = desired.given[name]
            text = (
                f"script {taker} has not taken over class {name} of {desired.script} yet; let {taker} be updated first"
            )
            yield f"transferredClasses.{name}", f"{text} (transferredFrom there, dependsOn here)"
        elif name not in desired.deleted and name not in desired.given:
            heir = next((new for new, wanted in desired.classes.items() if wanted.renamed_from == name), None)
            yield _lost(name, desired.script) if heir is None else _occupied(name, heir)
    for name, wanted in desired.classes.items():
        yield from _class_problems(name, wanted, live, desired, renames)
    for name in sorted(leaving & set(desired.classes)) if desired.lifecycle == EXPORTS else ():
        text = (
            f"with exports the name {name} cannot be left and taken in one upload; rename the classes one after another"
        )
        yield f"classes.{name}", text


def _class_problems(
    name: str, wanted: Wanted, live: Live, desired: Desired, renames: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    source = wanted.transferred_from
    here = live.classes.get(renames.get(name, name))
    if here is None and source is not None and source not in live.elsewhere:
        text = f"script {source.script} has no class {source.class_name} to take over"
        yield f"classes.{name}.transferredFrom", f"{text}; correct it, or leave it out to begin with an empty class"
    if here is not None and source is not None and source in live.elsewhere:
        text = (
            f"class {name} cannot take over class {source.class_name} of {source.script}: both hold Durable Objects. "
            "Take them over in a class of another name, or leave transferredFrom out to keep the objects here"
        )
        yield f"classes.{name}.transferredFrom", text
    if source is not None and desired.lifecycle == EXPORTS and source.class_name != name:
        text = f"with exports a class keeps its name when it moves; take {source.class_name} over, then rename it"
        yield f"classes.{name}.transferredFrom.className", text
    if here is not None and here != wanted.storage:
        text = f"class {name} is live on {here} storage, which cannot be changed to {wanted.storage}"
        remedy = "say so" if not wanted.container else "and containers need sqlite: use a class of another name"
        yield f"classes.{name}.storage", f"{text}; {remedy}"


def _occupied(name: str, heir: str) -> tuple[str, str]:
    text = (
        f"class {name} cannot be renamed to {heir}: both hold Durable Objects. Keep {name} in classes, or give up its "
        f"objects by naming it in deletedClasses"
    )
    return f"classes.{heir}.renamedFrom", text


def _migrations(live: Live, desired: Desired, renames: Mapping[str, str]) -> dict[str, Any] | None:
    steps: list[dict[str, Any]] = []
    leaving = set(renames.values())
    deleted = sorted((desired.deleted & set(live.classes)) - set(desired.classes) - leaving)
    if deleted:
        steps.append({"deleted_classes": deleted})
    steps += [{"renamed_classes": [{"from": old, "to": new}]} for new, old in _ordered(renames, live)]
    missing = {
        name: wanted
        for name, wanted in sorted(desired.classes.items())
        if name not in renames and (name not in live.classes or name in leaving)
    }
    moved = [
        {"from": wanted.transferred_from.class_name, "from_script": wanted.transferred_from.script, "to": name}
        for name, wanted in missing.items()
        if wanted.transferred_from is not None
    ]
    if moved:
        steps.append({"transferred_classes": moved})
    fresh = {name: wanted.storage for name, wanted in missing.items() if wanted.transferred_from is None}
    for key, storage in CREATED_BY.items():
        names = [name for name, kind in fresh.items() if kind == storage]
        if names:
            steps.append({key: names})
    if not steps:
        return None
    tags = {"old_tag": live.tag} if live.tag else {}
    return {**tags, "new_tag": _tag(live.tag, steps), "steps": steps}


def _ordered(renames: Mapping[str, str], live: Live) -> Iterator[tuple[str, str]]:
    """Return renames in an order in which every new name is free."""
    waiting, taken = dict(renames), set(live.classes)
    while ready := sorted(new for new in waiting if new not in taken):
        for new in ready:
            old = waiting.pop(new)
            taken.discard(old)
            taken.add(new)
            yield new, old


def _tag(before: str | None, steps: list[dict[str, Any]]) -> str:
    """Return a tag that follows from the one before and the steps: the same on every try, never the same as before."""
    text = json.dumps([before, steps], sort_keys=True)
    return f"sandbox-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _exports(live: Live, desired: Desired, renames: Mapping[str, str]) -> dict[str, Any]:
    kind = {"type": EXPORT}
    entries: dict[str, Any] = {}
    for name in sorted(set(live.classes) - set(desired.classes)):
        heir = next((new for new, old in renames.items() if old == name), None)
        if heir is not None:
            entries[name] = {**kind, "state": "renamed", "renamed_to": heir}
        elif name in desired.given:
            entries[name] = {**kind, "state": "transferred", "transferred_to": desired.given[name]}
        else:
            entries[name] = {**kind, "state": "deleted"}
    for name, wanted in sorted(desired.classes.items()):
        entries[name] = {**kind, "storage": wanted.storage}
        if wanted.transferred_from is not None and name not in live.classes:
            entries[name] |= {"state": "expecting-transfer", "transfer_from": wanted.transferred_from.script}
    return entries
