"""From a path to findings: which projects there are, what each says, and what the rules make of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from ..errors import UserError
from ..facts.stack import Container, Fact, Image, Stack, lower
from ..platform.sdk import MAIN_CLASS
from ..platform.sdk_support import PACKAGE
from ..rules import MANDATORY, NOTE, Finding, check, valid_overrides
from ..rules.finding import DOCS
from ..wrangler.document import Document
from ..wrangler.environment import Environment, environments
from . import npm, wrangler
from .config import read_config
from .files import CONFIGS, Files, is_file, is_folder, walk
from .source import Modules

UNREADABLE = "check/unreadable"
UNTOLD = "check/untold"
_BUILT = frozenset({"dist", "build", "out"})
_PAGES = {
    "Pulumi.": "https://www.pulumi.com/docs/iac/concepts/config/",
    "Dockerfile": "https://docs.docker.com/reference/dockerfile/",
}
"""Pages about files that are not wrangler's, by how their names begin."""


Described = tuple[Path, Stack, Mapping[str, str]]
"""The file that describes a stack, the stack, and the severities that it gives rules itself."""


class UsageError(UserError):
    """A path that cannot be checked."""


@dataclass(frozen=True)
class Result:
    """What was found, and how many projects were looked at."""

    findings: list[Finding]
    projects: int
    configs: tuple[Path, ...] = ()


def check_path(
    path: Path,
    *,
    today: date,
    overrides: Mapping[str, str] | None = None,
    docker: Fact[bool] | None = None,
    budget: Fact[float] | None = None,
) -> Result:
    """Judge every project at or below a path, or a single file."""
    if not is_file(path) and not is_folder(path):
        raise UsageError(f"there is no {path}")
    chosen = valid_overrides(overrides or {})
    files = Files(path if is_folder(path) else path.parent)
    found: dict[tuple[str, str, str], Finding] = {}
    projects: list[Path] = []
    for config, stack, own in stacks(files, path):
        projects.append(config)
        judged = replace(stack, docker=docker, budget=lower(budget, stack.budget))
        for finding in check(judged, today=today, overrides={**own, **chosen}):
            # Environments that inherit a mistake make it once.
            found.setdefault((finding.rule, finding.where, finding.what), finding)
    unreadable = {(where, what): _unreadable(where, what) for where, what in files.problems}
    untold = [_untold(where, what) for where, what in files.notes]
    if is_folder(path) and not projects and not unreadable:
        raise UsageError(
            f"nothing to check was found in {path.absolute()} and the folders below: no wrangler configuration of a "
            "Worker with sandboxes, no Pulumi project with their settings, and in the folder itself neither a "
            f"Dockerfile nor a package.json with {PACKAGE}; name the folder of the project, or one of its files"
        )
    findings = sorted(map(_linked, (*unreadable.values(), *untold, *found.values())), key=_order)
    return Result(findings, len(dict.fromkeys(projects)), tuple(dict.fromkeys(projects)))


def _order(finding: Finding) -> tuple[str, int, str]:
    name, _, line = finding.where.rpartition(":")
    return (name, int(line), finding.rule) if line.isdigit() and name else (finding.where, 0, finding.rule)


def _linked(finding: Finding) -> Finding:
    """Lead from a file that is not wrangler's to a page about it instead of one about wrangler."""
    name = "Pulumi." if _file(finding.where).endswith(".py") else _file(finding.where)
    page = next((page for start, page in _PAGES.items() if name.startswith(start)), None)
    return replace(finding, link=page) if page and "/wrangler/" in finding.link else finding


def _file(where: str) -> str:
    return where.rpartition(":")[0].rpartition("/")[2]


def _unreadable(where: str, what: str) -> Finding:
    settings = _file(where).startswith("Pulumi.") or _file(where).endswith(".py")
    return Finding(
        UNREADABLE,
        MANDATORY,
        where,
        what,
        "What cannot be read cannot be judged, and a deployment would fail on it too.",
        "Fix the settings; docs/settings.md lists them all."
        if settings
        else "Fix the file, or leave it out of the project.",
        f"{DOCS}/workers/wrangler/configuration/",
        "2025-06-24",
    )


def _untold(where: str, what: str) -> Finding:
    return Finding(
        UNTOLD,
        NOTE,
        where,
        what,
        "Its settings are no literals, or it uses components without any, so nothing of it was judged.",
        'Use the policy pack in preview: pulumi preview --policy-pack "$(sandbox-stack policy)".',
        "https://www.pulumi.com/docs/insights/policy/",
        "2026-11-18",
    )


def stacks(files: Files, path: Path) -> Iterator[Described]:
    """Return the facts of every stack that is described at or below a path."""
    if is_file(path):
        yield from _single(files, path)
        return
    for folder, names in walk(files, path):
        config = next((name for name in CONFIGS if name in names), None)
        if config:
            yield from ((folder / config, stack, {}) for stack in _wrangler(files, folder / config))
        elif folder == path:
            yield from _alone(files, folder, names)
        if "Pulumi.yaml" in names:
            from .pulumi_project import stacks as pulumi_stacks  # noqa: PLC0415 - loads pydantic and YAML

            yield from ((folder / "Pulumi.yaml", stack, own) for stack, own in pulumi_stacks(files, folder, names))


def _single(files: Files, path: Path) -> Iterator[Described]:
    if path.name in CONFIGS or path.suffix in {".jsonc", ".toml"}:
        yield from ((path, stack, {}) for stack in _wrangler(files, path))
    elif path.name.startswith("Pulumi.") and path.suffix in {".yaml", ".yml"}:
        from .pulumi_project import stacks as pulumi_stacks  # noqa: PLC0415 - loads pydantic and YAML

        yield from ((path, stack, own) for stack, own in pulumi_stacks(files, path.parent, [path.name]))
    elif path.suffix == ".py":
        from .pulumi_project import program  # noqa: PLC0415 - loads pydantic

        yield from ((path, stack, own) for stack, own in program(files, path.parent, path.name))
    elif path.name == "package.json":
        package, supply = npm.facts(files, path.parent, path.parent)
        yield path, Stack(package=package, supply=supply), {}
    elif "dockerfile" in path.name.lower():
        yield path, _dockerfile_alone(files, path), {}
    elif path.suffix in {".ts", ".js", ".mts", ".mjs", ".tsx", ".jsx"}:
        modules = Modules(files, path)
        yield path, Stack(source=modules.facts()) if modules.found else Stack(), {}
    else:
        raise UsageError(
            f"{path} is none of the files that can be checked: a wrangler configuration, package.json, a Dockerfile, "
            "an entry module, a program in Python, or a Pulumi project"
        )


def _alone(files: Files, folder: Path, names: list[str]) -> Iterator[Described]:
    """Judge a folder without a configuration by its package.json and its Dockerfile."""
    stack = Stack()
    if "package.json" in names:
        package, supply = npm.facts(files, folder, folder)
        if package.declared and package.declared.value:
            stack = replace(stack, package=package, supply=supply)
    if "Dockerfile" in names:
        stack = replace(stack, containers=_dockerfile_alone(files, folder / "Dockerfile").containers)
    if stack != Stack():
        yield folder, stack, {}


def _dockerfile_alone(files: Files, path: Path) -> Stack:
    text = files.text(path)
    # Who builds it, and with which arguments, is not known.
    said = None if text is None else wrangler.read_dockerfile(files, path, text, arguments=True)
    image = Image(files.name(path), dockerfile=said) if text is not None else None
    return Stack(containers=(Container(image=image),))


def _wrangler(files: Files, path: Path) -> Iterator[Stack]:
    document = read_config(files, path)
    if document is None:
        return
    package, supply = npm.facts(files, path.parent, files.root)
    modules: dict[str, Modules] = {}
    for said in environments(document, path.parent):
        for where, what in wrangler.misshapen(said):
            files.problem(where, what)
        main = said.get("main", str)
        if main and main not in modules and "\0" not in main:
            modules[main] = Modules(files, path.parent / main)
        read = modules.get(main or "")
        if read and not read.found and not _is_made(said, str(main)):
            files.problem(said.where("main"), f"there is no entry module {main}")
        stack = Stack(
            worker=wrangler.worker(said),
            classes=wrangler.classes(said),
            containers=wrangler.containers(said, files),
            package=package,
            supply=supply,
            preview=wrangler.preview(said),
        )
        if read and read.found:
            worker = replace(stack.worker, exports=read.exports())
            stack = replace(stack, worker=worker, source=read.facts())
        if _has_sandboxes(stack, document):
            yield stack


def _is_made(said: Environment, main: str) -> bool:
    """Say whether a build makes the entry module, so that it need not be there yet."""
    build = said.get("build", dict) or {}
    first = main.removeprefix("./").partition("/")[0]
    return bool(build.get("command")) or first.startswith(".") or first in _BUILT


def _has_sandboxes(stack: Stack, document: Document) -> bool:
    """Say whether a Worker has to do with sandboxes; others are none of our business."""
    declared = stack.package.declared
    bound = any(each.name.value == MAIN_CLASS for each in stack.worker.bindings or ())
    used = PACKAGE in document.text or any(stack.source.calls or ()) or any(stack.source.uses or ())
    images = [each.image for each in stack.containers or () if each.image]
    named = any(PACKAGE[1:] in str(image) for image in images)
    return bool((declared and declared.value) or bound or used or named)
