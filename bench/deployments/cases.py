"""The words of the comparison: cases, sides, and what a list of seconds comes to."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Case(StrEnum):
    """What is timed, in the order of a stack's life."""

    FIRST = "first deploy"
    NOTHING = "no-op"
    CODE = "one line of code"
    IMAGE = "image by reference"
    PREVIEW = "preview"
    DESTROY = "destroy"


class Name(StrEnum):
    """Who deploys."""

    LIKE = "pulumi, like for like"
    WHOLE = "pulumi, whole stack"
    WRANGLER = "wrangler"


TIMES = "\N{MULTIPLICATION SIGN}"
OURS = (Name.LIKE, Name.WHOLE)


@dataclass(frozen=True)
class Summary:
    """Median and spread."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.median:.2f} s"
        return f"{self.median:.2f} s ({self.least:.2f} to {self.most:.2f})"


def summary(seconds: Sequence[float]) -> Summary:
    """Return median and spread of what was measured."""
    return Summary(statistics.median(seconds), min(seconds), max(seconds))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return how many times as long ours took, by the medians."""
    return statistics.median(ours) / statistics.median(theirs)
