from typing import Any

import pytest

from bench.deployments import waterfall
from bench.deployments.cases import Case, Name

BARS = [
    {"name": waterfall.STARTS_ENGINE, "periods": [[0.0, 0.2]]},
    {"name": waterfall.PROGRAM, "periods": [[0.2, 1.0]]},
    {"name": waterfall.CALLS, "periods": [[1.0, 1.02], [1.01, 1.03]]},
]


@pytest.fixture
def figures() -> dict[str, Any]:
    """Figures as `make bench` writes them: pulumi takes two and three seconds, wrangler two and a half."""
    seconds = {Name.LIKE: [2.0, 1.9, 2.3], Name.WHOLE: [3.0, 3.0, 3.0], Name.WRANGLER: [2.5, 2.5, 2.6]}
    cells = {name: {"seconds": found, "reads": 3, "writes": 0, "peak_mib": 100} for name, found in seconds.items()}
    looked_into = {
        "resources": 2,
        "program_start": [0.5, 0.7, 0.6],
        "plugins": {"cloudflare-sandbox": [0.3, 0.61, 0.55]},
        "waterfalls": {Case.NOTHING: BARS, Case.CODE: BARS},
    }
    return {
        "about": {
            "date": "2026-11-16",
            "commit": "0123456789",
            "cores": 2,
            "latency_ms": 20,
            "rounds": 3,
            "minutes": 12.5,
            "versions": {"pulumi": "3.259.0", "wrangler": "4.158.0"},
        },
        "cases": dict.fromkeys(Case, cells),
        "cases_without_latency": dict.fromkeys(Case, cells),
        "sandboxes": {
            "1": {Case.FIRST: {"pulumi": [4.0], "wrangler": [3.0]}, Case.NOTHING: {"pulumi": [2.0], "wrangler": [2.5]}},
            "50": {
                Case.FIRST: {"pulumi": [15.0], "wrangler": [120.0]},
                Case.NOTHING: {"pulumi": [10.0], "wrangler": [125.0]},
            },
        },
        "unsaved": {"sandboxes": 50, "seconds": 8.0},
        "looked_into": {Name.LIKE: looked_into, Name.WHOLE: looked_into},
    }
