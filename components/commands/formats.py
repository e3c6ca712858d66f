"""The option `--format`, which every command has: text for people, JSON for programs, and what else it offers."""

import argparse
import json
from typing import Any, Final

TEXT: Final = "text"
JSON: Final = "json"


def add_format(parser: argparse.ArgumentParser, *more: str, help: str = "how the outcome is printed") -> None:  # noqa: A002 - argparse's word
    """Declare the option; further formats of a command come after the two that all have."""
    parser.add_argument("--format", choices=[TEXT, JSON, *more], default=TEXT, help=help)


def as_json(found: Any) -> str:
    """Return a document for programs."""
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
