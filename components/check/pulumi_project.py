"""What the stacks of a Pulumi project say: settings in `Pulumi.<stack>.yaml` or in the program, judged alike."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml

from ..facts.stack import Fact, Image, Package, Stack
from ..settings import SandboxSettings, SettingsError
from ..settings.facts import facts, severities
from . import npm, python_program
from .config import read_config
from .drift import differing
from .files import CONFIGS, Files, is_file
from .source import Modules
from .wrangler import read_dockerfile

_KEY: Final = re.compile(r"([^:]+:)?settings")
"""The name of the project may be left out."""
_PLUGIN: Final = "cloudflare-sandbox"
_MOST_ALIASES: Final = 100
_MAIN: Final = re.compile(r"^main:\s*['\"]?([^'\"\s#]+)", re.MULTILINE)
_NAME: Final = re.compile(r"^name:\s*['\"]?([^'\"\s#$]+)", re.MULTILINE)
"""A template for `pulumi new` has `${PROJECT}` there, which is no name yet."""
Judged = tuple[Stack, dict[str, str]]
Place = Callable[[str], str]
Hidden = Callable[[str], bool]


def stacks(files: Files, folder: Path, names: list[str]) -> Iterator[Judged]:
    """Return the facts of every stack of a project that uses our plugin, each with the severities it gives rules."""
    project = files.text(folder / "Pulumi.yaml") or ""
    configured: list[Judged] = []
    if _PLUGIN in project:
        own = _own(files, folder, project)
        for name in names:
            if name.startswith("Pulumi.") and name.endswith((".yaml", ".yml")) and name != "Pulumi.yaml":
                configured.extend(_stack(files, folder / name, own))
    yield from configured
    main = _MAIN.search(project)
    yield from program(files, folder, main[1] if main else "", configured=bool(configured))


def program(files: Files, folder: Path, main: str, *, configured: bool = False) -> Iterator[Judged]:
    """Return the facts of what a program says; what it takes from stacks that are judged already is left to these."""
    found = python_program.read(files, folder, main)
    for said in found.documents:
        yield from _said(files, folder, said)
    if found.untold and not configured:
        files.notes.append((found.untold, "what this program deploys cannot be told without running the program"))
        yield Stack(), {}


def _said(files: Files, folder: Path, said: python_program.Said) -> Iterator[Judged]:
    """Return the facts of settings that a program has; what it does not tell is not judged."""
    try:
        settings = SandboxSettings.parse(said.value)
    except (SettingsError, TypeError, ValueError, RecursionError) as error:
        problems = error.problems if isinstance(error, SettingsError) else [f"the settings cannot be read: {error}"]
        for problem in problems:
            if not said.hides(problem.partition(":")[0]):
                files.problem(said.place(problem.partition(":")[0]), problem)
        yield Stack(), {}
        return
    yield _judged(files, folder, settings, said.place, said.hides)


def _own(files: Files, folder: Path, project: str) -> dict[str, Any]:
    """Return what the program says for every stack that does not: the project's name, if it takes that."""
    name, main = _NAME.search(project), _MAIN.search(project)
    takes = name and python_program.takes_project_name(files, folder, main[1] if main else "")
    return {"name": name[1]} if name and takes else {}


def _stack(files: Files, path: Path, own: dict[str, Any]) -> Iterator[Judged]:
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
        if _KEY.fullmatch(key):
            yield from _judge(files, path, node, own)


def read_settings(folder: Path, stack: str = "*") -> dict[str, Any]:
    """Return the settings of a project's stacks, or of one, as its program has them; SettingsError for broken ones."""
    files, found = Files(folder), {}
    own = _own(files, folder, files.text(folder / "Pulumi.yaml") or "")
    for path in sorted(folder.glob(f"Pulumi.{stack}.yaml")):
        try:
            root = _compose(files.text(path) or "")
            nodes = [node for key, node in _members(_member(root, "config")) if _KEY.fullmatch(key)]
            for node in nodes[:1]:
                said = yaml.SafeLoader("").construct_document(node)
                stack = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
                found[stack] = own | said if isinstance(said, dict) else said
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise SettingsError([f"{path.name} cannot be read: {error}"]) from None
    if files.problems:
        raise SettingsError([f"{where}: {what}" for where, what in files.problems])
    return found


def _compose(text: str) -> Any:
    aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader))
    if aliases > _MOST_ALIASES:
        raise yaml.YAMLError
    return yaml.compose(text, yaml.SafeLoader)


def _judge(files: Files, path: Path, node: Any, own: dict[str, Any]) -> Iterator[Judged]:
    name = files.name(path)

    def place(where: str) -> str:
        return f"{name}:{_line(node, where.split('.'))}"

    try:
        document = yaml.SafeLoader("").construct_document(node)
        settings = SandboxSettings.parse(own | document if isinstance(document, dict) else {"": document})
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        problems = error.problems if isinstance(error, SettingsError) else [f"the settings cannot be read: {error}"]
        for problem in problems:
            files.problem(place(problem.partition(":")[0]), problem)
        return
    stack, severities = _judged(files, path.parent, settings, place, lambda _: False)
    yield replace(stack, drift=_drift(files, path, settings, place)), severities


def _drift(files: Files, path: Path, settings: SandboxSettings, place: Place) -> tuple[Fact[str], ...] | None:
    config = next((path.parent / name for name in CONFIGS if is_file(path.parent / name)), None)
    document = read_config(files, config) if config else None
    if config is None or document is None:
        return None
    name = path.name.removeprefix("Pulumi.").removesuffix(path.suffix)
    found = differing(settings, name, document, path.parent)
    return None if found is None else tuple(Fact(each, f"{config.name} {place(each)}") for each in found)


def _judged(files: Files, folder: Path, settings: SandboxSettings, place: Place, hidden: Hidden) -> Judged:
    entry = folder / (settings.worker.entry or "worker_src/src/index.ts")
    package, supply = npm.facts(files, _package_folder(entry, folder), folder)
    stack = _placed(facts(settings, package), place, hidden)
    if settings.worker.entry:
        stack = _with_source(files, entry, stack, place("worker.entry"))
    for index, kind in enumerate(settings.kinds):
        if kind.image.dockerfile:
            stack = _with_dockerfile(files, folder / kind.image.dockerfile, stack, index)
    # A ready bundle was made elsewhere.
    found = Package() if settings.worker.bundle else package
    stack = replace(stack, package=replace(found, wanted=stack.package.wanted), supply=supply)
    return stack, severities(settings.rules)


def _package_folder(entry: Path, top: Path) -> Path:
    """Find the folder of the package that an entry module belongs to."""
    above = (each for each in entry.parents if each.is_relative_to(top))
    return next((each for each in above if is_file(each / "package.json")), top)


def _with_source(files: Files, entry: Path, stack: Stack, where: str) -> Stack:
    modules = Modules(files, entry)
    if not modules.found:
        files.problem(where, f"there is no entry module {entry.name}")
        return stack
    worker = replace(stack.worker, exports=modules.exports(), reachable=Fact(value=True, where=where))
    return replace(stack, worker=worker, source=modules.facts())


def _with_dockerfile(files: Files, path: Path, stack: Stack, index: int) -> Stack:
    text = files.text(path)
    if text is None:
        files.problem(files.name(path) + ":1", "there is no such Dockerfile")
        return stack
    containers = list(stack.containers or ())
    image = Image(files.name(path), dockerfile=read_dockerfile(files, path, text))
    containers[index] = replace(containers[index], image=image)
    return replace(stack, containers=tuple(containers))


def _placed(value: Any, place: Place, hidden: Hidden) -> Any:
    """Turn paths in the settings into lines of the file, and what is hidden into something unknown."""
    if isinstance(value, Fact):
        return Fact(value.value, place(value.where))
    if isinstance(value, tuple):
        return tuple(_placed(each, place, hidden) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {}
    for each in fields(value):
        inner = getattr(value, each.name)
        unknown = isinstance(inner, Fact) and each.default is None and hidden(inner.where)
        if each.name != "where":
            changed[each.name] = None if unknown else _placed(inner, place, hidden)
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
