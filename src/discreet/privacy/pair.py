"""Two laws side by side: everything that can be said about telling them apart, outcome by outcome.

Feed it the exact laws of a mechanism at two neighbouring inputs and it states the true privacy loss: the largest
log-ratio (pure ε), δ at any ε, the Rényi and Kullback-Leibler divergences, the privacy-loss random variable, and the
trade-off between the two errors of the best test. Probabilities may be numbers or balls; a float means its shortest
decimal.

The answers are exact when the outcomes are all there are. Of a longer law that was cut, `Pair` knows the listed part:
its ε and δ are then bounds from below, and ``pair.delta(ε) + pair.unlisted`` is one from above.

>>> truth, lie = "3/4", "1/4"
>>> coins = Pair([truth, lie], [lie, truth])
>>> float(coins.max_divergence()) == math.log(3)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import Ball, ball, working_precision
from discreet.exact.rational import Number, rational

__all__ = ["LossVariable", "Pair"]

Probability = Number | Ball


@dataclass(frozen=True)
class LossVariable:
    """The privacy-loss random variable ln(P(t)/Q(t)) for t drawn from P."""

    values: tuple[float, ...]
    """The possible losses, rising; ∞ where an outcome is impossible under Q."""
    probabilities: tuple[float, ...]
    """How likely each one is under P."""

    @property
    def mean(self) -> float:
        """The Kullback-Leibler divergence from P to Q."""
        return math.fsum(v * p for v, p in zip(self.values, self.probabilities, strict=True))

    def exceeds(self, epsilon: float) -> float:
        """P(loss > ε): a bound on the δ at ε, and a cruder one than `Pair.delta`."""
        return math.fsum(p for v, p in zip(self.values, self.probabilities, strict=True) if v > epsilon)


class Pair:
    """Laws P and Q on the same listed outcomes."""

    def __init__(self, first: Sequence[Probability], second: Sequence[Probability]) -> None:
        for law in (first, second):
            if isinstance(law, str) or not isinstance(law, Sequence):
                raise InvalidType("a law must be a list of probabilities", law)
        if len(first) != len(second) or not first:
            rule = "the two laws must list the same outcomes, at least one"
            raise InvalidValue(rule, f"<{len(first)} and {len(second)}>")
        with working_precision():
            self._p, self._q = ([_ball(probability) for probability in law] for law in (first, second))
        for mass in (*self._p, *self._q):
            if not mass.is_finite() or mass < 0 or mass > 1:
                raise InvalidValue("probabilities must lie between 0 and 1", str(mass))
        with working_precision():
            for total in (sum(self._p, Ball(0)), sum(self._q, Ball(0))):
                if total > 1:
                    raise InvalidValue("the probabilities of a law must sum to at most 1", str(total))

    @property
    def unlisted(self) -> Ball:
        """The probability that P gives to outcomes that are not listed."""
        with working_precision():
            return (1 - sum(self._p, Ball(0))).nonnegative_part()

    def reversed(self) -> Pair:
        """The same two laws with their roles exchanged."""
        return Pair(self._q, self._p)

    def max_divergence(self) -> Ball:
        """The largest ln(P(t)/Q(t)): the least ε with P(E) ≤ e^ε Q(E) for all events; ∞ where Q excludes an outcome."""
        with working_precision():
            ratios = [_ratio(p, q) for p, q in zip(self._p, self._q, strict=True) if not p.is_zero()]
            return _largest([_log(ratio) for ratio in ratios]) if ratios else Ball.neg_inf()

    def epsilon(self) -> Ball:
        """The least ε with P(E) ≤ e^ε Q(E) and Q(E) ≤ e^ε P(E) for all events; ∞ where no finite one does."""
        with working_precision():
            return _largest([self.max_divergence(), self.reversed().max_divergence()])

    def delta(self, epsilon: Number | Ball) -> Ball:
        """The least δ with P(E) ≤ e^ε Q(E) + δ for all events E."""
        with working_precision():
            factor = (epsilon if isinstance(epsilon, Ball) else ball(rational(epsilon, "epsilon"))).exp()
            gaps = (p - factor * q for p, q in zip(self._p, self._q, strict=True))
            return sum((gap.nonnegative_part() for gap in gaps), Ball(0))

    def total_variation(self) -> Ball:
        """The largest difference P(E) - Q(E): δ-additive secrecy asks that it be small."""
        return self.delta(0)

    def kullback_leibler(self) -> Ball:
        """Σ P ln(P/Q)."""
        with working_precision():
            pairs = [(p, q) for p, q in zip(self._p, self._q, strict=True) if not p.is_zero()]
            if any(q.is_zero() for _, q in pairs):
                return Ball.pos_inf()
            return sum((p * (p / q).log() for p, q in pairs), Ball(0))

    def renyi(self, order: Number) -> Ball:
        """The Rényi divergence ln(Σ P^α Q^(1-α)) / (α - 1) of an order α > 1."""
        alpha = rational(order, "order")
        if alpha <= 1:
            raise InvalidValue("a Rényi order must be above 1", order)
        with working_precision():
            a = ball(alpha)
            pairs = [(p, q) for p, q in zip(self._p, self._q, strict=True) if not p.is_zero()]
            if any(q.is_zero() for _, q in pairs):
                return Ball.pos_inf()
            return sum((p**a * q ** (1 - a) for p, q in pairs), Ball(0)).log() / (a - 1)

    def loss_variable(self) -> LossVariable:
        """The privacy-loss random variable, equal losses merged."""
        weights: dict[float, float] = {}
        with working_precision():
            for p, q in zip(self._p, self._q, strict=True):
                if not p.is_zero():
                    loss = float(_log(_ratio(p, q)))
                    weights[loss] = weights.get(loss, 0.0) + float(p)
        values = sorted(weights)
        return LossVariable(tuple(values), tuple(weights[v] for v in values))

    def trade_off(self) -> list[tuple[float, float]]:
        """Corner points (false positive, false negative) of the best tests of "P" against "Q", joined by lines.

        By Neyman and Pearson the best tests reject P where Q/P is largest, so the corners follow that order.
        """
        with working_precision():
            pairs = zip(self._p, self._q, strict=True)
            order = sorted(pairs, key=lambda pq: float(_ratio(pq[1], pq[0])), reverse=True)
            corners, false_positive, false_negative = [(0.0, 1.0)], Ball(0), Ball(1)
            for p, q in order:
                false_positive, false_negative = false_positive + p, false_negative - q
                corners.append((min(float(false_positive), 1.0), max(float(false_negative), 0.0)))
        return corners

    def least_error_sum(self) -> Ball:
        """The least sum of false-positive and false-negative rates that any test can reach: 1 - total variation."""
        with working_precision():
            return 1 - self.total_variation()


def _ball(probability: Probability) -> Ball:
    return Ball(probability) if isinstance(probability, Ball) else ball(rational(probability, "probability"))


def _largest(values: Sequence[Ball]) -> Ball:
    """A ball around the largest, also where some of them overlap."""
    if any(value == Ball.pos_inf() for value in values):
        return Ball.pos_inf()
    return reduce(lambda first, second: first.max(second), values)


def _log(ratio: Ball) -> Ball:
    return Ball.pos_inf() if ratio == Ball.pos_inf() else ratio.log()


def _ratio(p: Ball, q: Ball) -> Ball:
    if q.is_zero():
        return Ball(1) if p.is_zero() else Ball.pos_inf()
    return p / q
