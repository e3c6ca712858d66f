"""Questions of a program to the account.

One that fails is an error with a message of its own; a traceback of the SDK above it would tell nothing more.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Never, TypeVar

import pulumi

T = TypeVar("T")

_STOPPED: Final = ("the client connection is closing", "Resource monitor has terminated")
"""How a call ends that was under way when the engine stopped the run."""
_NOT_ONE: Final = re.compile(r"failed to find exactly one result: (\d+) found")
_REFUSED: Final = re.compile(r": 40[13] ")
"""The status as the plugin of pulumi-cloudflare tells it, after method and address."""


def is_stopped(said: str) -> bool:
    """Whether a call failed because the engine has stopped the run, which tells the user why itself."""
    return any(words in said for words in _STOPPED)


@dataclass(frozen=True)
class Question:
    """What a program asks of the account, in words for the one who reads why there is no answer."""

    what: str
    """What is asked for, as the subject of a sentence."""
    permission: str = ""
    """What the API token needs for it; empty where the plugin itself says so."""
    setting: str = ""
    """How to do without the question."""
    not_one: str = ""
    """What to say where something else than one thing was found."""

    def answered(self, ask: Callable[[], T]) -> T:
        """Ask, wait and return the answer; a failure is a RunError with a message for the user."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - the SDK has no class of its own for a call that failed
            raise pulumi.RunError(self.explained(str(error))) from None

    def told(self, answer: pulumi.Output[T]) -> pulumi.Output[T]:
        """Return the answer; a failure ends the program with one message."""
        return answer.recover(self._tell)

    def _tell(self, error: Exception) -> Never:
        raise pulumi.RunError(self.explained(str(error))) from None

    def explained(self, said: str) -> str:
        """Return the message for what the plugin said."""
        if is_stopped(said):
            return f"{self.what} could not be looked up, as another error stopped the run"
        if self.not_one and (found := _NOT_ONE.search(said)):
            return self.not_one.format(count=found[1])
        if self.permission and _REFUSED.search(said):
            return (
                f"{self.what} cannot be looked up: Cloudflare refuses the API token, which is not valid or lacks the "
                f"permission `{self.permission}`. Give it that permission, or {self.setting}. It said: {said}"
            )
        return said
