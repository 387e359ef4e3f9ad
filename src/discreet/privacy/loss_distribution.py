"""The distribution of the privacy loss, in the form that numeric composition adds up.

A list of losses with their probabilities, and the probability that the loss is infinite. Two changes are allowed
because they only make it worse: raising a loss, and splitting an atom in two so that the mean of e^-loss stays. The
first is how continuous or very long laws are cut into blocks, the second how losses are put on a grid ("connect the
dots", Doroshenko et al. 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue, NoProvedPath
from discreet.privacy.loss import Approximate, Loss, Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["LossDistribution"]


Floats = npt.NDArray[np.float64]

_UP = 1 + 2.0**-50


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """An upper bound on ln(P(t)/Q(t)) for t drawn from P, for the worst neighbouring pair in either order."""

    losses: Floats
    """Finite losses, in any order."""
    masses: Floats
    """The probability of each, accurate to a relative 2^-45."""
    infinite: float = 0.0
    """The probability of an unbounded loss."""
    neighbours: Neighbours | None = None
    """The relation that the worst pair is worst under; None where that was not said."""

    def __post_init__(self) -> None:
        shapes_agree = self.losses.ndim == 1 and self.losses.shape == self.masses.shape
        if not shapes_agree or not np.isfinite(self.losses).all() or not (self.masses >= 0).all():
            raise InvalidValue("losses must be finite and masses not negative, in equal number", "<others>")
        if not 0 <= self.infinite <= 1:
            raise InvalidValue("infinite must be a probability", self.infinite)
        total = float(self.masses.sum()) + self.infinite
        if not math.isclose(total, 1.0, rel_tol=1e-9):
            raise InvalidValue("masses must sum to 1", total)

    @classmethod
    def of(cls, loss: Loss) -> LossDistribution:
        """The worst mechanism with this pure or (ε, δ) loss: randomized response that gives itself away with δ."""
        if not isinstance(loss, (Pure, Approximate)):
            rule = "numeric composition needs a pure or an (ε, δ) loss, or a mechanism's own loss distribution"
            raise NoProvedPath(rule, repr(loss), "pass mechanism.loss_distribution()")
        delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
        return cls.two_point(loss.epsilon, math.nextafter(float(delta), 1.0) if delta else 0.0, loss.neighbours)

    @classmethod
    def two_point(
        cls, epsilon: Fraction, infinite: float = 0.0, neighbours: Neighbours | None = None
    ) -> LossDistribution:
        """±ε with probabilities e^ε/(1+e^ε) and 1/(1+e^ε)."""
        size = float(epsilon) * _UP
        masses = np.asarray([1 / (1 + math.exp(-size)), math.exp(-size) / (1 + math.exp(-size))])
        return cls(np.asarray([size, -size]), masses * (1 - infinite), infinite, neighbours)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LossDistribution):
            return NotImplemented
        if (self.infinite, self.neighbours) != (other.infinite, other.neighbours):
            return False
        return np.array_equal(self.losses, other.losses) and np.array_equal(self.masses, other.masses)

    def __hash__(self) -> int:
        return hash((self.losses.tobytes(), self.masses.tobytes(), self.infinite))
