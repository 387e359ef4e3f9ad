"""Composition: what several releases cost together.

`sequential` adds releases about the same people, each perhaps chosen after seeing the ones before. `parallel` holds
releases about disjoint sets of people to the cost of the dearest. `advanced` and `optimal` trade a little δ for a
total that grows with √k instead of k. Theorems and proofs: docs/explanation/composition.md.

>>> sequential([Pure(0.1)] * 10), parallel([Pure(0.1), Pure(0.3)], "add-remove-one")
(Pure(ε=1), Pure(ε=0.3, add-remove-one))
>>> advanced(Pure(0.01), 1000, delta=1e-6), optimal(Pure(0.01), 1000, delta=1e-6)
(Approximate(ε=1.7123, δ=1e-06), Approximate(ε=1.3655, δ=1e-06))
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from itertools import combinations

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import Ball, ball, round_up, upper, working_precision
from discreet.exact.rational import Number, integer, probability
from discreet.privacy.conversion import least_epsilon
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

__all__ = ["advanced", "optimal", "parallel", "sequential"]


_MOST_RELEASES = 10**6


def sequential(losses: Iterable[Loss]) -> Loss:
    """The loss of all releases together, about the same units, adaptively chosen or not."""
    listed = _list(losses)
    return reduce(operator.add, listed) if listed else Pure(0)


def parallel(losses: Iterable[Loss], neighbours: Neighbours | str) -> Loss:
    """The loss of releases about disjoint sets of units.

    Each loss must hold when one unit joins or leaves its set and, under replace-one, also when one unit in it is
    replaced. Under add-remove-one a unit is in one set only, so the dearest release is the price of all. Under
    replace-one a unit can leave one set and enter another, so the two dearest add up; where a loss says that it was
    proved for joining and leaving alone, a unit that is replaced within a set counts as a group of two.
    """
    relation, counted = Neighbours.of(neighbours), Counter(map(_of_one_set, _list(losses)))
    prices: list[Loss] = list(counted)
    if relation is Neighbours.REPLACE_ONE:
        within = [price.under(relation) for price in prices if price.neighbours is not None]
        moved = [2 * price for price, count in counted.items() if count > 1]
        moved += [first + second for first, second in combinations(prices, 2)]
        prices = [price._said(None) for price in within + moved] or prices
    return reduce(operator.or_, prices)._said(relation) if prices else Pure(0)  # it covers every one of them


def _of_one_set(loss: Loss) -> Loss:
    if loss.neighbours is Neighbours.REPLACE_ONE:
        rule = "a loss proved for replace-one says nothing about a set that one unit leaves for another"
        raise NoProvedPath(rule, f"<{loss!r}>", "prove each loss under add-remove-one")
    return loss


def advanced(loss: Loss, count: int, delta: Number) -> Approximate:
    """``count`` releases of one (ε₀, δ₀): ε = ε₀ √(2k ln(1/δ')) + k ε₀ tanh(ε₀/2), δ = kδ₀ + δ'.

    Dwork, Rothblum and Vadhan (2010), with the mean loss ε₀ tanh(ε₀/2) of randomized response in place of their
    larger ε₀ (e^ε₀ - 1). Here for comparison and for hand calculation: `optimal` is never worse.
    """
    epsilon, step = _terms(loss)
    k, slack = integer(count, "count", least=1), _slack(delta)
    with working_precision():
        e = ball(epsilon)
        spread = e * (2 * k * -(ball(slack).log())).sqrt()
        total = upper(spread + k * e * (e / 2).tanh())
    return Approximate(round_up(total), k * step + slack, loss.neighbours)


def optimal(loss: Loss, count: int, delta: Number) -> Approximate:
    """The least ε at ``delta`` of ``count`` releases of one (ε₀, δ₀), exactly (Kairouz, Oh, Viswanath 2015).

    Randomized response is the worst mechanism with that loss, so its k-fold product gives the curve. The total δ,
    ``delta``, includes what the releases' own δ₀ use up.
    """
    epsilon, step = _terms(loss)
    k, wanted = integer(count, "count", least=1, most=_MOST_RELEASES), _slack(delta)
    kept = (1 - step) ** k
    if 1 - kept >= wanted:
        rule = f"delta must exceed {float(1 - kept):g}, what the releases' own deltas use up"
        raise InvalidValue(rule, delta)
    product = _ResponseProduct(epsilon, k)
    least = least_epsilon(lambda e: 1 - kept * (1 - product.delta_at(e)), wanted)
    return Approximate(least, wanted, loss.neighbours)


class _ResponseProduct:
    """k-fold randomized response: loss (k-2j)ε₀ with probability C(k,j) e^((k-j)ε₀) / (1+e^ε₀)^k."""

    def __init__(self, epsilon: Fraction, count: int) -> None:
        self._epsilon, self._count = epsilon, count
        with working_precision(256):
            ratio = (-ball(epsilon)).exp()
            mass = (1 + ratio) ** -count  # j = 0: every answer was the truth
            here, there = Ball(0), Ball(0)
            self._sums = [(here, there)]  # P and Q of the first j outcomes
            other = mass * ratio**count
            for j in range(count // 2 + 1):
                here, there = here + mass, there + other
                self._sums.append((here, there))
                step = Ball(count - j) / (j + 1)
                mass, other = mass * ratio * step, other / ratio * step

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """δ at ``epsilon`` ≥ 0, rounded up: the outcomes whose loss is above it, P minus e^ε times Q."""
        if self._epsilon == 0:
            return Fraction(0)
        above = (self._count - epsilon / self._epsilon) / 2  # outcomes j < above
        taken = min(max(-(-above.numerator // above.denominator), 0), len(self._sums) - 1)
        with working_precision(256):
            here, there = self._sums[taken]
            return max(round_up(upper(here - ball(epsilon).exp() * there), 200), Fraction(0))


def _list(losses: Iterable[Loss]) -> list[Loss]:
    if not isinstance(losses, Iterable):
        raise InvalidType("losses must be a list of privacy losses", losses)
    listed = list(losses)
    for loss in listed:
        if not isinstance(loss, Loss):
            raise InvalidType("loss must be a privacy loss", loss, "Pure(0.1), for example")
    return listed


def _terms(loss: Loss) -> tuple[Fraction, Fraction]:
    if isinstance(loss, Pure):
        return loss.epsilon, Fraction(0)
    if isinstance(loss, Approximate):
        return loss.epsilon, loss.delta
    if isinstance(loss, (ZeroConcentrated, GaussianDP, Renyi)):
        raise NoProvedPath("this theorem is about pure and (ε, δ) losses", repr(loss), "add the loss itself k times")
    raise InvalidType("loss must be a privacy loss", loss)


def _slack(delta: Number) -> Fraction:
    number = probability(delta, "delta")
    if not 0 < number < 1:
        raise InvalidValue("delta must lie strictly between 0 and 1", delta)
    return number
