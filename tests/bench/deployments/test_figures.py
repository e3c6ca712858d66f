"""Statistics, targets, tables and pictures."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench.deployments import charts, page, targets
from bench.deployments.cases import Case, Name, Summary, ratio, summary
from bench.deployments.waterfall import Bar

_SVG = "{http://www.w3.org/2000/svg}"


def test_median_and_spread():
    assert summary([3.0, 1.0, 2.5]) == Summary(2.5, 1.0, 3.0)
    assert str(summary([3.0, 1.0, 2.5])) == "2.50 s (1.00 to 3.00)"
    assert str(summary([2.0])) == "2.00 s"
    assert ratio([1.0, 9.0, 2.0], [4.0]) == 0.5


@pytest.mark.parametrize(("value", "verdict"), [(1.0, "met"), (1.004, "met"), (1.01, "missed by 0.01"), (0.2, "met")])
def test_a_limit_is_judged_as_exactly_as_it_is_shown(value: float, verdict: str):
    assert targets.at_most(value, 1.0, lambda beyond: f"{beyond:.2f}") == verdict


def test_every_target_is_judged(figures: dict[str, Any]):
    assert [(row.target, row.measured, row.verdict) for row in targets.rows(figures)] == [
        (f"no-op, {Name.LIKE}: at most 1.0 \u00d7 wrangler", "0.80 \u00d7", "met"),
        (f"no-op, {Name.WHOLE}: at most 1.0 \u00d7 wrangler", "1.20 \u00d7", "missed by 0.20 \u00d7"),
        (f"one line of code, {Name.LIKE}: at most 1.0 \u00d7 wrangler", "0.80 \u00d7", "met"),
        (f"one line of code, {Name.WHOLE}: at most 1.0 \u00d7 wrangler", "1.20 \u00d7", "missed by 0.20 \u00d7"),
        (f"first deploy, {Name.LIKE}: at most 1.2 \u00d7 wrangler", "0.80 \u00d7", "met"),
        (f"first deploy, {Name.WHOLE}: at most 1.2 \u00d7 wrangler", "1.20 \u00d7", "met"),
        (
            "first deploy of 50 sandboxes: 10 \u00d7 as fast as 50 wrangler deploys",
            "8.0 \u00d7",
            "missed by 2.00 \u00d7",
        ),
        ("no-op of 50 sandboxes: 10 \u00d7 as fast as 50 wrangler deploys", "12.5 \u00d7", "met"),
        ("first deploy: time per sandbox falls as the number grows (1, 50)", "4.00 s, 0.30 s", "met"),
        ("no-op: time per sandbox falls as the number grows (1, 50)", "2.00 s, 0.20 s", "met"),
        (f"no-op, {Name.LIKE}: at most one read of the API per resource", "3 for 2 resources", "missed by 1"),
        (f"no-op, {Name.WHOLE}: at most one read of the API per resource", "3 for 2 resources", "missed by 1"),
        (f"preview, {Name.LIKE}: no write", "0", "met"),
        (f"preview, {Name.WHOLE}: no write", "0", "met"),
        (f"program, {Name.LIKE}: first resource registered within 0.6 s", "0.60 s (0.50 to 0.70)", "met"),
        (f"program, {Name.WHOLE}: first resource registered within 0.6 s", "0.60 s (0.50 to 0.70)", "met"),
        (f"our plugin, {Name.LIKE}: ready within 0.5 s", "0.55 s (0.30 to 0.61)", "missed by 0.05 s"),
        (f"our plugin, {Name.WHOLE}: ready within 0.5 s", "0.55 s (0.30 to 0.61)", "missed by 0.05 s"),
    ]


def test_a_preview_that_writes_and_a_cost_that_grows_are_missed(figures: dict[str, Any]):
    figures["cases"][Case.PREVIEW] = {name: {"seconds": [1.0], "reads": 0, "writes": 2} for name in Name}
    figures["sandboxes"]["50"][Case.NOTHING]["pulumi"] = [150.0]
    judged = {row.target: row.verdict for row in targets.rows(figures)}
    assert judged[f"preview, {Name.LIKE}: no write"] == "missed"
    assert judged["no-op: time per sandbox falls as the number grows (1, 50)"] == "missed"
    assert judged["first deploy: time per sandbox falls as the number grows (1, 50)"] == "met"


def test_the_tables(figures: dict[str, Any]):
    text = page.text(figures)
    assert "2026-11-16, commit 0123456789, 2 cores, pulumi 3.259.0, wrangler 4.158.0. Median (least to most)" in text
    line = "| 2.00 s (1.90 to 2.30) | 0.80 \u00d7 | 3.00 s | 1.20 \u00d7 | 2.50 s (2.50 to 2.60) |\n"
    assert text.count(f"| destroy {line}") == 2
    assert "| destroy | 3 + 0, 100 MiB | 3 + 0, 100 MiB | 3 + 0, 100 MiB |\n" in text
    assert "| 50 | no-op | 10.00 s | 0.20 s | 125.00 s | 12.5 \u00d7 |\n" in text
    assert "the first deploy of 50 takes 8.00 s, 15.0 \u00d7 as fast as wrangler.\n" in text
    assert "| calls of the API | 0.03 s | 0.03 s | 0.03 s | 0.03 s |\n" in text
    assert "What takes longest in a no-op of the whole stack: other imports" in text


def test_what_is_made_goes_between_its_marks():
    before, after = page._BEGIN, page._END
    assert page.between(f"head\n{before}old\n{after}tail\n", "new\n") == f"head\n{before}new\n{after}tail\n"
    with pytest.raises(ValueError, match=r"performance.md has lost a line that marks what is made from bench.json"):
        page.between(f"head\n{before}old\ntail\n", "new\n")


def rectangles(svg: str) -> list[tuple[str, float, float]]:
    found = ET.fromstring(svg).iter(f"{_SVG}rect")  # noqa: S314 - our own
    return [(each.attrib["class"], float(each.attrib["x"]), float(each.attrib["width"])) for each in found]


def test_bars_are_as_long_as_the_medians(figures: dict[str, Any]):
    drawn = charts.cases(figures["cases"], "Seconds")
    assert drawn == charts.cases(figures["cases"], "Seconds")
    legend, bars = rectangles(drawn)[:3], rectangles(drawn)[3:]
    assert [kind for kind, _, _ in legend] == ["like", "whole", "other"]
    assert bars == [("like", 270.0, 293.3), ("whole", 270.0, 440.0), ("other", 270.0, 366.7)] * len(Case)


def test_the_waterfall_shows_when_each_phase_went_on():
    drawn = charts.waterfall([Bar("first & last", [(0.0, 0.5), (1.5, 2.0)]), Bar("short", [(1.0, 1.001)])])
    assert rectangles(drawn) == [("like", 270.0, 110.0), ("like", 600.0, 110.0), ("like", 490.0, 1.5)]
    texts = [each.text for each in ET.fromstring(drawn).iter(f"{_SVG}text")]  # noqa: S314 - our own
    assert texts[-4:] == ["first & last", "1.00", "short", "0.00"]
