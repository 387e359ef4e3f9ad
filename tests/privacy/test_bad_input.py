"""Whatever is passed to the calculus of privacy, refusals are in our own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidInput

STRANGE = [None, 3, "x", 1j, [1, 2], object()]

CALLS: dict[str, Callable[[Any], Any]] = {
    "Pure": dp.Pure,
    "Approximate": lambda thing: dp.Approximate(1, thing),
    "ZeroConcentrated": dp.ZeroConcentrated,
    "GaussianDP": dp.GaussianDP,
    "Renyi": dp.Renyi,
    "Neighbours": dp.Neighbours.of,
    "Norm": dp.Norm.of,
    "Sensitivity": lambda thing: dp.Sensitivity(1, thing),
    "Sensitivity.vector": dp.Sensitivity.vector,
    "Beliefs": dp.Beliefs,
    "ErrorRegion": dp.ErrorRegion,
    "Pair": lambda thing: dp.Pair(thing, [1]),
    "Pair of strange things": lambda thing: dp.Pair([thing], [1]),
    "sequential": dp.sequential,
    "parallel": lambda thing: dp.parallel(thing, "replace-one"),
    "most_releases": lambda thing: dp.most_releases(thing, dp.Pure(1)),
    "epsilon_each": lambda thing: dp.epsilon_each(3, thing),
    "PureFilter": dp.PureFilter,
    "ConcentratedFilter": dp.ConcentratedFilter,
    "Batch": lambda thing: dp.Batch([thing]),
    "reports": dp.CategoricalResponse(1, ["a", "b"]).estimate_counts,
    "shares": dp.CategoricalResponse(1, ["a", "b"]).estimate_frequencies,
    "pmf": lambda thing: dp.Laplace(1).law.pmf([thing, [1, 2, 3]]),
}
FINE = {("Pure", 3), ("ZeroConcentrated", 3), ("GaussianDP", 3)}


@pytest.mark.parametrize(
    ("call", "thing"),
    [
        pytest.param(call, thing, id=f"{name}-{type(thing).__name__}")
        for name, call in CALLS.items()
        for thing in STRANGE
        if not any(name == fine and thing is value for fine, value in FINE)
    ],
)
def test_strange_things_are_refused_in_our_words(call: Callable[[Any], Any], thing: Any) -> None:
    with pytest.raises(InvalidInput):
        call(thing)


@pytest.mark.parametrize("key", [5, 1.5, ["a"], b"a", "", "  "])
def test_a_unit_is_named_by_a_column(key: Any) -> None:
    with pytest.raises(InvalidInput):
        dp.Unit(key)


def test_probabilities_of_a_pair_mean_their_shortest_decimal() -> None:
    assert float(dp.Pair([0.2, 0.8], ["0.5", 0.5]).total_variation()) == pytest.approx(0.3, abs=1e-15)
    assert float(dp.Pair([0.1] * 10, [0.1] * 10).unlisted) < 1e-40


def test_values_of_a_law_need_not_fit_a_machine_word() -> None:
    law = dp.Laplace(1).law
    assert law.pmf([0, 2**80]).tolist() == [law.pmf(0), 0.0]  # type: ignore[arg-type]
    assert law.tail(-(2**80)) == 1
