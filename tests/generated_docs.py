"""The parts of the documentation that are made from the code. `make docs` writes them, a test compares them."""

from pathlib import Path
from typing import Final

from emulator.registry import load_services
from emulator.table import fidelity_table
from tools.paths import ROOT

_TABLE_MARK: Final = "<!-- made by `python -m emulator table`; `make docs` brings it up to date -->\n"


def wanted() -> dict[Path, str]:
    """Give every page with generated parts as it should be."""
    page = ROOT / "docs" / "emulator.md"
    head, mark, _ = page.read_text().partition(_TABLE_MARK)
    if not mark:
        raise ValueError(f"{page.name} has lost the line {_TABLE_MARK!r}")
    return {page: head + mark + fidelity_table(load_services())}


if __name__ == "__main__":
    for path, text in wanted().items():
        path.write_text(text)
