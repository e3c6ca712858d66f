"""The questions of `init`, in order. Each is also an option; it is asked where it applies and was not given."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ..platform import sdk
from ..platform.containers import INSTANCE_TYPES
from ..platform.storage import STORES
from .answers import Answers

NONE: Final = "none"
"""The word for nothing, where an empty answer means what is usual."""
_BETWEEN: Final = re.compile(r"[\s,]+(?![^\[]*\])")
"""What divides the items of a list; a comma in the brackets of a Python package's extras does not."""
_LONGEST_NAME: Final = 32


@dataclass(frozen=True)
class Question:
    """A question, for a person and as an option."""

    field: str
    """Field of `Answers` that it fills."""
    words: str
    choices: tuple[str, ...] = ()
    applies: Callable[[Answers], bool] = lambda _: True
    usual: Callable[[Answers], Any] | None = None
    """What is taken if nothing is said; that of `Answers` if left out."""
    needed: bool = False
    """Whether there has to be an answer."""

    @property
    def option(self) -> str:
        """Return the name of the option."""
        return f"--{self.field.replace('_', '-')}"

    @property
    def kind(self) -> type:
        """Return the type of its answers."""
        return type(getattr(Answers(), self.field))

    def read(self, text: str) -> Any:
        """Return the answer that a text means; raise ValueError with the rule where it means none."""
        if self.kind is tuple:
            return () if text == NONE else tuple(filter(None, _BETWEEN.split(text)))
        if self.kind is bool:
            return _yes_or_no(text)
        if self.kind is int:
            return _whole_number(text)
        if self.choices and text not in self.choices:
            raise ValueError(f"choose one of {', '.join(self.choices)}")
        return "" if text == NONE and not self.choices else text


def shown(value: Any) -> str:
    """Write an answer as it could be given."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (" ".join(value) if isinstance(value, tuple) else str(value)) or NONE


def name_from(folder: str) -> str:
    """Return a name for a project in a folder of this name; empty where nothing of it can be in one."""
    plain = re.sub(r"[^a-z0-9]+", "-", folder.lower()) if folder.isascii() else ""
    return plain.lstrip("-0123456789")[:_LONGEST_NAME].strip("-")


def settled(given: Mapping[str, Any], folder: str) -> Answers:
    """Return the answers when nobody is asked: what was given, and what is usual with it."""
    answers = Answers(name=name_from(folder))
    for question in QUESTIONS:
        if question.field in given:
            answers = replace(answers, **{question.field: given[question.field]})
        elif question.usual and question.applies(answers):
            answers = replace(answers, **{question.field: question.usual(answers)})
    return answers


def missing(answers: Answers) -> Iterator[Question]:
    """Return the questions that have to have an answer, and have none."""
    return (each for each in QUESTIONS if each.needed and each.applies(answers) and not getattr(answers, each.field))


def _yes_or_no(text: str) -> bool:
    if text.lower() not in {"y", "yes", "n", "no"}:
        raise ValueError("answer yes or no")
    return text.lower().startswith("y")


def _whole_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError("give a whole number")
    return int(text)


def _installs(manager: str) -> Callable[[Answers], bool]:
    """Whether the chosen image has a package manager."""

    def applies(answers: Answers) -> bool:
        variant = sdk.VARIANTS.get(answers.variant)
        return variant is not None and {"apt": variant.debian, "pip": variant.python, "npm": variant.node}[manager]

    return applies


def _has_host(answers: Answers) -> bool:
    return bool(answers.hostname)


def _uses_access(answers: Answers) -> bool:
    return answers.callers == "access"


QUESTIONS: Final = (
    Question("name", "Name of the project, with which the names of all that is made begin", needed=True),
    Question("stack", "Name of the first stack, as Pulumi calls one deployment of a project"),
    Question("environment", "Protect what holds data (lasting), or let destroy remove it", ("throw-away", "lasting")),
    Question("worker", "The Worker of this package, or one of your own to begin with", ("ours", "own")),
    Question("variant", "Image to build on", tuple(sdk.available(sdk.SDK_VERSION))),
    Question("apt", "Debian packages, name=version", applies=_installs("apt")),
    Question("pip", "Python packages, name==version", applies=_installs("pip")),
    Question("npm", "npm packages, name@version", applies=_installs("npm")),
    Question("dockerfile", "Write all that as a Dockerfile of your own"),
    Question("instance_type", "Size of a sandbox", tuple(INSTANCE_TYPES)),
    Question("max_instances", "Most sandboxes at a time"),
    Question("hostname", "Host below which previews answer; none for no previews"),
    Question("zone", "Zone that holds it", applies=_has_host, usual=lambda answers: answers.hostname),
    Question("api_hostname", "Host of the API", applies=_has_host, usual=lambda answers: f"api.{answers.hostname}"),
    Question("callers", "Who may call: holders of API keys, or who passes Cloudflare Access", ("keys", "access")),
    Question("team", "Domain of the Access team, such as team.cloudflareaccess.com", applies=_uses_access, needed=True),
    Question("people", "Who may pass: e-mail addresses, or domains of them", applies=_uses_access, needed=True),
    Question("storage", f"What to keep outside sandboxes: some of {', '.join(STORES)}"),
    Question("pipeline", "Pipeline that checks, previews and deploys", ("none", "github", "gitlab")),
    Question("devcontainer", "Write a dev container"),
)


def parts(texts: Iterable[str], question: Question) -> tuple[str, ...]:
    """Return the items of a list whose option was given several times."""
    return tuple(item for text in texts for item in question.read(text))
