"""What a user did wrong, in one idiom: the place, what is wrong with it and why, and the remedy, without a traceback.

Whoever finds such a mistake raises a `UserError`; `cli.main` prints it for every command, and a program ends with it.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(ValueError):
    """A mistake of the user's; the message is all there is to say."""


def visible(text: str) -> str:
    """Write what could steer a terminal as an escape: names of files and keys come from whoever wrote the project."""
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)


@contextmanager
def reading_or_writing(path: object, remedy: str) -> Iterator[None]:
    """Turn what the machine says of a file or folder that the user named into a mistake with its place and remedy."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # pathlib tells of links in a circle by a RuntimeError
        place, why = getattr(error, "filename", None) or path, getattr(error, "strerror", None) or error
        raise UserError(f"{place}: {why}; {remedy}") from None
