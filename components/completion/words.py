"""What can be typed after the command, read off its parsers."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

FILES, FOLDERS, WORDS, NOTHING = "files", "folders", "words", "nothing"
_KINDS: Final[Mapping[str, str]] = {"FILE": FILES, "PATH": FILES, "FOLDER": FOLDERS}


@dataclass(frozen=True)
class Value:
    """What an option or an argument takes."""

    kind: str
    """`files`, `folders`, `words` of which any can be chosen, or `nothing` that could be proposed."""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """An option; one without a value is a switch."""

    name: str
    help: str
    value: Value | None
    repeats: bool = False


@dataclass(frozen=True)
class Command:
    """A command with what may follow it."""

    name: str
    summary: str
    synopsis: str
    """Its arguments by name; those in brackets may be left out."""
    options: tuple[Option, ...]
    arguments: tuple[Value, ...]


def commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """Return every command of a parser."""
    subparsers = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001 - argparse tells it in no other way
    for action in subparsers:
        for name, own in action.choices.items():
            actions = own._actions  # noqa: SLF001
            options = tuple(_option(each, flag) for each in actions for flag in _long(each))
            arguments = [each for each in actions if not each.option_strings]
            synopsis = " ".join(map(_named, arguments))
            yield Command(name, own.description or "", synopsis, options, tuple(map(_value, arguments)))


def _named(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest).upper()
    return f"[{name}]" if action.nargs == "?" else name


def _long(action: argparse.Action) -> Iterator[str]:
    return (flag for flag in action.option_strings if flag.startswith("--"))


def _option(action: argparse.Action, flag: str) -> Option:
    value = None if action.nargs == 0 else _value(action)
    words = f"not {flag.replace('--no-', '--')}" if flag.startswith("--no-") else action.help or ""
    return Option(flag, words, value, isinstance(action, argparse._AppendAction))  # noqa: SLF001


def _value(action: argparse.Action) -> Value:
    if action.choices:
        return Value(WORDS, tuple(map(str, action.choices)))
    return Value(_KINDS.get(str(action.metavar or action.dest).upper(), NOTHING))
