"""Timing: a slow branch is found, and what does not depend on the input is left in peace, on any machine.

No time is asserted. Where a false alarm is possible at all its rate is stated; it is exact because a coin decides which
input is timed first.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit.timing import _refuting, judged, timing
from discreet.errors import DiscreetError
from discreet.mechanisms.laplace import Laplace


def slow_branch(value: int) -> int:
    return sum(range(30_000)) if value else 0


def sometimes_slow(value: int, _counter: list[int] = [0]) -> int:  # noqa: B006  a counter between calls
    _counter[0] += value
    return sum(range(30_000)) if value and _counter[0] % 2 else 0


def raises_late(value: int) -> int:
    total = sum(range(30_000)) if value else 0
    raise ValueError(total)


@pytest.mark.parametrize("function", [slow_branch, sometimes_slow, raises_late])
def test_a_slow_branch_is_seen(function: Any) -> None:
    report = timing(function, 0, 1, pairs=1000)
    assert report.tells
    assert report.accuracy > 0.5
    assert "tells the two inputs apart" in str(report)


def test_equal_inputs_are_not_told_apart() -> None:
    """False alarm: 1e-6, whatever the machine does."""
    report = timing(Laplace(1).release, 7, 7, pairs=500)
    assert not report.tells
    assert report.accuracy == 0.5
    assert "would have been seen" in str(report)


def test_what_takes_no_time_at_all_is_not_told_apart_by_the_order_it_is_put_in() -> None:
    """200 times at a rate of 1/100; more than 14 alarms have probability 3e-9 then."""
    assert binom.sf(14, 200, 0.01) < 1e-8
    assert sum(timing(lambda _: "yes", 0, 0, pairs=1000, false_alarm=0.01, seed=k).tells for k in range(200)) <= 14


def test_the_time_of_our_noise_tells_next_to_nothing() -> None:
    """Two integers might really take different times; what must not happen is that they are told apart reliably."""
    assert timing(Laplace(1).release, 7, 8, pairs=500).accuracy < 0.75


# What is promised does not rest on a quiet machine: times are made up, with drift, bursts and dependence.


def made_up(pairs: int, chance: np.random.Generator, delay: float = 0.0, share: float = 1.0) -> Any:
    drift = np.cumsum(chance.normal(0, 1e-6, 2 * pairs)).reshape(pairs, 2) + 1e-3
    bursts = (chance.random((pairs, 1)) < 0.05) * chance.pareto(1.5, (pairs, 2)) * 1e-3
    second_place = np.array([0.0, 2e-6])  # what comes second is slower, whichever it is
    coins = chance.integers(0, 2, pairs) == 1
    slow = delay * (chance.random(pairs) < share)
    times = drift + bursts + second_place
    times[np.arange(pairs), np.where(coins, 0, 1)] += slow
    learns = chance.permutation(pairs) < pairs // 2
    return {"cpu": times, "wall": times + bursts}, coins, learns


def test_false_alarms_are_as_rare_as_promised_on_a_restless_machine() -> None:
    """400 judgements at a rate of 1/20; more than 49 alarms have probability 1e-8 then, and the seed is fixed."""
    chance = np.random.default_rng(3)
    alarms = sum(judged(*made_up(200, chance), false_alarm=0.05).tells for _ in range(400))
    assert binom.sf(49, 400, 0.05) < 1e-7
    assert alarms <= 49


@pytest.mark.parametrize(("delay", "share"), [(1e-5, 1.0), (-1e-5, 1.0), (2e-2, 0.1)])
def test_delays_are_seen_in_either_direction_and_when_they_are_rare(delay: float, share: float) -> None:
    report = judged(*made_up(4000, np.random.default_rng(4), delay, share))
    assert report.tells


def test_what_would_have_been_seen_is_seen() -> None:
    chance = np.random.default_rng(5)
    times, coins, learns = made_up(2000, chance)
    quiet = judged(times, coins, learns)
    assert not quiet.tells
    for clock, sign in zip(quiet.clocks, (1, -1), strict=True):
        late = times[clock.name].copy()
        late[np.arange(2000), np.where(coins, 0, 1)] += sign * clock.seen * 1.0001
        assert judged({clock.name: late}, coins, learns).tells


@pytest.mark.parametrize("trials", [10, 22, 23, 100, 1000])
def test_the_number_of_right_guesses_that_refutes_a_coin_is_the_binomial_one(trials: int) -> None:
    alpha = 2.5e-7
    found = _refuting(trials, alpha)
    wanted = next((k for k in range(trials + 1) if binom.sf(k - 1, trials, 0.5) < alpha), None)
    assert found == wanted


def test_a_guess_from_the_pairs_that_taught_it_would_cry_wolf() -> None:
    """The planted bug: judge on the pairs that were learned from. On few pairs it finds what is not there."""
    chance = np.random.default_rng(6)
    alarms = 0
    for _ in range(200):
        times, coins, _ = made_up(64, chance)
        both = {name: np.concatenate([each, each]) for name, each in times.items()}
        learns = np.arange(128) < 64
        alarms += judged(both, np.concatenate([coins, coins]), learns, false_alarm=0.05).tells
    assert alarms > 50


def test_a_report_is_data_for_json() -> None:
    data = json.loads(json.dumps(timing(slow_branch, 0, 0, pairs=64).to_dict()))
    assert {clock["name"] for clock in data["clocks"]} == {"cpu", "wall"}
    assert data["pairs"] == 64


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"pairs": 10}, "pairs"),
        ({"calls": 0}, "calls"),
        ({"false_alarm": 0}, "false_alarm"),
        ({"false_alarm": math.nan}, "false_alarm"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused_in_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        timing(slow_branch, 0, 1, **given)


def test_what_cannot_be_called_cannot_be_timed() -> None:
    with pytest.raises(DiscreetError, match="callable"):
        timing(3, 0, 1)  # type: ignore[arg-type]
