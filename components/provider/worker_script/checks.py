"""What can be wrong with a WorkerScript before anything is asked of the account."""

from collections.abc import Iterator

from ...platform.bindings import DURABLE_OBJECT
from ...platform.durable_objects import EXPORTS, MIGRATIONS
from ...pulumi_protocol.values import UNKNOWN, is_known
from ..property_types import Problem
from ..resource import Inputs
from .lifecycle import bindings, classes, script

_CLASS_INPUTS = ("scriptName", "classes", "deletedClasses", "transferredClasses", "lifecycle")


def problems(olds: Inputs, news: Inputs) -> Iterator[Problem]:
    """Say everything that is wrong; unknown inputs are left alone."""
    yield from _module_problems(news)
    yield from _binding_problems(news)
    yield from _losses_by_moving(olds, news)
    if all(is_known(news.get(name)) for name in _CLASS_INPUTS):
        desired = script.desired(news)
        yield from ((tuple(path.split(".")), text) for path, text in classes.contradictions(desired))
        if olds and all(is_known(olds.get(name)) for name in _CLASS_INPUTS):
            yield from _losses(script.desired(olds), desired)


def _module_problems(news: Inputs) -> Iterator[Problem]:
    modules, main = news.get("modules"), news.get("mainModule")
    if isinstance(modules, dict) and isinstance(main, str) and main not in modules:
        yield ("mainModule",), f"{main} is not one of the modules ({', '.join(sorted(modules)) or 'there are none'})"
    for name, module in modules.items() if isinstance(modules, dict) else ():
        if isinstance(module, dict) and "file" not in module and "sha256" not in module:
            yield ("modules", name), "give the file of the module"


def _binding_problems(news: Inputs) -> Iterator[Problem]:
    given, wanted, name = news.get("bindings") or {}, news.get("classes") or {}, news.get("scriptName")
    if given is UNKNOWN:
        return
    known = {key: each for key, each in given.items() if isinstance(each, dict) and each.get("type") is not UNKNOWN}
    yield from ((("bindings", *path), text) for path, text in bindings.problems(known))
    if wanted is UNKNOWN or name is UNKNOWN:
        return
    for key, each in known.items():
        target = each.get("className")
        own = each.get("type") == DURABLE_OBJECT and each.get("scriptName", name) == name
        if own and isinstance(target, str) and target not in wanted:
            listed = ", ".join(sorted(wanted)) or "there are none"
            text = f"class {target} is not one of this script's classes ({listed}); add it there, or set scriptName"
            yield ("bindings", key, "className"), text


def _losses(old: classes.Desired, new: classes.Desired) -> Iterator[Problem]:
    if old.script != new.script:
        yield from _losses_by_renaming(old, new)
        return
    if old.lifecycle == EXPORTS and new.lifecycle == MIGRATIONS:
        text = "a script that declares its classes with exports cannot go back to migrations; set lifecycle to exports"
        yield ("lifecycle",), text
    yield from ((tuple(path.split(".")), text) for path, text in classes.lost(old, new))


def _losses_by_moving(olds: Inputs, news: Inputs) -> Iterator[Problem]:
    before, after = olds.get("accountId"), news.get("accountId")
    if before and is_known(before) and is_known(after) and before != after and olds.get("classes"):
        text = (
            f"another account means another script: {olds['scriptName']} would be deleted in the former account, and "
            f"with it all objects of its classes ({', '.join(sorted(olds['classes']))}) and their data, which cannot "
            "move. Keep the account, or remove this resource first to give them up"
        )
        yield ("accountId",), text


def _losses_by_renaming(old: classes.Desired, new: classes.Desired) -> Iterator[Problem]:
    taken = f"(transferredFrom with scriptName {old.script} in its class)"
    remedy = f"let the new script take the objects over {taken}"
    saved = {wanted.transferred_from for wanted in new.classes.values()}
    if EXPORTS in (old.lifecycle, new.lifecycle):
        # The giver has to be uploaded once more to let go; a replacement only deletes it.
        saved = set()
        remedy = (
            f"do it in two runs, as exports need: first let a second WorkerScript {new.script} take the objects over "
            f"{taken} while this one stays {old.script} and names them in transferredClasses, then remove this one"
        )
    for name in sorted(old.classes):
        if classes.Source(old.script, name) not in saved:
            text = (
                f"another name means another script: {old.script} would be deleted, and with it all objects of class "
                f"{name} and their data. Keep the name, or {remedy}, or remove this resource first to give them up"
            )
            yield ("scriptName",), text
