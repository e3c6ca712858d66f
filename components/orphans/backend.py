"""Reads what stacks there are: those of the backend that the user's `pulumi` is logged in to, by their states.

States of projects that were not asked about are read too: what they hold is theirs.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import yaml

from ..account.items import Inventory, Kind
from ..errors import UserError, reading_or_writing
from ..naming import physical_name, stack_of_tag
from ..pulumi_cli.project import PulumiProject
from ..settings import SandboxSettings, SettingsError
from .stacks import Stack, made_by, stack_of, usual

_AT_ONCE: Final = 4
Settings = Mapping[str, Any]
"""Settings by stack, as the files of a project have them."""


@dataclass(frozen=True)
class Project:
    """A project that was asked about."""

    folder: Path
    name: str
    settings: Mapping[str, SandboxSettings]
    gone: frozenset[str] = frozenset()
    """Stacks of which the user says that they are gone."""
    filed: frozenset[str] = frozenset()
    """Stacks that have a file, even one that cannot be read any more."""

    @property
    def bases(self) -> frozenset[str]:
        """What the names of its stacks begin with."""
        return frozenset({self.name, *(each.name for each in self.settings.values())})

    def makes(self, stack: str) -> frozenset[Any]:
        """Return what a stack makes, by name: as its settings say, or as is usual."""
        said = self.settings.get(stack)
        bases = {said.name} if said else self.bases
        known = frozenset(key for base in bases for key in usual(base, stack))
        return known | made_by(said, stack) if said else known


@dataclass(frozen=True)
class Backend:
    """What stacks there are."""

    projects: Sequence[Project]
    stacks: tuple[Stack, ...]
    """The living ones."""
    busy: frozenset[str] = frozenset()
    """Stacks in which an update seems to be under way."""

    def known(self, inventory: Inventory) -> tuple[Stack, ...]:
        """Return all stacks: those that live, and those of the projects of which only traces are left."""
        living = {(each.project, each.name) for each in self.stacks}
        traces: set[tuple[str, str]] = set()
        names = {project.name for project in self.projects}
        for item in inventory.of(Kind.SCRIPT):
            said = [found for mark in item.marks if (found := stack_of_tag(mark))]
            traces |= {each for each in said if each[0] in names}
        traces |= {(each.name, stack) for each in self.projects for stack in (*each.filed, *each.gone)}
        makes = {each.name: each for each in self.projects}
        gone = (
            Stack(
                project,
                stack,
                lives=False,
                said_gone=stack in makes[project].gone,
                makes=makes[project].makes(stack),
            )
            for project, stack in sorted(traces - living)
        )
        return (*self.stacks, *gone)

    def again(self, project: str, stack: str) -> "Backend":
        """Return the same with one stack read anew, which may have come or gone since."""
        for each in self.projects:
            if each.name == project:
                fresh = _read(each, only=stack)
                others = tuple(one for one in self.stacks if (one.project, one.name) != (project, stack))
                return replace(self, stacks=(*others, *fresh.stacks), busy=fresh.busy)
        return self


def read_project(folder: Path, settings: Settings, gone: Iterable[str] = ()) -> Project:
    """Return a project by its folder and the settings that its stack files have."""
    with reading_or_writing(folder / "Pulumi.yaml", "name the folder of a Pulumi project"):
        text = (folder / "Pulumi.yaml").read_text(encoding="utf-8")
    try:
        name = str(yaml.safe_load(text)["name"])
    except (yaml.YAMLError, KeyError, TypeError):
        raise UserError(f"{folder / 'Pulumi.yaml'}: says no name; correct it") from None
    parsed = {stack: found for stack, said in settings.items() if (found := _parsed(said))}
    return Project(folder, name, parsed, frozenset(gone), frozenset(settings))


def _parsed(said: Any) -> SandboxSettings | None:
    """Return settings; None for those that are wrong, as of a stack that is long gone: usual names are left then."""
    try:
        return SandboxSettings.parse(said)
    except (SettingsError, TypeError):
        return None


def read_backend(projects: Sequence[Project]) -> Backend:
    """Return the stacks of the backend; a project of which it has none is refused, as the login may be another one."""
    found = [_read(each) for each in projects]
    stacks = {(each.project, each.name): each for one in found for each in one.stacks}
    for each in found:
        stacks |= {(one.project, one.name): one for one in each.stacks if one.ours}
    for project in projects:
        if not project.gone and not any(one.ours and one.project == project.name for one in stacks.values()):
            raise UserError(
                f"{project.folder}: the backend that pulumi is logged in to has no stack of {project.name}, so "
                "everything would seem to be left behind. Log in where its stacks are, or name those that are gone: "
                "--gone STACK"
            )
    busy = frozenset(name for each in found for name in each.busy)
    return Backend(projects, tuple(stacks.values()), busy)


def _read(project: Project, only: str | None = None) -> Backend:
    pulumi = PulumiProject(project.folder)
    listed = json.loads(pulumi.succeed("stack", "ls", "--all", "--json", "--fully-qualify-stack-names"))
    wanted = [
        each for each in listed if only is None or _parts(each["name"], project.name)[-2:] == (project.name, only)
    ]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        stacks = tuple(pool.map(lambda each: _stack(project, each["name"]), wanted))
    locks = _locks(pulumi) if wanted else frozenset()
    busy = {
        "/".join(parts[-2:])
        for each in wanted
        if (parts := _parts(each["name"], project.name)) and (each.get("updateInProgress") or parts in locks)
    }
    return Backend((project,), stacks, frozenset(busy))


def _parts(name: str, project: str) -> tuple[str, ...]:
    """Return organisation, project and stack; a backend without organisations leaves them out."""
    parts = tuple(name.split("/"))
    return parts if len(parts) > 1 else (project, *parts)


def _stack(project: Project, name: str) -> Stack:
    parts = _parts(name, project.name)
    found = stack_of(parts[-2], parts[-1], PulumiProject(project.folder, name).state())
    if found.project != project.name:
        return replace(found, ours=False)
    scripts = [key.id for key in found.holds if key.kind is Kind.SCRIPT]
    bases = {script.removesuffix(f"-{found.name}") for script in scripts if script.endswith(f"-{found.name}")}
    usual_names = {
        key for base in bases if physical_name(base, found.name) in scripts for key in usual(base, found.name)
    }
    return replace(found, makes=project.makes(found.name) | usual_names)


def _locks(pulumi: PulumiProject) -> frozenset[tuple[str, ...]]:
    """Return the stacks that are locked, where the backend is a folder, which tells it in no other way."""
    url = urlsplit(str(json.loads(pulumi.succeed("whoami", "--json")).get("url", "")))
    if url.scheme != "file":
        return frozenset()
    folder = Path(unquote(url.path)) / ".pulumi" / "locks"
    return frozenset(path.parent.relative_to(folder).parts for path in folder.glob("**/*.json"))
