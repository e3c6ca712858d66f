"""Pictures in SVG, written by hand: the same figures give the same bytes. Legible on light and on dark pages."""

from collections.abc import Sequence
from html import escape
from typing import Any

from bench.deployments.cases import Name, summary
from bench.deployments.waterfall import Bar

_WIDTH = 760
_LEFT = 270
_RIGHT = 50
_COLOURS = {Name.LIKE: "like", Name.WHOLE: "whole", Name.WRANGLER: "other"}
_STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #24292f } .quiet { fill: #57606a } .line { stroke: #8c959f }
.like { fill: #8250df } .whole { fill: #bf8fff } .other { fill: #e36209 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .quiet { fill: #9198a1 } }
</style>
"""


def cases(table: dict[str, dict[str, dict[str, Any]]], title: str) -> str:
    """Draw the medians of each case as bars, with a thin line from least to most."""
    seen = {case: {name: summary(cells[name]["seconds"]) for name in Name} for case, cells in table.items()}
    scale = _Scale(max(each.most for sides in seen.values() for each in sides.values()))
    parts, y = [_text(10, 20, title)], 40
    for number, name in enumerate(Name):
        x = _LEFT + number * 165
        parts += [f'<rect class="{_COLOURS[name]}" x="{x}" y="30" width="12" height="12"/>', _text(x + 18, 40, name)]
    y = 62
    for case, sides in seen.items():
        parts.append(_text(10, y + 27, case))
        for name, each in sides.items():
            parts.append(_bar(_COLOURS[name], scale.x(0), scale.x(each.median), y, 12))
            parts.append(_line(scale.x(each.least), y + 6, scale.x(each.most), y + 6))
            parts.append(_text(scale.x(each.most) + 6, y + 10, f"{each.median:.2f}", "quiet"))
            y += 15
        y += 12
    return _svg(y, parts, title)


def waterfall(bars: Sequence[Bar]) -> str:
    """Draw one line for each phase, over the time of the run."""
    scale = _Scale(max(end for bar in bars for _, end in bar.periods))
    title = "A no-op of the whole stack, in seconds"
    bottom = 46 + 24 * len(bars)
    parts = [_text(10, 20, title)]
    for tick in scale.ticks():
        parts.append(_line(scale.x(tick), 34, scale.x(tick), bottom, faint=True))
        parts.append(_text(scale.x(tick) - 8, bottom + 16, f"{tick:.1f}", "quiet"))
    for number, bar in enumerate(bars):
        y = 40 + 24 * number
        parts.append(_text(10, y + 12, bar.name))
        parts += [_bar("like", scale.x(start), scale.x(end), y, 16) for start, end in bar.periods]
        parts.append(_text(scale.x(bar.periods[-1][1]) + 6, y + 12, f"{bar.seconds:.2f}", "quiet"))
    return _svg(bottom + 26, parts, title)


class _Scale:
    """Seconds to places in the picture."""

    def __init__(self, most: float) -> None:
        self._most = most

    def x(self, seconds: float) -> float:
        return _LEFT + seconds / self._most * (_WIDTH - _LEFT - _RIGHT)

    def ticks(self) -> list[float]:
        step = next(each for each in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0) if self._most / each <= 10)
        return [number * step for number in range(int(self._most / step) + 1)]


def _bar(kind: str, start: float, end: float, y: int, height: int) -> str:
    # A call of some milliseconds must still be seen.
    width = max(end - start, 1.5)
    return f'<rect class="{kind}" x="{start:.1f}" y="{y}" width="{width:.1f}" height="{height}"/>'


def _line(x1: float, y1: int, x2: float, y2: int, *, faint: bool = False) -> str:
    opacity = ' opacity="0.3"' if faint else ""
    return f'<line class="line" x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}"{opacity}/>'


def _text(x: float, y: int, text: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y}">{escape(text)}</text>'


def _svg(height: int, parts: Sequence[str], title: str) -> str:
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(title)}</title>\n{_STYLE}'
    return head + "\n".join(parts) + "\n</svg>\n"
