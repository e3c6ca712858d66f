"""What is made from the code in the documentation, and the template. `make docs` writes it, a test compares it."""

from pathlib import Path
from typing import Final

from emulator.registry import load_services
from emulator.table import fidelity_table
from tests import command_pages, loopback, project_template, settings_pages
from tests.bench import page as bench_page
from tests.policy import rule_pages
from tests.provider import property_tables
from tools.paths import ROOT

_TABLE_MARK: Final = "<!-- made by `python -m emulator table`; `make docs` brings it up to date -->\n"
_PROPERTIES_MARK: Final = "<!-- made from components/provider/properties.py; `make docs` brings it up to date -->\n"
_SETTINGS_MARK: Final = "<!-- made from components/settings; `make docs` brings it up to date -->\n"
_COMMANDS_MARK: Final = "<!-- made from the parsers; `make docs` brings it up to date -->\n"
_RULES_MARK: Final = "<!-- made from components/rules; `make docs` brings it up to date -->\n"


def wanted() -> dict[Path, str]:
    """Give every page with generated parts as it should be."""
    pages = ("commands", "emulator", "plugin", "rules", "settings")
    commands, emulator, plugin, rules, settings = (ROOT / "docs" / f"{name}.md" for name in pages)
    return {
        commands: _head(commands, _COMMANDS_MARK) + command_pages.text(),
        emulator: _head(emulator, _TABLE_MARK) + fidelity_table(load_services()),
        plugin: _head(plugin, _PROPERTIES_MARK) + property_tables.text(),
        rules: _head(rules, _RULES_MARK) + rule_pages.text(),
        settings: _head(settings, _SETTINGS_MARK) + settings_pages.reference(),
        ROOT / "docs" / "settings.schema.json": settings_pages.schema(),
        **project_template.files(),
        **bench_page.wanted(),
    }


def _head(page: Path, mark: str) -> str:
    head, found, _ = page.read_text().partition(mark)
    if not found:
        raise ValueError(f"{page.name} has lost the line {mark!r}")
    return head + mark


if __name__ == "__main__":
    loopback.enforce()
    for path, text in wanted().items():
        path.write_text(text)
