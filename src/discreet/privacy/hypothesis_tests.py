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

An error region holds the errors that a loss leaves possible. A test sees the outcome and says "x" or its neighbour
"x'". A false positive says x' where x is true, a false negative says x where x' is true. A loss forbids that both are
rare.

>>> from discreet.privacy.hypothesis_tests import OddsRatio
>>> coins = ErrorRegion(OddsRatio(3))
>>> str(coins.least_false_negative("1/4")), str(coins.least_error_sum())
('1/4', '1/2')

An odds ratio is a loss as a factor: how many times likelier one unit can make an outcome.

>>> [str(limit) for limit in possible_probabilities("0.2", OddsRatio("5/4"))]
['4/25', '1/4']
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import Ball, ball, exp_up, ln_up, lower, normal_cdf, round_up, sqrt_up, working_precision
from discreet.exact.rational import Number, positive, probability, rational
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure

__all__ = [
    "ErrorRegion",
    "LossVariable",
    "OddsRatio",
    "Pair",
    "Range",
    "factor_and_delta",
    "pinsker_bound",
    "possible_probabilities",
    "pure_factor",
]


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


Range = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class OddsRatio:
    """A pure loss ε = ln(factor), for people who think in ratios: 3 for two coins, exactly, where ln 3 is not."""

    factor: Fraction
    """The most that one unit can multiply or divide the probability of an outcome by: e^ε."""

    def __init__(self, factor: Number) -> None:
        ratio = positive(factor, "factor")
        if ratio < 1:
            raise InvalidValue("factor must be at least 1", factor)
        object.__setattr__(self, "factor", ratio)

    @property
    def loss(self) -> Pure:
        """The same promise as a pure loss, rounded up."""
        return Pure(0 if self.factor == 1 else round_up(ln_up(self.factor)))

    def __str__(self) -> str:
        return f"one unit makes no outcome more than {self.factor} times likelier or less likely"


def factor_and_delta(loss: Loss | OddsRatio) -> tuple[Fraction, Fraction]:
    """e^ε, rounded up, and δ."""
    if isinstance(loss, OddsRatio):
        return loss.factor, Fraction(0)
    if isinstance(loss, Pure):
        return exp_up(loss.epsilon), Fraction(0)
    if isinstance(loss, Approximate):
        return exp_up(loss.epsilon), loss.delta
    raise NoProvedPath("this reading needs a pure or an (ε, δ) loss", repr(loss), "use .approximate(delta=…)")


def pure_factor(loss: Loss | OddsRatio) -> Fraction:
    """e^ε, rounded up, of a loss without δ: with δ above 0 an outcome may prove either world."""
    factor, delta = factor_and_delta(loss)
    if delta:
        raise NoProvedPath("with delta above 0 an outcome may prove either world", float(delta), "use a pure loss")
    return factor


def possible_probabilities(p: Number, loss: Loss | OddsRatio) -> Range:
    """Every value that P(A(x') ∈ E) can take for a neighbour x', given P(A(x) ∈ E) = p.

    The event and its complement both obey the definition, in both directions; the four bounds together are tight.
    """
    here = probability(p, "p")
    factor, delta = factor_and_delta(loss)
    low = max((here - delta) / factor, 1 - factor * (1 - here) - delta, Fraction(0))
    high = min(factor * here + delta, 1 - (1 - here - delta) / factor, Fraction(1))
    return low, high


_NEGLIGIBLE = 2.0**-1000
_EPSILONS = [Fraction(0), *(Fraction(k, 8) ** 2 for k in range(1, 41))]


@dataclass(frozen=True)
class ErrorRegion:
    """The error rates (p, q) with p + e^ε q ≥ 1 - δ and p e^ε + q ≥ 1 - δ, at every (ε, δ) that the loss implies.

    Exact for pure, (ε, δ) and Gaussian losses. Zero-concentrated and Rényi losses are read at a list of ε from 0 to 25,
    so the region may allow a test that the loss in fact forbids, never the other way round.
    """

    loss: Loss | OddsRatio

    def __post_init__(self) -> None:
        if not isinstance(self.loss, (Loss, OddsRatio)):
            raise InvalidType("loss must be a privacy loss or an odds ratio", self.loss, "Pure(1), for example")

    def allows(self, false_positive: Number, false_negative: Number) -> bool:
        """Whether the loss leaves a test with these two error rates possible."""
        return probability(false_negative, "false_negative") >= self.least_false_negative(false_positive)

    def least_false_negative(self, false_positive: Number) -> Fraction:
        """The least false-negative rate of any test with this false-positive rate, rounded down."""
        p = probability(false_positive, "false_positive")
        if isinstance(self.loss, GaussianDP):
            return _gaussian_trade_off(self.loss.mu, p)
        return max(max((1 - d - p) / f, 1 - d - f * p, Fraction(0)) for f, d in self._terms())

    def least_error_sum(self) -> Fraction:
        """The least sum of the two error rates, 2 (1 - δ) / (1 + e^ε), rounded down: where the two lines meet."""
        return max(2 * (1 - d) / (1 + f) for f, d in self._terms())

    def _terms(self) -> list[tuple[Fraction, Fraction]]:
        """Pairs of e^ε and δ that the loss implies."""
        loss = self.loss
        if isinstance(loss, OddsRatio) or loss.name in ("pure", "approximate"):
            return [factor_and_delta(loss)]
        epsilons = _EPSILONS[:1] if isinstance(loss, GaussianDP) else _EPSILONS
        return [(exp_up(epsilon), loss.delta_at(epsilon)) for epsilon in epsilons]


def _gaussian_trade_off(mu: Fraction, p: Fraction) -> Fraction:
    """Φ(Φ⁻¹(1 - p) - μ), rounded down: the curve that defines μ-GDP."""
    if p in (0, 1):
        return 1 - p
    with working_precision():
        quantile = Ball(2).sqrt() * ball(2 * p).erfcinv()
        least = normal_cdf(quantile - ball(mu))
        return max(lower(least), Fraction(0)) if least > _NEGLIGIBLE else Fraction(0)


def pinsker_bound(loss: Loss) -> Fraction:
    """1 - √(ε/2), the texts' bound on the sum of the two errors; `ErrorRegion.least_error_sum` is never worse."""
    if not isinstance(loss, Pure):
        raise NoProvedPath("this bound is stated for pure losses", repr(loss), "use ErrorRegion")
    return 1 - sqrt_up(loss.epsilon / 2)
