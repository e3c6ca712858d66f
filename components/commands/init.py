"""The command `init`: a small working project in a folder, from answers to questions or from options.

Nothing that is there already is touched, and unless everything can be written nothing is. A person at a terminal is
asked what was not given; where none sits, or with `--yes`, what is usual is taken.
"""

import argparse
import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ..errors import UserError, reading_or_writing
from ..init import writing
from ..init.answers import Answers
from ..init.questions import QUESTIONS, Question, missing, parts, settled
from .exits import Exit, interruptible
from .formats import JSON, add_format, as_json

_ACCOUNT: Final = "Account and token are taken from CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN."
_LOCAL: Final = "Without an account, on this machine: `sandbox-stack local up`."
_KEY: Final = (
    "Nobody may call yet: `sandbox-stack key --tenant team --scopes '*'` makes a key and prints the lines for {file}."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: where, how, and an option for every question."""
    parser.add_argument("folder", nargs="?", default=".", help="where to write; the current folder if left out")
    parser.add_argument("--yes", action="store_true", help="ask nothing: take what is usual for all that is not given")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    add_format(parser)
    questions = parser.add_argument_group("answers", "What is not given is asked, or what is usual is taken.")
    for question in QUESTIONS:
        _add_option(questions, question)
    questions.add_argument(
        "--package", metavar="REQUIREMENT", type=_one_line, help="line of requirements.txt that brings this package"
    )


def _one_line(text: str) -> str:
    if not text or not text.isprintable():
        raise argparse.ArgumentTypeError("give one line")
    return text


def _add_option(group: Any, question: Question) -> None:
    usual = {"default": argparse.SUPPRESS, "dest": question.field, "help": question.words}
    if question.kind is bool:
        group.add_argument(question.option, action=argparse.BooleanOptionalAction, **usual)
    elif question.kind is tuple:
        group.add_argument(question.option, action="append", metavar="LIST", **usual)
    elif question.choices:
        group.add_argument(question.option, choices=question.choices, **usual)
    else:
        group.add_argument(question.option, type=_reader(question), metavar=question.kind.__name__.upper(), **usual)


def _reader(question: Question) -> Any:
    def read(text: str) -> Any:
        try:
            return question.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    folder = Path(arguments.folder)
    try:
        with interruptible():
            answers, files = _planned(arguments, folder)
            if not arguments.dry_run:
                _write(folder, files)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; nothing was written.\n")
        return Exit.INTERRUPTED
    if arguments.dry_run:
        return _show(arguments.format, folder, files)
    return _report(arguments.format, folder, list(files), answers)


def _planned(arguments: argparse.Namespace, folder: Path) -> tuple[Answers, dict[str, str]]:
    # Loaded here: none of it is needed to tell what the options are.
    from ..init import origin  # noqa: PLC0415
    from ..init.plan import plan  # noqa: PLC0415

    answers = _answers(arguments, folder)
    files = plan(answers, arguments.package or origin.requirement())
    with reading_or_writing(folder, "nothing was written; name another folder"):
        found = writing.in_the_way(folder, files)
    if found:
        listed = "\n".join(f"  {folder / each}" for each in found)
        raise UserError(f"These are there already and stay as they are; nothing was written:\n{listed}")
    return answers, files


def _write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        writing.write(folder, files)
    except OSError as error:
        place = error.filename or folder
        raise UserError(f"{place}: cannot be written ({error.strerror}); nothing was written") from None


def _answers(arguments: argparse.Namespace, folder: Path) -> Answers:
    """Return the answers, asked for where a person can be asked; raise UserError where they cannot be used."""
    from ..init import meaning  # noqa: PLC0415 - loads pydantic
    from ..init.asking import asked  # noqa: PLC0415 - loads pydantic

    given = _given(vars(arguments))
    with reading_or_writing(folder, "nothing was written; name another folder"):
        name = folder.resolve().name
    answers = settled(given, name)
    unused = [each for each in QUESTIONS if each.field in given and not each.applies(answers)]
    problems = meaning.wrong(answers) or [f"{each.option}: has no effect with the other answers" for each in unused]
    if not problems and not arguments.yes and sys.stdin.isatty():
        return asked(given, name, _listen, _say)
    problems += [f"{each.option} is needed: {each.words}" for each in missing(answers)]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise UserError(f"The project cannot be made as asked; nothing was written:\n{listed}")
    return answers


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    found = {each.field: options[each.field] for each in QUESTIONS if each.field in options}
    lists = {
        each.field: parts(found[each.field], each) for each in QUESTIONS if each.kind is tuple and each.field in found
    }
    return found | lists


def _listen() -> str:
    try:
        return input()
    except EOFError:
        raise UserError("\nThe answers ended; nothing was written.") from None


def _say(text: str) -> None:
    # Not what the command gives out: that may be read by a program.
    sys.stderr.write(text)
    sys.stderr.flush()


def _show(form: str, folder: Path, files: Mapping[str, str]) -> Exit:
    if form == JSON:
        sys.stdout.write(as_json({"folder": str(folder), "written": False, "files": files}))
        return Exit.DONE
    sys.stdout.write(f"{_listing('Would write', folder, files)}\n")
    for name, content in files.items():
        sys.stdout.write(f"==> {name}\n{content}\n")
    return Exit.DONE


def _listing(verb: str, folder: Path, files: Mapping[str, str] | list[str]) -> str:
    return "\n".join([f"{verb} in {folder}:", *(f"  {name}" for name in files), ""])


def _report(form: str, folder: Path, files: list[str], answers: Answers) -> Exit:
    from ..check.project import check_path  # noqa: PLC0415 - reads what was written
    from ..check.report import as_text  # noqa: PLC0415
    from ..rules import MANDATORY  # noqa: PLC0415

    result = check_path(folder, today=datetime.now(UTC).date())
    following = _next(folder, answers.stack)
    if form == JSON:
        findings = [vars(each) for each in result.findings]
        told = {"folder": str(folder), "written": True, "files": files, "findings": findings, "next": following}
        sys.stdout.write(as_json(told))
    else:
        hints = [
            _ACCOUNT,
            _LOCAL,
            *([_KEY.format(file=f"Pulumi.{answers.stack}.yaml")] if answers.callers == "keys" else []),
        ]
        lines = ["", "Next:", *(f"  {line}" for line in following), "", *hints, ""]
        sys.stdout.write(
            _listing("Wrote", folder, files) + as_text(result.findings, result.projects) + "\n".join(lines)
        )
    return Exit.NO if any(each.severity == MANDATORY for each in result.findings) else Exit.DONE


def _next(folder: Path, stack: str) -> list[str]:
    """Return the two commands that lead on from here."""
    from ..init.plan import INSTALL  # noqa: PLC0415 - loads jinja2

    there = [] if folder.resolve() == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]
    return [" && ".join([*there, INSTALL]), f"pulumi stack init {stack} && pulumi up"]
