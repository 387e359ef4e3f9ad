"""Several questions per person: prices, who is asked what, estimates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput
from discreet.local.domains import Bins
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.histogram import BinnedNumbers
from discreet.local.mean_mechanisms import HybridMean
from discreet.local.multiple_questions import DRAW, SPLIT, Several
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.local.reports import Reports
from discreet.noise.source import ReplayableSource
from discreet.privacy.loss import Pure
from tests.local.contract import Untouched
from tests.noise.goodness import misfit

QUESTIONS: dict[str, Any] = {
    "smokes": BinaryResponse,
    "party": lambda epsilon: GeneralizedResponse(epsilon, ["red", "green", "blue"]),
    "age": lambda epsilon: HybridMean(epsilon, 0, 120),
}


def answers(n: int) -> dict[str, Any]:
    return {
        "smokes": [k % 4 == 0 for k in range(n)],
        "party": [("red", "green", "blue", "blue")[k % 4] for k in range(n)],
        "age": np.arange(n) % 101,
    }


def test_nobody_pays_more_than_the_price() -> None:
    drawn, split = Several(3, QUESTIONS), Several(3, QUESTIONS, SPLIT)
    assert drawn.loss == split.loss == Pure(3, "replace-one")
    assert all(randomizer.loss == Pure(3, "replace-one") for randomizer in drawn.randomizers.values())
    assert sum(randomizer.loss.epsilon for randomizer in split.randomizers.values()) == 3
    assert repr(split) == "Several(Pure(ε=3, replace-one), 3 questions, 'split')"


def test_everybody_answers_all_questions_or_one() -> None:
    """Which one is uniform: false alarm 1e-7 by the bound in tests/noise/goodness.py."""
    split = Several(3, QUESTIONS, SPLIT).privatize(answers(100))
    assert {name: len(reports) for name, reports in split.items()} == dict.fromkeys(QUESTIONS, 100)
    drawn = Several(3, QUESTIONS).privatize(answers(30_000), source=ReplayableSource("drawn"))
    counts = np.array([len(reports) for reports in drawn.values()])
    assert counts.sum() == 30_000
    assert misfit(counts, np.full(3, 1 / 3)) > 1e-7


def test_who_is_asked_does_not_depend_on_the_answers() -> None:
    one, other = (
        Several(1, QUESTIONS).privatize(answers(1000) | changed, source=ReplayableSource("same"))
        for changed in ({}, {"age": np.zeros(1000), "smokes": [True] * 1000})
    )
    assert [len(reports) for reports in one.values()] == [len(reports) for reports in other.values()]


@pytest.mark.parametrize("how", [DRAW, SPLIT])
def test_estimates_are_those_of_each_question(how: str) -> None:
    """20,000 people; all intervals at confidence 1 - 1e-8: false alarm below 1e-7."""
    several = Several(4, QUESTIONS, how)
    reports = several.privatize(answers(20_000), source=ReplayableSource("all"))
    found = several.estimate({name: Reports.from_bytes(part.to_bytes()) for name, part in reports.items()})
    for name, truth in (("smokes", [0.75, 0.25]), ("party", [0.25, 0.25, 0.5])):
        low, high = found[name].population_intervals(1 - 1e-8).T
        assert ((low <= truth) & (truth <= high)).all()
    low, high = found["age"].population_interval(1 - 1e-8)
    assert low <= float(np.mean(answers(20_000)["age"])) <= high
    assert high - low < 20


def test_population_intervals_cover_all_who_reported() -> None:
    """Drawn questions, 100 crowds of 600 people; the share among all of them. False alarm 1e-7."""
    several = Several(2, {"a": BinaryResponse, "b": BinaryResponse})
    values = {"a": [k % 3 == 0 for k in range(600)], "b": [k % 2 == 0 for k in range(600)]}
    missed = np.zeros(2)
    for trial in range(100):
        found = several.estimate(several.privatize(values, source=ReplayableSource(f"crowd {trial}")))
        for place, (name, truth) in enumerate((("a", 1 / 3), ("b", 1 / 2))):
            low, high = found[name].population_intervals(0.8)[1]
            missed[place] += not low <= truth <= high
    assert missed.max() <= binom.isf(1e-7, 100, 0.2)


def test_drawing_is_better_than_splitting_where_there_is_noise() -> None:
    for epsilon in (0.1, 1, 2):
        drawn, split = (BinaryResponse(price).estimator for price in (epsilon, epsilon / 3))
        sampling = 0.25
        assert 3 * (drawn.variance(1, 0.5) + sampling) < split.variance(1, 0.5) + sampling


def test_histograms_and_texts_can_be_among_them() -> None:
    makers = {
        "age": lambda epsilon: BinnedNumbers(epsilon, Bins.between(0, 100, 5)),
        "town": lambda epsilon: HeavyHitters(epsilon, length=4),
    }
    reports = Several(8, makers).privatize({"age": [30] * 2000, "town": ["Köln"[:3]] * 2000})
    found = Several(8, makers).estimate(reports)
    assert found["age"].n + len(reports["town"]) == 2000


def test_one_person_can_answer() -> None:
    reports = Several(1, QUESTIONS).privatize({"smokes": True, "party": "red", "age": 30})
    assert sum(map(len, reports.values())) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"smokes": [True], "party": ["red"]},
        {"smokes": [True], "party": ["red"], "age": [3, 4]},
        {"smokes": [True], "party": ["red"], "age": [121]},
        {"smokes": [True], "party": ["pink"], "age": [3]},
        {"smokes": [True], "party": ["red"], "age": [3], "more": [1]},
        [True, "red", 3],
        None,
    ],
)
def test_bad_answers_are_refused_before_drawing(bad: Any) -> None:
    for how in (DRAW, SPLIT):
        with pytest.raises(InvalidInput):
            Several(1, QUESTIONS, how).privatize(bad, source=Untouched())


def test_bad_questions_are_refused() -> None:
    for epsilon, questions, how in (
        (1, {}, DRAW),
        (1, None, DRAW),
        (0, QUESTIONS, DRAW),
        (1, QUESTIONS, "both"),
        (1, {"a": lambda epsilon: BinaryResponse(2 * epsilon)}, DRAW),
        (1, {"a": lambda _: BinaryResponse(math.log(3))}, SPLIT),
        (1, {"a": lambda _: None}, DRAW),
    ):
        with pytest.raises(InvalidInput):
            Several(epsilon, questions, how)
    several = Several(1, QUESTIONS)
    reports = several.privatize(answers(100))
    for missing in ({}, {"smokes": reports["smokes"]}, None):
        with pytest.raises(InvalidInput):
            several.estimate(missing)
    with pytest.raises(InvalidInput):
        several.estimate(reports | {"party": reports["smokes"]})
