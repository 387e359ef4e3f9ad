"""The largest groups by name alone: k selections instead of a noisy count for every group, where that errs less.

A query that orders groups by one count, keeps the first k and shows nothing but their keys does not need the counts. A
race among the groups with the first k over the line costs k exponential mechanisms (`mechanisms/top_k.md`): a unit's
weights all point the same way, so each costs factor times the unit's weight.

Which errs less does not depend on the price. At 95 %, k picks among G groups fall short of the truth by at most
k·ln(19k(G-1)) in units of B/ε, or by √k·ln(19k(G-1))/√8 in units of B/√ρ; noisy counts may be off by ln(20G), or by
√(ln(40G)), twice, for a group that is too high and one that is too low.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.mechanisms.top_k import TopK
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import Aggregate, bound_scores
from discreet.query.plan.budget_split import Price

__all__ = ["TopSelection", "read_top_groups", "selection_is_better"]


@dataclass(frozen=True)
class TopSelection:
    """The heaviest groups themselves, best first, each from those that are left."""

    aggregate: Aggregate
    """Which rows count."""
    epsilon: Fraction
    """The pure loss of one pick."""
    points: int
    """Among how many."""
    mechanism: TopK
    """What chooses, by the positions of the groups."""

    @property
    def picks(self) -> int:
        """How many are chosen."""
        return self.mechanism.picks

    @property
    def factor(self) -> Fraction:
        """What a weight is multiplied by: ε/Δ."""
        return self.mechanism.factor


def read_top_groups(
    aggregate: Aggregate, epsilon: Fraction, weight: Fraction, groups: tuple[int, int], neighbours: Neighbours
) -> TopSelection:
    """The choice of the first of ``groups``, out of the second, each of which costs ``epsilon``."""
    picks, points = groups
    moved, monotone = bound_scores(weight, neighbours)
    mechanism = TopK(picks * epsilon, picks, sensitivity=moved, monotone=monotone)
    return TopSelection(aggregate, epsilon, points, mechanism)


_TOP_ODDS = 19


def selection_is_better(top: int, groups: int, price: Price) -> bool:
    """Whether choosing ``top`` of so many groups errs less than counting all of them."""
    if top >= groups:
        return False
    picks = math.log(_TOP_ODDS * top * (groups - 1))
    if isinstance(price, Pure):
        return top * picks < 2 * math.log((_TOP_ODDS + 1) * groups)
    return math.sqrt(top / 8) * picks < 2 * math.sqrt(math.log(2 * (_TOP_ODDS + 1) * groups))
