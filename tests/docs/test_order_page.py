"""docs/order.md: each row has a test, and says what the code says."""

import re

from components.stack import LEFT_ALONE
from tools.paths import ROOT

PAGE = (ROOT / "docs" / "order.md").read_text()


def test_every_row_names_tests_that_exist():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| What fails")]
    written = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(rows) >= 10
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row.rpartition(" | ")[2])
        assert named, f"no test proves: {row}"
        assert [name for name in named if f"def {name}(" not in written] == []


def test_messages_are_those_of_the_code():
    assert LEFT_ALONE in PAGE
    written = "\n".join(path.read_text() for path in (ROOT / "components" / "provider").rglob("*.py"))
    for words in (
        "no Worker was uploaded, so nothing runs it",
        "whose own rollout had gone well",
        "nothing was rolled out",
    ):
        assert words in PAGE
        assert words in written
