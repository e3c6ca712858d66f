"""What all sections share: frozen models whose mistakes are told in our words, with path, rule and remedy.

A validator raises `ValueError` with the rule and the remedy in one sentence; the path is added here. Of what holds
between settings, a `@rule`, all mistakes are told as well. Values never appear in messages of sections that hold
secrets.
"""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from textwrap import indent
from typing import Any, ClassVar, Final, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from ..errors import UserError

_KINDS: Final[Mapping[str, str]] = {
    "bool_type": "expected true or false",
    "dict_type": "expected a mapping of names to values",
    "float_type": "expected a number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "missing": "is required; add it",
    "model_type": "expected a mapping of settings",
    "model_attributes_type": "expected a mapping of settings",
    "string_type": "expected text; put quotes around it",
}


class SettingsError(UserError):
    """Every mistake in a settings document, one line each."""

    def __init__(self, problems: list[str]) -> None:
        noun = "mistake" if len(problems) == 1 else "mistakes"
        super().__init__(
            f"{len(problems)} {noun} in the sandbox settings:\n" + "\n".join(indent(line, "  ") for line in problems)
        )
        self.problems = problems


class _SeveralError(ValueError):
    """What several rules of a section say."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__("; ".join(texts))
        self.texts = texts


Rule = TypeVar("Rule", bound=Callable[[Any], None])


def rule(check: Rule) -> Rule:
    """Mark a method of a section as a rule between its settings: it raises ValueError where it is broken."""
    vars(check)["is_rule"] = True
    return check


class Section(BaseModel):
    """A part of the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @classmethod
    def parse(cls, document: Any, **defaults: Any) -> Self:
        """Validate a document as read from configuration; raise SettingsError with everything that is wrong.

        `defaults` count where the document is silent; a program's configuration may have no document at all.
        """
        if document is None or isinstance(document, Mapping):
            document = {**defaults, **(document or {})}
        try:
            # By way of JSON: there a list may become a tuple while text still does not become a number.
            return cls.model_validate_json(json.dumps(document, default=str), strict=True)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            raise SettingsError([line for problem in problems for line in _lines(problem, cls)]) from None

    _rules: ClassVar[tuple[Callable[[Any], None], ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._rules += tuple(each_ for each_ in vars(cls).values() if getattr(each_, "is_rule", False))

    @model_validator(mode="after")
    def _keeps_the_rules(self) -> Self:
        broken = []
        for check in self._rules:
            try:
                check(self)
            except ValueError as error:
                broken.append(str(error))
        if broken:
            raise _SeveralError(broken)
        return self


def matching(pattern: str, rule: str) -> AfterValidator:
    """Make a validator that demands a pattern and says the rule in words."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise ValueError(rule)
        return value

    return AfterValidator(check)


def each(check: Callable[[str], None]) -> AfterValidator:
    """Make a validator of a list or mapping that calls `check` for every item or key; its ValueErrors are gathered."""

    def check_all(values: Any) -> Any:
        wrong = []
        for value in values:
            try:
                check(value)
            except ValueError as error:
                wrong.append(str(error))
        if wrong:
            raise ValueError("; ".join(wrong))
        return values

    return AfterValidator(check_all)


def is_binding_name(name: str) -> None:
    """Refuse a name that a Worker's code could not use; for `each`."""
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"{name!r} is not a name for code; use letters, digits and underscores")


def _lines(problem: Any, model: type[BaseModel]) -> list[str]:
    path = ".".join(str(part) for part in problem["loc"])
    error = problem.get("ctx", {}).get("error")
    texts = error.texts if isinstance(error, _SeveralError) else [_words(problem, model)]
    return [f"{path}: {text}" if path else text for text in texts]


def _words(problem: Any, model: type[BaseModel]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(problem["loc"], model)
    if kind == "value_error":
        return str(context["error"])
    if kind in {"literal_error", "enum"}:
        # YAML takes off for false, 0.12 for a number and so on.
        mistaken = "'" in context["expected"] and not isinstance(problem["input"], str)
        return f"expected {context['expected']}{'; put quotes around it' if mistaken else ''}"
    if kind in _KINDS:
        return _KINDS[kind]
    message = problem["msg"].removeprefix("Input ")
    return f"{message[0].lower()}{message[1:]}"


def _unknown(location: tuple[Any, ...], model: type[BaseModel]) -> str:
    """Name the settings there are beside an unknown one, the likeliest first."""
    known = sorted(_section_at(location[:-1], model).model_fields)
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"no such setting; did you mean {close[0]}?" if close else f"no such setting; known are {', '.join(known)}"


def _section_at(location: tuple[Any, ...], model: type[BaseModel]) -> type[BaseModel]:
    for part in location:
        field = model.model_fields.get(str(part))
        # A part that is no field is a key of a mapping or an index: the model found last is that of its values.
        found = _model_in(field.annotation) if field else None
        model = found or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = getattr(annotation, "__args__", ())
    return next((found for each_ in reversed(inner) if (found := _model_in(each_))), None)
