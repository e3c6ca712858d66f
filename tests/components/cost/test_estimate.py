"""Estimates: three columns, what the plan includes taken off, and the ceiling that the budget rule judges."""

import pytest

from components.cost.billed import Billed, Instances, calls_a_month, egress_of
from components.cost.comment import cost_comment
from components.cost.estimate import BUSY, COLUMNS, IDLE, TYPICAL, Assumptions, assume, estimate
from components.cost.of_settings import of_settings
from components.cost.tables import TOTAL, as_text, rows
from components.errors import UserError
from components.platform.containers import INSTANCE_TYPES
from components.platform.prices import PRICES, Meter, month_at_full_load
from components.settings import SandboxSettings

NOTHING_STORED = {name: {"enabled": False} for name in ("files", "backups", "artifacts", "conversations")}


def billed(**document: object) -> Billed:
    return of_settings(SandboxSettings.parse(document))


def test_an_idle_stack_without_storage_costs_the_plan():
    found = estimate(billed(storage=NOTHING_STORED))
    assert found.total(IDLE) == pytest.approx(5)


def test_what_is_billed_is_what_settings_say():
    found = billed(
        container={"instance_type": "standard-2", "max_instances": 4, "regions": ["OC", "WEUR"]},
        further_sandboxes={"small": {"class_name": "Small", "container": {"jurisdiction": "eu", "max_instances": 2}}},
        domain={"hostname": "previews.example.com", "zone": "example.com"},
        storage={"events": {"enabled": True}, "artifacts": {"enabled": False}},
        worker={"schedules": ["0 * * * *"]},
    )
    assert found == Billed(
        instances=(
            Instances("main", INSTANCE_TYPES["standard-2"], 4, Meter.EGRESS_OCEANIA),
            Instances("small", INSTANCE_TYPES["basic"], 2, Meter.EGRESS_WEST),
        ),
        buckets=2,
        namespaces=1,
        queues=1,
        certificates=1,
        scheduled_calls=720,
    )


def test_a_certificate_is_counted_only_where_one_is_ordered():
    assert billed(domain={"hostname": "example.com"}).certificates == 0
    own = {"hostname": "previews.example.com", "zone": "example.com", "certificate": "own"}
    assert billed(domain=own).certificates == 0


@pytest.mark.parametrize("type_", INSTANCE_TYPES)
def test_the_ceiling_is_what_the_budget_rule_judges(type_: str):
    found = estimate(billed(container={"instance_type": type_, "max_instances": 7}))
    assert found.ceiling == pytest.approx(7 * month_at_full_load(INSTANCE_TYPES[type_]))
    gross = estimate(found.billed, alone=False)
    containers = (Meter.MEMORY, Meter.PROCESSOR, Meter.DISK)
    assert sum(each.dollars for each in gross.columns[BUSY] if each.meter in containers) == pytest.approx(found.ceiling)


def test_beside_other_stacks_nothing_is_included_and_the_plan_is_paid():
    alone, beside = estimate(billed()), estimate(billed(), alone=False)
    assert Meter.PLAN not in [line.meter for line in beside.columns[IDLE]]
    assert beside.total(TYPICAL) + 5 > alone.total(TYPICAL)


def test_instances_that_the_workers_code_chooses_are_not_counted_and_this_is_said():
    document = {"sdk": {"generation": "1.x", "version": "1.0.0"}, "worker": {"bundle": "dist"}}
    found = billed(**document)
    assert (found.instances, found.untold) == ((), ("main",))
    assert "Not counted: instances of main, whose size and number the Worker's code chooses" in cost_comment(
        SandboxSettings.parse(document)
    )


def test_columns_rise():
    found = estimate(billed())
    totals = [found.total(each) for each in COLUMNS]
    assert totals == sorted(totals)


def test_r2_bills_what_is_begun():
    stored = PRICES[Meter.STORED]
    assert stored.of(11.1) == pytest.approx(2 * 0.015)
    assert PRICES[Meter.CLASS_A].of(1_000_001) == pytest.approx(4.5)
    assert PRICES[Meter.CLASS_B].of(10_000_000) == 0


def test_assumptions_can_be_said():
    assert assume(["awake_hours=720", "processor=0.5"]) == Assumptions(awake_hours=720, processor=0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hours=3", "--assume hours=3: there is no such assumption; known are awake_hours, "),
        ("processor=2", "--assume processor=2: expected a number from 0 to 1; write NAME=NUMBER"),
        ("awake_hours=721", "--assume awake_hours=721: expected a number from 0 to 720"),
        ("requests=nan", "--assume requests=nan: expected a number from 0 to 1e+12"),
        ("requests=-1", "--assume requests=-1: expected a number"),
        ("requests", "--assume requests: expected a number"),
    ],
)
def test_an_assumption_that_cannot_be_is_refused(text: str, message: str):
    with pytest.raises(UserError) as refused:
        assume([text])
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("schedule", "calls"),
    [("*/15 * * * *", 2880), ("0 3 * * *", 30), ("0,30 1-5 * * 1", 300), ("5 */2 * * *", 360), ("10/20 * * * *", 2160)],
)
def test_schedules_are_counted(schedule: str, calls: int):
    assert calls_a_month(schedule) == calls


def test_egress_counts_by_the_dearest_place():
    assert egress_of(()) == egress_of(("ENAM", "WEUR")) == egress_of((), "eu") == Meter.EGRESS_WEST
    assert egress_of(("WEUR", "APAC")) == Meter.EGRESS_ELSEWHERE
    assert egress_of(("APAC", "OC")) == Meter.EGRESS_OCEANIA


def test_the_comment_has_the_table_and_every_assumption():
    said = cost_comment(SandboxSettings.parse({"container": {"max_instances": 3}}))
    assert said.startswith("| US dollars a month | idle | typical | every instance busy |\n| --- | ---: |")
    assert "| Hours awake: main, 3 x basic | 0 | 480 | 2,160 |" in said
    assert f"| **{TOTAL}** | **5.30** |" in said
    assert "<details><summary>Assumptions</summary>" in said
    assert said.endswith("</details>\n")


def test_the_text_is_a_table_that_lines_up():
    shown = as_text(rows(estimate(billed()))).splitlines()
    assert len({len(line) for line in shown}) == 1
    assert shown[-1].startswith(TOTAL)
