"""The files of a new project, from answers: every file by its path, with its content. Nothing is written here."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..bundle import dockerfile, packaged
from . import meaning
from .answers import Answers

TEMPLATES: Final = Path(__file__).with_name("templates")
SCHEMA: Final = ".venv/share/pulumi-cloudflare-sandbox/settings.schema.json"
"""Where the package puts the schema of the settings when it is installed into a project's environment."""
INSTALL: Final = "python3 -m venv .venv && .venv/bin/pip install --quiet --requirement requirements.txt"
"""Not `pulumi install`: that refuses a project whose plugin's folder, inside the environment, is not there yet."""
_PIPELINES: Final = {
    "github": (".github/workflows/sandbox.yml", "github-actions.yml"),
    "gitlab": (".gitlab-ci.yml", "gitlab-ci.yml"),
}


def plan(answers: Answers, package: str) -> dict[str, str]:
    """Return the files.

    Args:
        answers: what the project is to be; right by `meaning.wrong`.
        package: the line of requirements.txt that brings this package.
    """
    return dict(sorted(_files(answers, package)))


def program(name: str, package: str) -> dict[str, str]:
    """Return what every project has beside its stack files; `package` is the line that brings this package."""
    return {
        "Pulumi.yaml": _rendered("Pulumi.yaml.j2", {"name": name}),
        "__main__.py": _rendered("program.py.j2", {}),
        "requirements.txt": _rendered("requirements.txt.j2", {"package": package, "pins": _pins()}),
    }


def _pins() -> dict[str, str]:
    """Return the versions that this package is tested with."""
    pins = packaged.file("requirements.txt").read_text(encoding="utf-8")
    return dict(line.split("==") for line in pins.splitlines() if line and not line.startswith("#"))


def _files(answers: Answers, package: str) -> Iterator[tuple[str, str]]:
    facts = {
        "answers": answers,
        "settings": meaning.settings(answers),
        "pins": _pins(),
        "schema": SCHEMA,
        "install": INSTALL,
    }
    yield from program(answers.name, package).items()
    yield f"Pulumi.{answers.stack}.yaml", _rendered("stack.yaml.j2", facts)
    yield ".gitignore", _rendered("gitignore.j2", facts)
    if answers.own_worker:
        yield from _worker(answers, facts)
    if answers.dockerfile:
        yield meaning.DOCKERFILE, dockerfile.render(meaning.recipe(answers), packaged.folder("images"))
    if answers.pipeline in _PIPELINES:
        path, name = _PIPELINES[answers.pipeline]
        yield path, (packaged.folder("pipelines") / name).read_text(encoding="utf-8")
    if answers.devcontainer:
        yield ".devcontainer/devcontainer.json", _rendered("devcontainer.json.j2", facts)


def _worker(answers: Answers, facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("package.json", "package-lock.json", "tsconfig.json"):
        yield f"worker/{name}", _rendered(f"worker/{name}", facts)
    yield "worker/.npmrc", _rendered("worker/npmrc", facts)
    yield meaning.ENTRY, _rendered("worker/index.ts.j2", facts)
    yield "worker/src/callers.ts", _rendered(f"worker/{answers.callers}.ts.j2", facts)


def _rendered(template: str, facts: dict[str, Any]) -> str:
    return _templates().get_template(template).render(**facts)


@cache
def _templates() -> Environment:
    # No markup is made: what goes in has forms that can be nothing but values, and YAML is written by its library.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["yaml"] = _yaml
    return environment


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120).rstrip()
