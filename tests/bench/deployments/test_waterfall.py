"""From the engine's trace, the journal and the processes to bars."""

import json
from typing import Any

from bench.deployments import spans, waterfall
from bench.deployments.spans import Span
from bench.deployments.waterfall import Bar

BEGAN = 1000.0


def span(name: str, start: float, end: float, **labels: str) -> Span:
    return Span(name, BEGAN + start, BEGAN + end, labels)


SPANS = [
    span("newPlugin", 0.1, 0.2, kind="language", prefix="python"),
    span("pulumirpc.LanguageRuntime/About", 0.2, 0.6),
    span("newPlugin", 0.6, 0.7, kind="language", prefix="python"),
    span("pulumirpc.LanguageRuntime/Run", 0.7, 3.0),
    span("pulumirpc.ResourceMonitor/GetDeploymentInfo", 1.0, 1.0),
    span("pulumirpc.ResourceMonitor/Invoke", 1.5, 1.9),
    span("newPlugin", 1.5, 1.8, kind="resource", prefix="cloudflare (resource)"),
    span("pulumirpc.ResourceMonitor/RegisterResource", 1.6, 1.8),
    span("newPlugin", 1.8, 2.1, kind="resource", prefix="cloudflare-sandbox (resource)"),
    span("pulumirpc.ResourceMonitor/RegisterResource", 1.8, 2.2),
    span("pulumirpc.ResourceMonitor/RegisterResourceOutputs", 2.2, 2.3),
]
JOURNAL: list[dict[str, Any]] = [{"time": BEGAN + 1.85, "ms": 20.0}]


def test_every_phase_is_found():
    made = waterfall.bars(SPANS, JOURNAL, [(BEGAN + 1.1, BEGAN + 1.4)], BEGAN, BEGAN + 3.1)
    assert {bar.name: bar.periods for bar in made} == {
        waterfall.STARTS_ENGINE: [(0.0, 0.1)],
        waterfall.HOST: [(0.1, 0.2), (0.6, 0.7)],
        waterfall.ABOUT: [(0.2, 0.6)],
        waterfall.PYTHON: [(0.7, 1.0)],
        waterfall.PROGRAM: [(1.0, 1.6)],
        waterfall.BUNDLING: [(1.1, 1.4)],
        waterfall.BRIDGED: [(1.5, 1.8)],
        waterfall.OURS: [(1.8, 2.1)],
        waterfall.REGISTERS: [(1.6, 2.3)],
        waterfall.CALLS: [(1.83, 1.85)],
        waterfall.ENDS_PROGRAM: [(2.3, 3.0)],
        waterfall.ENDS_ENGINE: [(3.0, 3.1)],
    }
    assert [bar.name for bar in made] == list(waterfall.NAMES)
    assert waterfall.from_document(json.loads(json.dumps(waterfall.document(made)))) == made


def test_what_did_not_happen_has_no_bar():
    made = waterfall.bars(SPANS[:6] + SPANS[7:8], [], [], BEGAN, BEGAN + 3.1)
    missing = set(waterfall.NAMES) - {bar.name for bar in made}
    assert missing == {waterfall.BUNDLING, waterfall.BRIDGED, waterfall.OURS, waterfall.CALLS}


def test_overlapping_periods_count_once():
    assert Bar("calls", [(1.0, 2.0), (0.0, 0.5), (1.5, 2.5), (1.6, 1.7), (2.0, 2.25)]).seconds == 2.0


def test_starts_of_program_and_plugins():
    assert round(waterfall.program_start(SPANS), 3) == 0.9
    assert round(waterfall.plugin_start(SPANS, "cloudflare-sandbox") or 0, 3) == 0.3
    assert waterfall.plugin_start(SPANS, "docker-build") is None


def test_a_trace_is_read():
    later = {
        "name": "newPlugin",
        "startTimeUnixNano": "2000000000",
        "endTimeUnixNano": "2500000000",
        "attributes": [
            {"key": "kind", "value": {"stringValue": "language"}},
            {"key": "tries", "value": {"intValue": "1"}},
        ],
    }
    earlier = {"name": "pulumi", "startTimeUnixNano": "1000000000", "endTimeUnixNano": "3000000000"}
    lines = [json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [each]}]}]}) for each in (later, earlier)]
    assert spans.parse("\n".join(lines) + "\n") == [
        Span("pulumi", 1.0, 3.0),
        Span("newPlugin", 2.0, 2.5, {"kind": "language"}),
    ]
