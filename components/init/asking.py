"""Asking a person: one question after the other, again where the answer cannot be used."""

from collections.abc import Callable, Mapping
from typing import Any

from . import meaning
from .answers import Answers
from .questions import QUESTIONS, Question, settled, shown


def asked(given: Mapping[str, Any], folder: str, listen: Callable[[], str], say: Callable[[str], None]) -> Answers:
    """Ask what was not given and applies, and return all answers.

    What was given has to be right by itself: every mistake found here is one of the answer before it.
    """
    known = dict(given)
    for question in QUESTIONS:
        if question.field not in given and question.applies(settled(known, folder)):
            known[question.field] = _answer(question, known, folder, listen, say)
    return settled(known, folder)


def _answer(
    question: Question,
    known: Mapping[str, Any],
    folder: str,
    listen: Callable[[], str],
    say: Callable[[str], None],
) -> Any:
    usual = getattr(settled(known, folder), question.field)
    hint = f" ({'/'.join(question.choices)})" if question.choices else ""
    while True:
        say(f"{question.words}{hint} [{shown(usual)}]: ")
        text = listen().strip()
        try:
            value = question.read(text) if text else usual
        except ValueError as error:
            say(f"  {error}\n")
            continue
        problems = ["there has to be an answer"] if question.needed and not value else []
        problems += meaning.wrong(settled({**known, question.field: value}, folder))
        if not problems:
            return value
        for problem in problems:
            say(f"  {problem}\n")
