from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    made = Checkout(tmp_path)
    yield made
    if made.local.exists():
        made.succeed("down")
    assert list(made.home.iterdir()) == [], "a run left something in the user's home"


SMALL_PROGRAM = """
import pulumi

pulumi.ComponentResource("test:index:Nothing", "nothing")
pulumi.export("environment", (pulumi.Config().get_object("settings") or {}).get("environment"))
"""


@pytest.fixture
def plain(checkout: Checkout) -> Checkout:
    """A checkout whose program makes next to nothing, for tests of what surrounds it."""
    return checkout.with_program(SMALL_PROGRAM)
