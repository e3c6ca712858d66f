"""What one row of the table says about a resource type: its properties, its calls, its id.

A property is where it says: in the body, in the path or in a header. One that is `computed` is chosen by the API when
the program says nothing; one with a default is sent with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

from .spellings import PLAIN, Spelling, api_name

Values = dict[str, Any]

MISSING_ID: Final = "missing ID"
"""What the real plugin records for a resource whose answer names no id."""


class Place(Enum):
    """Where a property travels."""

    BODY = auto()
    PATH = auto()
    HEADER = auto()


class Reading(Enum):
    """What a refresh asks for."""

    WHOLE = auto()
    EXISTENCE = auto()
    """One GET, of which only a 404 counts."""
    NOTHING = auto()


@dataclass(frozen=True)
class Input:
    """A property that a program sets."""

    spelling: Spelling = PLAIN
    required: bool = False
    replaces: bool = False
    computed: bool = False
    default: Any = None
    place: Place = Place.BODY
    written_as: str = ""
    read_as: str = ""
    echoed: bool = False
    """The API's choice is sent back to it with every update."""
    follows: str = ""
    """The property that the API derives this one from: where that changes, this one is not sent back."""
    forgotten: bool = False
    """One that is taken away is left out of the request, and not sent as null."""
    ignored: bool = False
    """A change is never noticed."""
    from_writes: bool = False
    """Answers to writes overrule what the program said."""
    keeps: Callable[[Any, Any, Values], bool] | None = None
    """Whether, of a state, a value (first) means the one that was read (second)."""
    suffices: Callable[[Any, Any], bool] = lambda _old, _new: False
    """Whether a state's value (first) will do for what the program says (second), although it differs."""

    def name_in_bodies(self, name: str) -> str:
        """Return the name that requests use."""
        return self.written_as or api_name(name)

    def name_in_answers(self, name: str) -> str:
        """Return the name that answers use."""
        return self.read_as or self.name_in_bodies(name)


@dataclass(frozen=True)
class Output:
    """A property that only the API sets."""

    spelling: Spelling = PLAIN
    read_as: str = ""
    lasting: bool = True
    """An update does not change it, so a preview knows it."""
    secret: bool = False
    """Told once, by the creation; kept from then on."""

    def name_in_answers(self, name: str) -> str:
        """Return the name that answers use."""
        return self.read_as or api_name(name)


@dataclass(frozen=True)
class Kind:
    """A resource type. Paths name properties; `{owner}` is the account or zone, `{id}` the resource's id."""

    name: str
    path: str
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output] = field(default_factory=dict)
    one: str = ""
    create: tuple[str, str] = ("POST", "")
    update: str = "PUT"
    id_from: str = "id"
    """The field of the answer that is the id, `=name` for a property of the resource, or nothing."""
    reading: Reading = Reading.WHOLE
    deletes: bool = True
    empty_delete: bool = False
    """Takes an answer without a body to its DELETE."""
    headers: Mapping[str, str] = field(default_factory=dict)
    update_headers: Mapping[str, str] = field(default_factory=dict)
    update_body: bool = True
    bare: str = ""
    """The body is this property alone."""
    imports: tuple[str, ...] = ()
    schema_version: str = "500"
    """What states are marked with, so that the real plugin can go on with them."""
    completed: Callable[[Values], Values] = dict
    """Fills in what follows from what the program says."""
    problem: Callable[[Values], tuple[str, str] | None] = lambda _values: None
    """Finds the property, and the reason, for which the real plugin refuses before any call."""

    @property
    def token(self) -> str:
        """Return the type token."""
        return f"cloudflare:index/{self.name[0].lower()}{self.name[1:]}:{self.name}"

    @property
    def one_path(self) -> str:
        """Return the path of a single resource."""
        return self.one or self.path + "/{id}"

    @property
    def create_path(self) -> str:
        """Return the path that the creation is sent to."""
        return self.create[1] or self.path


ACCOUNT: Final = Input(required=True, replaces=True, place=Place.PATH)
ZONE: Final = Input(required=True, replaces=True, place=Place.PATH)
REQUIRED: Final = Input(required=True)
OPTIONAL: Final = Input()
CHOSEN: Final = Input(computed=True)
MOVING: Final = Output(lasting=False)


def optional(*names: str) -> dict[str, Input]:
    """Return properties that may be left out."""
    return dict.fromkeys(names, OPTIONAL)


def chosen(*names: str) -> dict[str, Input]:
    """Return properties that the API chooses when they are left out."""
    return dict.fromkeys(names, CHOSEN)
