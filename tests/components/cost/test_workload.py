"""The simulation of a workload, held against what queueing theory says without simulating."""

from math import exp, factorial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.cost.workload import Workload, idle_hours, simulate
from components.errors import UserError

LOADS = st.builds(
    Workload,
    arrivals=st.floats(1, 60),
    minutes=st.floats(1, 60),
    sandboxes=st.integers(0, 200),
    idle_hours=st.floats(0, 0.5),
)
SEEDS = st.integers(0, 2**32)
DAY = 24
quick = settings(max_examples=25, deadline=None)


@given(LOADS, SEEDS, st.none() | st.integers(1, 50))
@quick
def test_the_same_seed_gives_the_same_month(load: Workload, seed: int, most: int | None):
    assert simulate(load, seed, most, hours=DAY) == simulate(load, seed, most, hours=DAY)


@given(LOADS, SEEDS)
@quick
def test_nobody_is_refused_where_nothing_is_bounded(load: Workload, seed: int):
    needed = simulate(load, seed, hours=DAY)
    assert needed.refused == 0
    assert simulate(load, seed, max(1, load.sandboxes) if load.sandboxes else None, hours=DAY).refused == 0


@given(LOADS, SEEDS, st.integers(1, 50))
@quick
def test_no_more_are_awake_than_may_be_and_the_counts_agree(load: Workload, seed: int, most: int):
    kept = simulate(load, seed, most, hours=DAY)
    assert max(count for _, count in kept.steps) == kept.peak <= most
    assert 0 <= kept.cold + kept.refused <= kept.arrivals
    assert 0 <= kept.used_hours <= kept.awake_hours + 1e-6
    assert kept.shares[0.5] <= kept.shares[0.99] <= kept.peak
    assert min(count for _, count in kept.steps) >= 0


@given(LOADS, SEEDS, st.floats(0, 0.5))
@quick
def test_a_longer_idle_time_never_makes_more_cold_starts_or_fewer_hours(load: Workload, seed: int, more: float):
    """With room for all: what a longer time costs, and what it buys."""
    short = Workload(load.arrivals, load.minutes, load.sandboxes or 20, 0)
    long = Workload(load.arrivals, load.minutes, load.sandboxes or 20, more)
    one, other = (simulate(each, seed, hours=DAY) for each in (short, long))
    # Counting begins later where idle times are longer, so rates are compared, and only for what is many.
    assert other.awake_hours / other.hours >= one.awake_hours / one.hours * 0.8 - 0.5
    if one.arrivals > 500:
        assert other.cold / other.arrivals <= one.cold / one.arrivals + 0.1


@given(st.floats(5, 60), st.floats(1, 30), SEEDS)
@quick
def test_more_room_never_refuses_more(arrivals: float, minutes: float, seed: int):
    """Where each arrival has a sandbox of its own and none idles, the same ones come whatever the room."""
    load = Workload(arrivals, minutes, 0, 0)
    refused = [simulate(load, seed, most, hours=DAY).refused for most in (1, 2, 4, 8, 16, 64)]
    assert refused == sorted(refused, reverse=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("arrivals", "minutes", "idle"), [(60, 5, 0), (30, 20, 1 / 6), (200, 3, 0.1)])
def test_littles_law(arrivals: float, minutes: float, idle: float, seed: int):
    """On average as many are awake as arrive in the time that each stays: L = λW."""
    found = simulate(Workload(arrivals, minutes, 0, idle), seed)
    assert found.awake_hours / found.hours == pytest.approx(arrivals * (minutes / 60 + idle), rel=0.05)
    assert found.used_hours / found.hours == pytest.approx(arrivals * minutes / 60, rel=0.05)
    assert found.arrivals / found.hours == pytest.approx(arrivals, rel=0.05)


def test_without_bounds_as_many_are_awake_as_a_poisson_variable_says():
    """M/G/∞: the number awake has the Poisson distribution with mean λW."""
    mean, found = 10.0, simulate(Workload(120, 5, 0, 0), 1)
    chances = [exp(-mean) * mean**count / factorial(count) for count in range(60)]
    for share, count in found.shares.items():
        assert abs(count - next(each for each in range(60) if sum(chances[: each + 1]) >= share)) <= 1


@pytest.mark.parametrize("most", [2, 5, 10, 14])
def test_with_bounds_as_many_are_refused_as_erlang_says(most: int):
    """M/G/c/c: Erlang's formula B, whatever the distribution of the times of use."""
    load, chance = 10.0, 1.0
    for servers in range(1, most + 1):
        chance = load * chance / (servers + load * chance)
    found = simulate(Workload(120, 5, 0, 0), 1, most)
    assert found.refused / found.arrivals == pytest.approx(chance, abs=0.01)


def test_who_comes_back_in_time_finds_the_sandbox_awake():
    one = simulate(Workload(600, 1, 1, 1), 7)
    assert (one.peak, one.cold) == (1, 0)  # it woke before counting began, and has not slept since
    each = simulate(Workload(30, 5, 0, 1 / 6), 7)
    assert each.cold == each.arrivals


def test_a_busy_month_is_cut_short_and_says_so():
    found = simulate(Workload(10_000, 1, 0, 0), 1)
    assert found.hours == 20
    assert found.a_month(1) == 36
    assert found.arrivals == pytest.approx(200_000, rel=0.02)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"arrivals": 0.0}, "--arrivals 0: expected more than 0, and 1,000,000 at most"),
        ({"arrivals": float("nan")}, "--arrivals nan: expected more than 0"),
        ({"minutes": -1.0}, "--minutes -1: expected more than 0, and 43,200 at most"),
        ({"sandboxes": -1}, "--sandboxes -1: expected 0 to 1,000,000"),
        ({"arrivals": 100_000.0, "minutes": 60.0}, "--arrivals 100000 --minutes 60: about 116,667 arrivals would keep"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(values: dict[str, Any], message: str):
    with pytest.raises(UserError) as refused:
        Workload(**{"arrivals": 1.0, "minutes": 1.0, **values})
    assert str(refused.value).startswith(message)


def test_times_are_written_as_the_sdk_writes_them():
    assert [idle_hours(text, "") for text in ("90s", "10m", "2h")] == [0.025, pytest.approx(1 / 6), 2]
    with pytest.raises(UserError, match="--idle ten: expected a time such as 30s, 10m or 1h"):
        idle_hours("ten", "--idle")
