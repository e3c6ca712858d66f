"""Settings, exported as wrangler's configuration and taken in again, are the same settings, deletions aside."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from components.settings import SandboxSettings
from components.wrangler.conversion import Surroundings, converted
from components.wrangler.document import read_jsonc
from components.wrangler.environment import Environment
from components.wrangler.export import Place, exported
from tests.components.wrangler.settings_strategy import documents

PLACE = Place("test", "the Pulumi stack test")
AROUND = Surroundings(is_file=lambda path: path.endswith("Dockerfile"), deployed=False)


def again(said: SandboxSettings) -> Any:
    made = exported(said, PLACE)
    assert made.unsaid == ()
    document = read_jsonc("wrangler.jsonc", made.text(PLACE))
    assert document.value == json.loads(json.dumps(made.configuration))
    return converted(Environment(document, Path()), AROUND)


@given(documents())
# Without shrinking, which takes minutes for documents of this size and says little more.
@settings(max_examples=100, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_settings_come_back_as_they_were(document: dict[str, Any]):
    said = SandboxSettings.parse(document)
    found = again(said)
    # A deletion is never taken in: whether it was carried out is not known, and it would take data away.
    worker = said.worker.model_copy(update={"deleted_classes": ()})
    assert found.settings == said.model_copy(update={"worker": worker})
    assert [entry for entry in found.report if entry.kind == "lost"] == []


def test_buckets_of_a_jurisdiction_are_said_with_it():
    found = exported(SandboxSettings.parse({"storage": {"jurisdiction": "eu"}}), PLACE).configuration["r2_buckets"]
    assert [each["jurisdiction"] for each in found] == ["eu"] * len(found) != []


def test_egress_is_said_by_variables():
    made = exported(SandboxSettings.parse({"egress": {"allow": "off"}, "worker": {"entry": "index.ts"}}), PLACE)
    assert made.configuration["vars"]["EGRESS"] == '"off"'
    assert "egress" not in made.unsaid
