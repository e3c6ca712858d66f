"""What the stacks of a Pulumi project say: the settings in `Pulumi.<stack>.yaml`, judged like everything else."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml

from ..rules.facts import Fact, Image, Stack
from ..settings import SandboxSettings, SettingsError
from ..settings.facts import facts
from . import npm
from .files import Files, is_file
from .source import Modules
from .wrangler import read_dockerfile

_KEY: Final = ":settings"
_PLUGIN: Final = "cloudflare-sandbox"
_MOST_ALIASES: Final = 100
Judged = tuple[Stack, dict[str, str]]


def stacks(files: Files, folder: Path, names: list[str]) -> Iterator[Judged]:
    """Give the facts of every stack of a project that uses our plugin, each with the severities it gives rules."""
    if _PLUGIN not in (files.text(folder / "Pulumi.yaml") or ""):
        return
    for name in names:
        if name.startswith("Pulumi.") and name.endswith((".yaml", ".yml")) and name != "Pulumi.yaml":
            yield from _stack(files, folder / name)


def _stack(files: Files, path: Path) -> Iterator[Judged]:
    text = files.text(path)
    name = files.name(path)
    try:
        root = _compose(text or "")
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it is nested too deep"
        files.problem(f"{name}:{mark.line + 1 if mark else 1}", f"{path.name} cannot be read: {what}")
        return
    for key, node in _members(_member(root, "config")):
        if key.endswith(_KEY):
            yield from _judge(files, path, node)


def _compose(text: str) -> Any:
    aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader))
    if aliases > _MOST_ALIASES:
        raise yaml.YAMLError
    return yaml.compose(text, yaml.SafeLoader)


def _judge(files: Files, path: Path, node: Any) -> Iterator[Judged]:
    name = files.name(path)

    def place(where: str) -> str:
        return f"{name}:{_line(node, where.split('.'))}"

    try:
        document = yaml.SafeLoader("").construct_document(node)
        settings = SandboxSettings.parse(document if isinstance(document, dict) else {"": document})
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        problems = error.problems if isinstance(error, SettingsError) else [f"the settings cannot be read: {error}"]
        for problem in problems:
            files.problem(place(problem.partition(":")[0]), problem)
        return
    entry = path.parent / (settings.worker.entry or "worker_src/src/index.ts")
    package, supply = npm.facts(files, _package_folder(entry, path.parent), path.parent)
    stack = _placed(facts(settings, package), place)
    if settings.worker.entry:
        stack = _with_source(files, entry, stack, place("worker.entry"))
    for index, kind in enumerate(settings.kinds):
        if kind.image.dockerfile:
            stack = _with_dockerfile(files, path.parent / kind.image.dockerfile, stack, index)
    stack = replace(stack, package=stack.package if settings.sdk.version else package, supply=supply)
    yield stack, dict(settings.rules)


def _package_folder(entry: Path, top: Path) -> Path:
    """Find the folder of the package that an entry module belongs to."""
    above = (each for each in entry.parents if each.is_relative_to(top))
    return next((each for each in above if is_file(each / "package.json")), top)


def _with_source(files: Files, entry: Path, stack: Stack, where: str) -> Stack:
    modules = Modules(files, entry)
    if not modules.found:
        files.problem(where, f"there is no entry module {entry.name}")
        return stack
    return replace(stack, worker=replace(stack.worker, exports=modules.exports()), source=modules.facts())


def _with_dockerfile(files: Files, path: Path, stack: Stack, index: int) -> Stack:
    text = files.text(path)
    if text is None:
        files.problem(files.name(path) + ":1", "there is no such Dockerfile")
        return stack
    containers = list(stack.containers or ())
    image = Image(files.name(path), dockerfile=read_dockerfile(files, path, text))
    containers[index] = replace(containers[index], image=image)
    return replace(stack, containers=tuple(containers))


def _placed(value: Any, place: Any) -> Any:
    """Turn paths in the settings into lines of the file."""
    if isinstance(value, Fact):
        return Fact(value.value, place(value.where))
    if isinstance(value, tuple):
        return tuple(_placed(each, place) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {each.name: _placed(getattr(value, each.name), place) for each in fields(value) if each.name != "where"}
    where = {"where": place(getattr(value, "where", ""))}
    return replace(value, **where, **changed)


def _line(node: Any, path: list[str]) -> int:
    for part in path:
        inner = _member(node, part)
        if inner is None:
            break
        node = inner
    return int(node.start_mark.line) + 1


def _members(node: Any) -> Iterator[tuple[str, Any]]:
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        yield str(key.value), value


def _member(node: Any, key: str) -> Any:
    return next((value for name, value in _members(node) if name == key), None)
