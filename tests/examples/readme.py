"""What a README of an example shows: commands, and what each of them prints.

A block of the language `console` has commands, each after `$ `, and below each what it prints. Names in angle brackets
stand for what differs from run to run, and a line with nothing but an ellipsis for any number of lines.
"""

import re
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PLACEHOLDERS: Final = {"<port>": r"\d+", "<account>": "[0-9a-f]+", "<seconds>": r" *\d+\.\d"}
_ANY_LINES: Final = "…"
_BLOCK: Final = r"^```{}\n(.*?)^```"


@dataclass(frozen=True)
class Step:
    """A command, and what is to come of it."""

    command: str
    shown: tuple[str, ...]

    def problem(self, printed: str, code: int) -> str:
        """What is wrong with what came; empty if nothing is."""
        if code:
            return f"`{self.command}` ended with {code} and printed:\n{printed}"
        wanted = "".join(r"(?:.*\n)*?" if line == _ANY_LINES else f"{_pattern(line)}\n" for line in self.shown)
        lines = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
        if re.fullmatch(wanted, lines):
            return ""
        return "\n".join([f"`{self.command}` was to print", *self.shown, "and printed", lines])


def _pattern(line: str) -> str:
    escaped = re.escape(line)
    for placeholder, pattern in _PLACEHOLDERS.items():
        escaped = escaped.replace(re.escape(placeholder), pattern)
    return escaped


def blocks(readme: Path, language: str) -> list[str]:
    """The blocks of a language."""
    return re.findall(_BLOCK.format(language), readme.read_text(), re.MULTILINE | re.DOTALL)


def steps(readme: Path) -> list[Step]:
    """All commands, in their order."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(readme, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif line.strip():
            found[-1][1].append(line.rstrip())
    return [Step(command, tuple(shown)) for command, shown in found]


def run(wanted: Sequence[Step], folder: Path, env: Mapping[str, str]) -> list[str]:
    """Type the commands into one shell, and give what is wrong with what came of them."""
    mark = f"--{secrets.token_hex(8)}"
    # Commands go on after one that fails, as for somebody who types them.
    script = "".join(f"{each.command}\nprintf '%s%s\\n' {mark} $?\n" for each in wanted)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    *printed, rest = re.split(rf"{mark}(\d+)\n", done.stdout)
    outcomes = list(zip(printed[::2], map(int, printed[1::2]), strict=True))
    assert len(outcomes) == len(wanted), f"the shell has ended early: {rest}\n{done.stderr}"
    problems = [each.problem(*outcome) for each, outcome in zip(wanted, outcomes, strict=True)]
    found = [each for each in problems if each]
    return [*found, f"on standard error:\n{done.stderr}"] if found else []
