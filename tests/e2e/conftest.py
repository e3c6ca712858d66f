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
