"""How much one person changed what noise hides: the exact loss between two measurements of one plan.

Noise is drawn from a known law, so nothing is estimated. A discrete Laplace law of scale s tells integers that lie d
apart, in the sum of absolute differences, with a loss of d/s exactly; a discrete Gaussian one of variance parameter σ²
with d²/2σ² in ρ for the squared Euclidean distance d². A choice in proportion to e^(factor · score) is compared at
every value that it can give; its groups add up in ε, or as ε²/8 in ρ. Several picks cost at most the number of picks
times factor times the spread of the scores' changes, because what is left to pick from is any part of all.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.exact.grid import Integers
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.choice import ModeChoice, QuantileChoice, TopChoice
from discreet.query.onlooker import Chosen, Hidden
from discreet.query.plan import BlockPlan
from discreet.query.weighted_quantile import distances_of

__all__ = ["choice_loss", "noise_loss"]

Floats = npt.NDArray[np.float64]


def noise_loss(plan: BlockPlan, first: list[Hidden], second: list[Hidden]) -> Fraction:
    """The loss between the integers of one part: ε under Laplace noise, ρ under Gaussian noise."""
    changes = [_changes(plan, one, other) for one, other in zip(first, second, strict=True)]
    law = first[0].law
    if isinstance(law, DiscreteLaplace):
        return sum(abs(change) for each in changes for change in each) / law.scale
    return sum(change * change for each in changes for change in each) / (2 * law.squared)


def _changes(plan: BlockPlan, first: Hidden, second: Hidden) -> list[int]:
    """By how much the integer of every group differs."""
    if plan.rule is None:
        return [int(change) for change in (first.exact - second.exact) if change]
    one, other = _by_key(first), _by_key(second)
    # How many people hold a key is known for every key; other integers only for keys that both happened to show.
    keys = one.keys() | other.keys() if first.part == plan.rule.held else one.keys() & other.keys()
    return [one.get(key, 0) - other.get(key, 0) for key in keys]


def _by_key(hidden: Hidden) -> dict[str, int]:
    return dict(zip(map(repr, hidden.groups.tuples()), hidden.exact.tolist(), strict=True))


def choice_loss(first: Chosen, second: Chosen, *, is_pure: bool) -> float:
    """The largest loss over all that a choice can give, added over its groups: in ε, or in ρ.

    An exponential mechanism of ε is ε²/8-zCDP; several picks are as many mechanisms of a part of ε each.
    """
    choice = first.choice
    pairs = _aligned(first, second)
    if isinstance(choice, TopChoice):
        picks, epsilons = choice.picks, [_picks_loss(choice, one[1], other[1]) for one, other in pairs]
    else:
        picks, epsilons = 1, [_value_loss(choice, one, other) for one, other in pairs]
    return sum(epsilons) if is_pure else sum(picks * (epsilon / picks) ** 2 / 8 for epsilon in epsilons)


Weights = tuple[Integers, Integers]


def _aligned(first: Chosen, second: Chosen) -> list[tuple[Weights, Weights]]:
    """The weights of groups that are in both, where they differ."""
    if isinstance(first.choice, TopChoice):
        pairs = list(zip(first.weights, second.weights, strict=True))
    else:
        one, other = (dict(zip(map(repr, each.groups.tuples()), each.weights, strict=True)) for each in (first, second))
        pairs = [(one[key], other[key]) for key in one.keys() & other.keys()]
    return [pair for pair in pairs if not all(map(np.array_equal, *pair))]


def _picks_loss(choice: TopChoice, first: Integers, second: Integers) -> float:
    changes = second - first
    return float(choice.picks * choice.factor * int(changes.max() - changes.min()))


def _value_loss(choice: QuantileChoice | ModeChoice, first: Weights, second: Weights) -> float:
    one, other = _log_probabilities(choice, first), _log_probabilities(choice, second)
    return float(np.max(np.abs(one - other)))


def _log_probabilities(choice: QuantileChoice | ModeChoice, weights: Weights) -> Floats:
    if isinstance(choice, ModeChoice):
        scores = float(choice.factor) * weights[1].astype(np.float64)
    else:
        distances = distances_of(*weights, choice)
        each = [distances[point] for point in range(choice.ends[0], choice.ends[1] + 1)]
        scores = -float(choice.factor / choice.quantile.denominator) * np.asarray(each, np.float64)
    top = scores.max()
    return np.asarray(scores - top - np.log(np.exp(scores - top).sum()), np.float64)
