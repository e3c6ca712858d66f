"""How property values are spelt in a program and in the API; pure.

Programs spell names in camelCase and lists in the plural; the API mostly has snake_case, R2 camelCase. What an answer
has beyond its spelling is ignored, as the real plugin ignores it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_IRREGULAR: Final = {
    "azureAd": "azureAD",
    "excludes": "exclude",
    "githubOrganization": "github-organization",
    "includes": "include",
    "ins": "in",
    "notIns": "not_in",
    "requires": "require",
    "serviceAuth401Redirect": "service_auth_401_redirect",
    "userRiskScores": "user_risk_score",
}


class Spelling:
    """A value that is spelt alike on both sides."""

    def to_api(self, value: Any) -> Any:
        """Spell a program's value as the API does."""
        return value

    def from_api(self, value: Any) -> Any:
        """Spell the API's value as programs do; None where there is nothing."""
        return value

    def normal(self, value: Any) -> Any:
        """Return a form in which values that mean the same are equal."""
        return value

    def strangers(self, value: Any, path: str) -> list[str]:
        """Return the paths of properties that are not known."""
        return []


PLAIN: Final = Spelling()


class JsonText(Spelling):
    """A JSON document that programs hold as text; compared as text, so its spelling counts."""

    def to_api(self, value: Any) -> Any:
        """Parse."""
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError(f"Invalid JSON String Value: {error}") from None

    def from_api(self, value: Any) -> Any:
        """Write without spaces, in the order of the answer."""
        return None if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Items(Spelling):
    """A list."""

    of: Spelling = PLAIN

    def to_api(self, value: Any) -> Any:
        """Spell each."""
        return [self.of.to_api(each) for each in value]

    def from_api(self, value: Any) -> Any:
        """Spell each."""
        return [self.of.from_api(each) for each in value] if isinstance(value, list) else None

    def normal(self, value: Any) -> Any:
        """Bring each into its form."""
        return [self.of.normal(each) for each in value] if isinstance(value, list) else value

    def strangers(self, value: Any, path: str) -> list[str]:
        """Look into each."""
        entries = enumerate(value) if isinstance(value, list) else ()
        return [found for index, each in entries for found in self.of.strangers(each, f"{path}[{index}]")]


class Bag(Items):
    """A list whose order does not count; it is sent sorted."""

    def to_api(self, value: Any) -> Any:
        """Spell each, and sort."""
        return _sorted(super().to_api(value))

    def normal(self, value: Any) -> Any:
        """Bring each into its form, and sort."""
        return _sorted(super().normal(value)) if isinstance(value, list) else value


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=lambda each: json.dumps(each, sort_keys=True, default=repr))


@dataclass(frozen=True)
class Record(Spelling):
    """An object with these properties, each with its name in the API."""

    parts: Mapping[str, tuple[str, Spelling]]

    def to_api(self, value: Any) -> Any:
        """Spell names and values."""
        known = ((self.parts[name], each) for name, each in value.items())
        return {api: spelling.to_api(each) for (api, spelling), each in known if each is not None}

    def from_api(self, value: Any) -> Any:
        """Spell names and values; nulls are as good as absent."""
        if not isinstance(value, dict):
            return None
        found = {name: spelling.from_api(value.get(api)) for name, (api, spelling) in self.parts.items()}
        return {name: each for name, each in found.items() if each is not None}

    def normal(self, value: Any) -> Any:
        """Bring each value into its form."""
        if not isinstance(value, dict):
            return value
        return {name: self.parts[name][1].normal(each) for name, each in value.items() if name in self.parts}

    def strangers(self, value: Any, path: str) -> list[str]:
        """Name what is not a part, here and further in."""
        found = []
        for name, each in value.items() if isinstance(value, dict) else ():
            place = f"{path}.{name}"
            found += self.parts[name][1].strangers(each, place) if name in self.parts else [place]
        return found


def snake(*plain: str, **nested: Spelling) -> Record:
    """An object whose names the API spells in snake_case."""
    spellings = {**dict.fromkeys(plain, PLAIN), **nested}
    return Record({name: (api_name(name), spelling) for name, spelling in spellings.items()})


def same(*plain: str, **nested: Spelling) -> Record:
    """An object whose names the API spells as programs do."""
    spellings = {**dict.fromkeys(plain, PLAIN), **nested}
    return Record({name: (name, spelling) for name, spelling in spellings.items()})


def api_name(name: str) -> str:
    """Return the API's name of a property."""
    return _IRREGULAR.get(name) or re.sub(r"(?<!^)([A-Z])", lambda found: f"_{found[1].lower()}", name)
