"""The randomizers that the page can run, by the name that their reports carry.

The script of the page holds a second copy of each; the tests hold both against the same random words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidValue
from discreet.exact.rational import Number
from discreet.local.categories import Categories
from discreet.local.choosing import best_randomizer
from discreet.local.duchi import DuchiMean
from discreet.local.frequency import FrequencyOracle
from discreet.local.grr import GeneralizedResponse
from discreet.local.hadamard import HadamardResponse
from discreet.local.hybrid import HybridMean
from discreet.local.mean import MeanRandomizer
from discreet.local.piecewise import PiecewiseMean
from discreet.local.randomizer import Randomizer
from discreet.local.rr import BinaryResponse
from discreet.local.subset import SubsetSelection
from discreet.local.terms import Terms
from discreet.local.unary import OptimalUnary, SymmetricUnary

__all__ = ["MEANS", "ORACLES", "best_oracle", "from_terms", "mean", "oracle"]

ORACLES: dict[str, type[FrequencyOracle]] = {
    one.kind: one
    for one in (BinaryResponse, GeneralizedResponse, SubsetSelection, OptimalUnary, SymmetricUnary, HadamardResponse)
}
"""The randomizers of categories."""

MEANS: dict[str, type[MeanRandomizer]] = {one.kind: one for one in (HybridMean, DuchiMean, PiecewiseMean)}
"""The randomizers of numbers; the first is the best for any ε."""

_REMEDY = "leave it out to get the best one"


def oracle(kind: str, epsilon: Number, categories: Sequence[str]) -> FrequencyOracle:
    """The randomizer of categories of this kind."""
    if kind not in ORACLES:
        raise InvalidValue(f"the randomizer of a choice must be one of {', '.join(ORACLES)}", kind, _REMEDY)
    return ORACLES[kind](epsilon, categories)


def mean(kind: str, epsilon: Number, lower: Number, upper: Number) -> MeanRandomizer:
    """The randomizer of numbers of this kind."""
    if kind not in MEANS:
        raise InvalidValue(f"the randomizer of a number must be one of {', '.join(MEANS)}", kind, _REMEDY)
    return MEANS[kind](epsilon, lower, upper)


def best_oracle(epsilon: Number, categories: Sequence[str]) -> FrequencyOracle:
    """The one that `best_randomizer` ranks highest; for two answers that is randomized response by another name."""
    named = Categories.named(categories)
    if len(named) == 2:
        return BinaryResponse(epsilon, named.names)
    ranked = best_randomizer(epsilon, len(named)).candidates
    return next(one.oracle for one in ranked if one.kind in ORACLES)(epsilon, named.names)


def from_terms(terms: Terms) -> Randomizer[Any]:
    """The randomizer that has these terms."""
    known: dict[str, type[Randomizer[Any]]] = {**ORACLES, **MEANS}
    if terms.kind not in known:
        raise InvalidValue("the terms must be of a randomizer that the page runs", terms.kind)
    return known[terms.kind].from_terms(terms)
