"""What a program in another language gives a component, as settings; mistakes are said in its spelling. Pure.

Names of settings are in camel case there; keys of maps are the user's own and stay as they are. Settings decide what
is made, so they are known when the program runs, and as they are kept in clear they are no secrets.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_origin

from pydantic import BaseModel

from ..pulumi_protocol.names import camel
from ..pulumi_protocol.names import path as joined
from ..pulumi_protocol.values import UNKNOWN, Path, Secret, revealed
from ..settings import SandboxSettings, SettingsError
from ..settings.base import Section
from ..settings.models import bare, model_in

Arguments = TypeVar("Arguments", bound=Section)
SECRETS: Final = "secrets"
BUILD_SECRETS: Final = "buildSecrets"
NOT_SETTINGS: Final = frozenset({"secrets"})
"""The settings name the Worker's secrets; here their values do."""
_NOT_KNOWN: Final = "is not known before the run, and settings decide what is made; give a plain value"
_SECRET: Final = "is a secret, and settings are kept in clear; give "  # noqa: S105
_IN_SECRETS: Final = "its value in `secrets` instead"
_IN_CLEAR: Final = "a value that is none"
_TEXT: Final = "expected text"


def settings(given: Mapping[str, Any], secrets: list[str], account_id: str | None) -> SandboxSettings:
    """Return the settings of a stack; a SettingsError names all that is wrong with them."""
    document = _readable(SandboxSettings, given, _IN_SECRETS)
    defaults = {"account_id": account_id} if account_id else {}
    return SandboxSettings.parse({**document, "secrets": secrets}, **defaults)


def plain(model: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a part that are known; a SettingsError names all that is wrong with them."""
    return model.parse(_readable(model, given, _IN_CLEAR))


def text(name: str, given: Any) -> Any:
    """Return a value that a preview may not know; a SettingsError says what is wrong with it."""
    found = revealed(given)
    if found is not UNKNOWN and not isinstance(found, str):
        raise SettingsError([f"{camel(name)}: {'is required; add it' if found is None else _TEXT}"])
    return found


def secrets(name: str, given: Any) -> dict[str, Any]:
    """Return the values of a map of secrets; a SettingsError says what is wrong with it."""
    found = revealed(given)
    if found is UNKNOWN:
        raise SettingsError([f"{name}: the names are not known before the run; give a map in which values alone wait"])
    if not isinstance(found or {}, dict):
        raise SettingsError([f"{name}: expected a mapping of names to values"])
    known = {key: value for key, value in (found or {}).items() if value is not None}
    if wrong := [key for key, value in known.items() if not (value is UNKNOWN or isinstance(value, str))]:
        raise SettingsError([f"{name}.{key}: {_TEXT}" for key in wrong])
    return known


def respelled(problem: str) -> str:
    """Return a mistake with the names of settings, and places in lists, as the program writes them."""
    head, colon, text = problem.partition(": ")
    if colon and " " not in head:
        head = re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", head)
    return in_its_spelling(f"{head}{colon}{text}")


def in_its_spelling(text: str) -> str:
    """Return a text with the names of settings in camel case."""
    return _spelling().sub(lambda found: camel(found[0]), text)


def no_section(model: type[BaseModel], name: str) -> bool:
    """Whether a setting is there unless `null` takes it away: languages that cannot say null say `false`."""
    field = model.model_fields[name]
    default = field.get_default(call_default_factory=True)
    return type(None) in get_args(field.annotation) and isinstance(default, BaseModel)


def _readable(model: type[BaseModel], given: Mapping[str, Any], instead: str) -> Any:
    """Return what a program gives, under the names of the model, if all of it can be settings."""
    found = list(_unusable(given, (), instead))
    document = _document(model, given, (), found)
    if found:
        raise SettingsError([f"{joined(*path)}: {words}" for path, words in found])
    return document


def _unusable(value: Any, path: Path, instead: str) -> Iterator[tuple[Path, str]]:
    if value is UNKNOWN:
        yield path, _NOT_KNOWN
    elif isinstance(value, Secret):
        yield path, f"{_SECRET}{instead}"
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _unusable(each, (*path, key), instead)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _unusable(each, (*path, index), instead)


def _document(model: type[BaseModel], value: Any, path: Path, wrong: list[tuple[Path, str]]) -> Any:
    """Name settings as the models do; what is wrong stays as it is, for the models to say so.

    The names of Python are no second way to say the same.
    """
    if not isinstance(value, Mapping):
        return value
    names = {camel(name): name for name in model.model_fields}
    wrong += [
        ((*path, camel(key)), "is written like this here, not as in Python")
        for key in value
        if key in model.model_fields and key not in names
    ]
    return {
        names.get(key, key): _inner(model, names[key], each, (*path, key), wrong) if key in names else each
        for key, each in value.items()
    }


def _inner(model: type[BaseModel], name: str, value: Any, path: Path, wrong: list[tuple[Path, str]]) -> Any:
    annotation = model.model_fields[name].annotation
    section = model_in(annotation)
    if value is False and no_section(model, name):
        return None
    if section is None:
        return value
    form = get_origin(bare(annotation))
    if form is dict and isinstance(value, dict):
        return {key: _document(section, each, (*path, key), wrong) for key, each in value.items()}
    if form is tuple and isinstance(value, list):
        return [_document(section, each, (*path, index), wrong) for index, each in enumerate(value)]
    return _document(section, value, path, wrong)


@cache
def _spelling() -> re.Pattern[str]:
    names = {name for model in _models(SandboxSettings) for name in model.model_fields if "_" in name}
    return re.compile(rf"(?<![\w-])({'|'.join(sorted(names, key=len, reverse=True))})(?![\w-])")


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        if inner := model_in(field.annotation):
            yield from _models(inner)
