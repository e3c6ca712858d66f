"""The rules on this repository: its own stacks, every example, and the Worker that is deployed."""

from pathlib import Path

import pytest
import yaml

from components import SandboxSettings
from components.check.project import check_path
from components.rules import check
from components.rules.facts import Package
from components.settings.facts import facts
from tests.policy.examples import TODAY

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("Pulumi.*.yaml"), *(ROOT / "examples").glob("*.yaml")])
VERSION = "0.12.10"


def sandbox_settings(path: Path) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(path.read_text())["config"]["sandbox-stack:settings"]
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_no_rule_finds_anything_in_our_stacks(path: Path):
    stack = facts(SandboxSettings.parse(sandbox_settings(path)), Package.of(declared=VERSION, locked=VERSION))
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
    found = check(facts(settings, Package.of(locked=VERSION)), today=TODAY)
    assert [(each.rule, each.where) for each in found] == [
        ("flags/date-future", "worker.compatibility_date"),
        ("versions/image-tag", "image.reference"),
        ("image/digest", "image.reference"),
        ("container/observability", "worker.observability"),
        ("auth/plain-text-secret", "worker.variables.API_TOKEN"),
        ("auth/preview-access", "access.zero_trust"),
    ]
