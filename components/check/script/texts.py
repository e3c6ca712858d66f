"""Texts with holes: what an expression may stand for, and how such texts are put together."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

OUTSIDE, HARMLESS, BINDING, RANDOM = "outside", "harmless", "binding", "random"
MOST: Final = 16
"""How many ways a text may be before the rest are left out."""


@dataclass(frozen=True)
class Hole:
    """A part of a text that is only known when the program runs."""

    kind: str
    """`outside`, `harmless`, `binding` of the Worker, or `random`."""
    name: str = ""
    """Of the binding."""


Text = tuple[str | Hole, ...]
Texts = tuple[Text, ...]
"""What it may be: one of these."""
Frames = Mapping[int, Mapping[str, Texts]]
"""For functions that are being followed, what their parameters stand for."""

UNKNOWN: Final[Texts] = ((Hole(OUTSIDE),),)
PLAIN: Final[Texts] = ((Hole(HARMLESS),),)
CHANCE: Final[Texts] = ((Hole(RANDOM),),)


def together(*parts: Texts) -> Texts:
    """Put texts behind each other, in every way they may be."""
    if len(parts) == 1:
        return parts[0]
    whole = tuple(sum(each, ()) for _, each in zip(range(MOST), product(*parts), strict=False))
    return whole or UNKNOWN


def either(*choices: Texts) -> Texts:
    """Return what may be one or the other."""
    return tuple(dict.fromkeys(each for choice in choices for each in choice))[:MOST]


def flattened(texts: Texts, kind: str) -> Texts:
    """Return one hole for texts of which only some part is taken: harmless if nothing in them comes from outside."""
    outside = any(isinstance(part, Hole) and part.kind == OUTSIDE for each in texts for part in each)
    return UNKNOWN if outside else ((Hole(kind),),)
