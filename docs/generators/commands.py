"""The part of `docs/commands.md` that is made from the parsers: how commands end, and what each of them takes."""

from collections.abc import Iterator

from components import cli
from components.commands.exits import MEANINGS
from components.completion.words import Command, Option, commands


def text() -> str:
    """Return the tables."""
    known = {each.name: each for each in commands(cli.parser(*cli.COMMANDS))}
    lines = ["## How commands end", "", "| Code | |", "|---|---|"]
    lines += [f"| {code.value} | {meaning} |" for code, meaning in MEANINGS.items()]
    for group in cli.GROUPS.values():
        for name in group:
            lines += ["", *_command(known[name])]
    return "\n".join(lines) + "\n"


def _command(command: Command) -> Iterator[str]:
    yield f"## `{f'{command.name} {command.synopsis}'.strip()}`"
    yield ""
    yield f"{command.summary[0].upper()}{command.summary[1:]}."
    yield ""
    yield from ("| Option | Values | |", "|---|---|---|")
    yield from (_row(option) for option in command.options if option.name != "--help")


def _row(option: Option) -> str:
    values = ", ".join(f"`{word}`" for word in option.value.words) if option.value else ""
    again = "; can be repeated" if option.repeats and "repeat" not in option.help else ""
    return f"| `{option.name}` | {values} | {option.help}{again} |"
