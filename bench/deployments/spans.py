"""What the engine did and when, from the trace it writes (`--otel-traces file://…`): JSON, one batch a line."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Span:
    """Something that took time; times of the day in seconds."""

    name: str
    start: float
    end: float
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.end - self.start


def read(path: Path) -> list[Span]:
    """Return all spans by the time they began."""
    return parse(path.read_text())


def parse(text: str) -> list[Span]:
    """Read the lines of a trace."""
    batches = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = [
        _span(span)
        for batch in batches
        for resource in batch["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    return sorted(found, key=lambda span: (span.start, span.end))


def _span(span: dict[str, Any]) -> Span:
    labels = {
        each["key"]: each["value"]["stringValue"]
        for each in span.get("attributes", ())
        if "stringValue" in each["value"]
    }
    start, end = (int(span[key]) / 1e9 for key in ("startTimeUnixNano", "endTimeUnixNano"))
    return Span(span["name"], start, end, labels)
