"""The rules on this repository: its own stacks, every example, and the Worker that is deployed."""

from pathlib import Path

import pytest

from components import SandboxSettings
from components.check.project import check_path
from components.facts.stack import Package
from components.platform.sdk import SDK_VERSION
from components.rules import check
from components.settings.facts import facts
from tests import stack_files
from tests.policy.examples import TODAY
from tools.paths import ROOT


@pytest.mark.parametrize("path", stack_files.FILES, ids=stack_files.name)
def test_no_rule_finds_anything_in_our_stacks(path: Path):
    package = Package.of(declared=SDK_VERSION, locked=SDK_VERSION)
    stack = facts(SandboxSettings.parse(stack_files.settings(path)), package)
    assert [finding.text() for finding in check(stack, today=TODAY)] == []


def test_the_repository_passes_its_own_check():
    result = check_path(ROOT, today=TODAY)
    assert [finding.text() for finding in result.findings if finding.severity != "note"] == []
    # Settings of one of the examples are made in a loop: only the running program knows them.
    notes = [finding.where for finding in result.findings if finding.severity == "note"]
    assert [where.rpartition(":")[0] for where in notes] == ["examples/two-regions/__main__.py"]
    assert result.projects >= 1


def test_the_worker_has_no_mandatory_finding():
    found = check_path(ROOT / "worker_src/src/index.ts", today=TODAY).findings
    assert [finding.text() for finding in found if finding.severity == "mandatory"] == []
    # Commands whose outcome decides nothing (waking a sandbox, giving a lock back), and the route that is there to run
    # what its caller sends.
    told = {(finding.rule, finding.where.rpartition(":")[0]) for finding in found if finding.rule != "code/exit-code"}
    assert told == {("code/exec-injection", "worker_src/src/capabilities/commands.ts")}


def test_what_settings_say_reaches_the_rules():
    settings = SandboxSettings.parse(
        {
            "environment": "lasting",
            "worker": {
                "compatibility_date": "2026-11-18",
                "variables": {"API_TOKEN": "abc"},
                "observability": {"enabled": False},
            },
            "image": {"reference": "docker.io/cloudflare/sandbox:0.12.9"},
            "container": {"instance_type": "lite"},
            "domain": {"hostname": "previews.example.com"},
        }
    )
    found = check(facts(settings, Package.of(locked=SDK_VERSION)), today=TODAY)
    assert [(each.rule, each.where) for each in found] == [
        ("flags/date-future", "worker.compatibility_date"),
        ("versions/image-tag", "image.reference"),
        ("image/digest", "image.reference"),
        ("container/observability", "worker.observability"),
        ("auth/plain-text-secret", "worker.variables.API_TOKEN"),
        ("auth/preview-access", "access.zero_trust"),
    ]
