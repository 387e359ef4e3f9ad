"""How well any test can tell two neighbouring datasets apart: the errors that a loss leaves possible.

A test sees the outcome and says "x" or its neighbour "x'". A false positive says x' where x is true, a false negative
says x where x' is true. A loss forbids that both are rare.

>>> from discreet.privacy.odds import OddsRatio
>>> coins = ErrorRegion(OddsRatio(3))
>>> str(coins.least_false_negative("1/4")), str(coins.least_error_sum())
('1/4', '1/2')
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidType, NoProvedPath
from discreet.exact.ball import Ball, ball, exp_up, lower, normal_cdf, sqrt_up, working_precision
from discreet.exact.rational import Number, probability
from discreet.privacy.loss import GaussianDP, Loss, Pure
from discreet.privacy.odds import OddsRatio, factor_and_delta

__all__ = ["ErrorRegion", "pinsker_bound"]

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
