"""Questions of a program to the account.

One that fails ends the program with its message; a traceback of the SDK above it would tell nothing more.
"""

from typing import Final, Never, TypeVar

import pulumi

T = TypeVar("T")

_STOPPED: Final = ("the client connection is closing", "Resource monitor has terminated")
"""How a call ends that was under way when the engine stopped the run."""


def told(answer: pulumi.Output[T], stopped: str) -> pulumi.Output[T]:
    """Give the answer. `stopped` says what is missing if another error stopped the run, which is told by itself."""

    def tell(error: Exception) -> Never:
        if any(words in str(error) for words in _STOPPED):
            raise pulumi.RunError(f"{stopped}, as another error stopped the run") from None
        raise pulumi.RunError(str(error)) from None

    return answer.recover(tell)
