"""How many instances a workload needs over a day, as a drawing (SVG). Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from .plan import Plan

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 760, 320, 56, 48, 40, 150
_HOURS: Final = 24
_FONT: Final = 'font-family="sans-serif" font-size="12"'


def drawing(found: Plan, heading: str) -> str:
    """Return the drawing."""
    hours = min(_HOURS, found.needed.hours)
    half, nearly = found.needed.shares.values()
    most = found.instances.most
    highest = max(1, *(count for since, count in found.needed.steps if since <= hours), nearly)
    # A maximum far above the need would leave the need a line at the bottom.
    levels = [(half, "50% of the time", "#2563eb"), (nearly, "99% of the time", "#b45309")]
    if most <= 2 * highest:
        levels.append((most, "max_instances", "#b91c1c"))
        highest = max(highest, most)
    scale = _Scale(hours, highest)
    parts = [*_frame(scale, heading), _line(scale, found.needed.steps), *_levels(scale, levels)]
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', *parts, "</svg>"]) + "\n"


class _Scale:
    def __init__(self, hours: float, highest: int) -> None:
        self.hours, self.highest = hours, highest

    def x(self, hour: float) -> float:
        return round(_LEFT + hour / self.hours * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, count: float) -> float:
        return round(_HEIGHT - _BOTTOM - count / self.highest * (_HEIGHT - _TOP - _BOTTOM), 1)


def _frame(scale: _Scale, heading: str) -> Iterator[str]:
    left, right, floor = scale.x(0), scale.x(scale.hours), scale.y(0)
    yield f"<title>{heading}</title>"
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
    words = "Instances awake in the first hours of the month, with as many as it takes"
    yield f'<text x="{left}" y="24" {_FONT} fill="#111827">{words}</text>'
    yield f'<path d="M{left} {_TOP}V{floor}H{right}" fill="none" stroke="#6b7280"/>'
    for count in sorted({0, round(scale.highest / 2), scale.highest}):
        place = f'x="{left - 8}" y="{scale.y(count) + 4}"'
        yield f'<text {place} text-anchor="end" {_FONT} fill="#374151">{count:,}</text>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        place = f'x="{scale.x(share * scale.hours)}" y="{floor + 18}"'
        yield f'<text {place} text-anchor="middle" {_FONT} fill="#374151">{share * scale.hours:.3g} h</text>'


def _line(scale: _Scale, steps: Sequence[tuple[float, int]]) -> str:
    shown = [(since, count) for since, count in steps if since <= scale.hours]
    path = f"M{scale.x(0)} {scale.y(shown[0][1])}"
    path += "".join(f"H{scale.x(since)}V{scale.y(count)}" for since, count in shown[1:])
    return f'<path d="{path}H{scale.x(scale.hours)}" fill="none" stroke="#111827"/>'


def _levels(scale: _Scale, levels: Sequence[tuple[int, str, str]]) -> Iterator[str]:
    free = float(_HEIGHT)
    for count, words, colour in sorted(levels):
        height = scale.y(count)
        yield f'<path d="M{scale.x(0)} {height}H{scale.x(scale.hours)}" stroke="{colour}" stroke-dasharray="4 3"/>'
        free = min(free - 15, height + 4)  # so that words of levels that are close do not lie on each other
        yield f'<text x="{scale.x(scale.hours) + 8}" y="{free}" {_FONT} fill="{colour}">{count:,}: {words}</text>'
