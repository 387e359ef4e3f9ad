"""What a loss means to a person who wonders what an attacker could conclude.

Every function is a theorem of the course texts made callable: how far a probability can move, how well any test can
do, and how far any belief can shift.

>>> [str(limit) for limit in possible_probabilities("0.2", epsilon_of_ratio("5/4"))]
['4/25', '1/4']
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from discreet.errors import InvalidValue, NoProvedPath
from discreet.exact.ball import Ball, ball, exp_up, sqrt_up, upper, working_precision
from discreet.exact.rational import Number, positive, probability
from discreet.privacy.loss import Approximate, Loss, Pure

__all__ = [
    "Beliefs",
    "ErrorRegion",
    "OddsRatio",
    "Range",
    "epsilon_of_ratio",
    "farthest",
    "pinsker_bound",
    "possible_probabilities",
    "posterior_odds",
    "posterior_range",
    "with_or_without_me",
]

Range = tuple[Fraction, Fraction]
World = TypeVar("World", bound=Hashable)


@dataclass(frozen=True)
class OddsRatio:
    """A pure loss given by its factor e^ε, for people who think in ratios; rational where ε itself is not."""

    factor: Fraction


def epsilon_of_ratio(factor: Number) -> OddsRatio:
    """The loss ε = ln(factor), kept exact."""
    ratio = positive(factor, "factor")
    if ratio < 1:
        raise InvalidValue("factor must be at least 1", factor)
    return OddsRatio(ratio)


def _terms(loss: Loss | OddsRatio) -> tuple[Fraction, Fraction]:
    """e^ε, rounded up, and δ."""
    if isinstance(loss, OddsRatio):
        return loss.factor, Fraction(0)
    if isinstance(loss, Pure):
        return exp_up(loss.epsilon), Fraction(0)
    if isinstance(loss, Approximate):
        return exp_up(loss.epsilon), loss.delta
    raise NoProvedPath("this reading needs a pure or an (ε, δ) loss", repr(loss), "use .approximate(delta=…)")


def possible_probabilities(p: Number, loss: Loss | OddsRatio) -> Range:
    """Every value that P(A(x') ∈ E) can take for a neighbour x', given P(A(x) ∈ E) = p.

    The event and its complement both obey the definition, in both directions; the four bounds together are tight.
    """
    here = probability(p, "p")
    factor, delta = _terms(loss)
    low = max((here - delta) / factor, 1 - factor * (1 - here) - delta, Fraction(0))
    high = min(factor * here + delta, 1 - (1 - here - delta) / factor, Fraction(1))
    return low, high


@dataclass(frozen=True)
class ErrorRegion:
    """The errors that a test of "x" against its neighbour "x'" can have: p + e^ε q ≥ 1 - δ and p e^ε + q ≥ 1 - δ."""

    loss: Loss | OddsRatio

    def allows(self, false_positive: Number, false_negative: Number) -> bool:
        """Whether the loss leaves a test with these two error rates possible."""
        p, q = probability(false_positive, "false_positive"), probability(false_negative, "false_negative")
        return q >= self.least_false_negative(p)

    def least_false_negative(self, false_positive: Number) -> Fraction:
        """The least false-negative rate of any test with this false-positive rate."""
        p = probability(false_positive, "false_positive")
        factor, delta = _terms(self.loss)
        return max((1 - delta - p) / factor, 1 - delta - factor * p, Fraction(0))

    def least_error_sum(self) -> Fraction:
        """The least sum of the two error rates, 2 (1 - δ) / (1 + e^ε): where the two lines meet."""
        factor, delta = _terms(self.loss)
        return 2 * (1 - delta) / (1 + factor)


def pinsker_bound(loss: Pure) -> Fraction:
    """1 - √(ε/2), the texts' bound on the sum of the two errors; `ErrorRegion.least_error_sum` is never worse."""
    return 1 - sqrt_up(loss.epsilon / 2)


def posterior_range(prior: Number, loss: Loss | OddsRatio) -> Range:
    """What an attacker who thought "x" with probability ``prior``, and else "x'", can believe after any outcome.

    Pure losses alone: with δ > 0 some outcomes may prove one of the two worlds.
    """
    before = probability(prior, "prior")
    factor, delta = _terms(loss)
    if delta:
        raise NoProvedPath("with delta above 0 an outcome may prove either world", float(delta), "use a pure loss")
    return before / (before + factor * (1 - before)), factor * before / (factor * before + 1 - before)


def posterior_odds(prior_odds: Number, loss: Loss | OddsRatio) -> Range:
    """The odds after any outcome: between e^-ε and e^ε times the odds before."""
    before = positive(prior_odds, "prior_odds")
    factor, delta = _terms(loss)
    if delta:
        raise NoProvedPath("with delta above 0 an outcome may prove either world", float(delta), "use a pure loss")
    return before / factor, factor * before


def with_or_without_me(loss: Pure) -> Pure:
    """For every prior and every outcome, beliefs with my record used and without it are within this loss: 2ε."""
    return 2 * loss


class Beliefs(Generic[World]):
    """An attacker's beliefs over possible datasets, and what an outcome does to them (Bayes' rule, exactly)."""

    def __init__(self, prior: Mapping[World, Number]) -> None:
        self._prior = {world: probability(weight, "prior") for world, weight in prior.items()}
        if sum(self._prior.values()) != 1:
            raise InvalidValue("the prior must sum to 1", str(sum(self._prior.values())))

    def after(self, likelihood: Mapping[World, Ball | Fraction]) -> dict[World, Ball]:
        """Beliefs after an outcome, given how likely it is in each world."""
        with working_precision():
            weights = {world: ball(p) * ball(likelihood[world]) for world, p in self._prior.items()}
            total = sum(weights.values(), Ball(0))
            if not total > 0:
                raise InvalidValue("the outcome must be possible in some world of the prior", "<probability 0>")
            return {world: weight / total for world, weight in weights.items()}


def farthest(first: Sequence[Ball], second: Sequence[Ball]) -> Fraction:
    """The largest |ln(a/b)| between two lists of beliefs, rounded up."""
    with working_precision():
        return max(upper(abs((a / b).log())) for a, b in zip(first, second, strict=True))
