"""The script of a shell: a template with what can be typed."""

import argparse
import re
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import words

TEMPLATES: Final = Path(__file__).with_name("templates")


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script that a shell reads to complete a command."""
    environment = Environment(  # noqa: S701 - no markup: `quoted` and `described` quote what shells would act on
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"quoted": quoted, "described": described, "fish": fish}
    facts = {"program": parser.prog, "function": re.sub(r"\W", "_", parser.prog), "commands": [*words.commands(parser)]}
    return environment.get_template(f"{shell}.j2").render(**facts)


def quoted(text: str) -> str:
    """Quote for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def described(text: str) -> str:
    """Take its meaning from what divides the parts of a description in zsh."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def fish(text: str) -> str:
    """Quote for fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
