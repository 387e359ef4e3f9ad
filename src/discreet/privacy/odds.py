"""A loss as a factor: how many times likelier one unit can make an outcome.

>>> [str(limit) for limit in possible_probabilities("0.2", OddsRatio("5/4"))]
['4/25', '1/4']
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue, NoProvedPath
from discreet.exact.ball import exp_up, ln_up, round_up
from discreet.exact.rational import Number, positive, probability
from discreet.privacy.loss import Approximate, Loss, Pure

__all__ = ["OddsRatio", "Range", "factor_and_delta", "possible_probabilities", "pure_factor"]

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
