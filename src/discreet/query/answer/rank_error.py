"""How many ranks a private quantile may be off, known before any row is read.

Claim. A quantile is chosen among P grid points, each with probability proportional to e^(-f·d), where d is the distance
of a point from the target, in ranks. With probability c, at least, the chosen point is less than
t = ln((P - 1) · c / (1 - c)) / f ranks further off than the best point, whatever the rows are. This is never more than
the better known ln(P / (1 - c)) / f.

Proof. Let d* be the least distance, and let k points lie at d* + t or further; k is at most P - 1, since the best point
is none of them. They weigh at most k · e^(-f(d* + t)) together, the best point alone weighs e^(-f·d*), so one of them
is chosen with probability at most x / (1 + x) with x = k · e^(-f·t). This is at most 1 - c where x is at most
(1 - c) / c, and so where t is at least ln(k · c / (1 - c)) / f. With t of the claim this holds for every k that is
possible. For P = 1, or where the logarithm is not positive, t is 0.

The best point is at distance zero: the point v covers the ranks from L to L + m, with L the weight below v and m the
weight at v, the next point goes on where v ends, the first starts at 0 and the last ends at the total, because values
are moved between the bounds and onto the grid before they are counted. So some point covers the target, and t is the
distance itself. On a grid that leaves values out no point may cover it; then t is how much worse than the best point.

Ranks are counted among the values as they were clamped, rounded and weighted. The target of MIN and MAX lies inward of
the last rank (`WeightedQuantile.inward`), which comes on top.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.exponential import worst_shortfall
from discreet.noise.law import open_probability

__all__ = ["rank_error"]


def rank_error(points: int, factor: Number, confidence: Number = Fraction(19, 20)) -> float:
    """How far off a quantile may be, in the ranks that ``factor`` multiplies, with this confidence at least.

    >>> round(rank_error(points=1000, factor=Fraction(1, 10)), 1)
    98.5
    """
    failure = 1 - open_probability(confidence, "confidence")
    return worst_shortfall(positive(factor, "factor"), integer(points, "points", least=1), failure)
