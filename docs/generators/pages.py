"""What is made from the code in the documentation, and the template. `make docs` writes it, a test compares it."""

from pathlib import Path
from typing import Final

from bench.deployments import page as bench_page
from components.provider import schema as plugin_schema
from docs.generators import commands as command_pages
from docs.generators import cost as cost_page
from docs.generators import plugin as property_tables
from docs.generators import plugin_classes
from docs.generators import rules as rule_pages
from docs.generators import settings as settings_pages
from docs.generators import template as project_template
from emulator.registry import load_services
from emulator.table import fidelity_table
from tools.paths import ROOT

_TABLE_MARK: Final = "<!-- made by `python -m emulator table`; `make docs` brings it up to date -->\n"
_PROPERTIES_MARK: Final = "<!-- made from components/provider/*/declaration.py; `make docs` brings it up to date -->\n"
_SETTINGS_MARK: Final = "<!-- made from components/settings; `make docs` brings it up to date -->\n"
_COMMANDS_MARK: Final = "<!-- made from the parsers; `make docs` brings it up to date -->\n"
_COST_MARK: Final = "<!-- made by docs/generators/cost.py; `make docs` brings it up to date -->\n"
_RULES_MARK: Final = "<!-- made from components/rules; `make docs` brings it up to date -->\n"


def wanted() -> dict[Path, str]:
    """Return every page with generated parts as it should be."""
    pages = ("commands", "cost", "emulator", "plugin", "rules", "settings")
    commands, cost, emulator, plugin, rules, settings = (ROOT / "docs" / f"{name}.md" for name in pages)
    return {
        commands: _head(commands, _COMMANDS_MARK) + command_pages.text(),
        cost: _head(cost, _COST_MARK) + cost_page.text(),
        emulator: _head(emulator, _TABLE_MARK) + fidelity_table(load_services()),
        plugin: _head(plugin, _PROPERTIES_MARK) + property_tables.text(),
        rules: _head(rules, _RULES_MARK) + rule_pages.text(),
        settings: _head(settings, _SETTINGS_MARK) + settings_pages.reference(),
        ROOT / "docs" / "settings.schema.json": settings_pages.schema(),
        plugin_schema.FILE: plugin_schema.text(),
        plugin_classes.FILE: plugin_classes.text(),
        **project_template.files(),
        **bench_page.wanted(),
    }


def _head(page: Path, mark: str) -> str:
    head, found, _ = page.read_text().partition(mark)
    if not found:
        raise ValueError(f"{page.name} has lost the line {mark!r}")
    return head + mark
