"""Settings `budget`: what the instances may cost, judged by the stack, `check` and the pack alike."""

from datetime import date
from pathlib import Path

import pytest

from components import SandboxSettings, SettingsError
from components.check.project import check_path
from components.cost.estimate import estimate
from components.cost.of_settings import of_settings
from components.platform.sdk import SDK_VERSION
from components.rules import check
from components.settings.facts import facts

CEILING = 201.66
"""US dollars of ten instances of type `basic` at full load, as `cost` prints it."""


def settings_with(dollars: float) -> SandboxSettings:
    return SandboxSettings.parse({"budget": {"monthly_usd": dollars}})


def findings(dollars: float) -> list[str]:
    known = facts(settings_with(dollars))
    return [each.where for each in check(known, today=date(2026, 11, 16)) if each.rule == "container/budget"]


def test_the_rule_and_the_command_agree_to_the_cent():
    assert round(estimate(of_settings(settings_with(1))).ceiling, 2) == CEILING
    assert findings(CEILING + 0.01) == []
    assert findings(CEILING - 0.01) == ["budget.monthly_usd"]


def test_check_judges_it_in_a_project_at_its_line(tmp_path: Path):
    (tmp_path / "Pulumi.yaml").write_text("name: box\nruntime: python\nplugins:\n  providers: [cloudflare-sandbox]\n")
    (tmp_path / "Pulumi.dev.yaml").write_text(
        f"config:\n  box:settings:\n    sdk: {{version: {SDK_VERSION}}}\n    budget:\n      monthly_usd: 100\n"
    )
    found = [
        each for each in check_path(tmp_path, today=date(2026, 11, 16)).findings if each.rule == "container/budget"
    ]
    assert [Path(each.where).name for each in found] == ["Pulumi.dev.yaml:5"]
    assert "the instances may cost 201.66 US dollars a month" in found[0].what


@pytest.mark.parametrize("dollars", [-1, "much", float("nan"), float("inf")])
def test_what_is_no_budget_is_refused(dollars: object):
    with pytest.raises(SettingsError, match=r"budget\.monthly_usd: "):
        SandboxSettings.parse({"budget": {"monthly_usd": dollars}})


def test_a_budget_that_nothing_here_could_keep_is_refused():
    with pytest.raises(SettingsError, match=r"budget: nothing here bounds instances of SDK 1\.x"):
        SandboxSettings.parse(
            {
                "sdk": {"generation": "1.x", "version": "1.0.0"},
                "worker": {"bundle": "dist/index.js"},
                "budget": {"monthly_usd": 5},
            }
        )
