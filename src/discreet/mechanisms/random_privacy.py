"""Random differential privacy: a promise about random data, which a proper loss must never be mixed with.

A mechanism is γ-random private at a loss when the inequality of that loss holds for two neighbouring datasets drawn
from a distribution, but for a probability of γ over the draw (Hall, Rinaldo, Wasserman 2012). For the unlucky datasets
nothing is promised at all, so such a loss adds to others of its kind alone.

>>> from discreet.privacy.loss import Pure
>>> RandomDP(Pure(1), "0.1") + RandomDP(Pure(2), "0.05")
RandomDP(Pure(ε=3), γ=0.15: gamma-random differential privacy, not differential privacy)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.rational import Number, probability
from discreet.privacy.loss import Loss, shown
from discreet.privacy.neighbours import Neighbours

__all__ = ["WARNING", "RandomDP", "SampledBound"]


WARNING = "gamma-random differential privacy, not differential privacy"
"""Said wherever a random loss, or what leads to one, is printed."""


class SampledBound(ABC):
    """An estimate that the move of random neighbours stays below, but for γ; no sensitivity, and never used as one."""

    value: Fraction
    """The estimate."""
    dimension: int
    """How many numbers were sampled together."""
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE_ONE
    """Sampled neighbours have the same size."""

    @property
    @abstractmethod
    def gamma(self) -> Fraction:
        """The probability that random neighbours move further."""


@dataclass(frozen=True, repr=False, order=False)
class RandomDP(Loss):
    """The inequality of ``loss``, but for a probability of γ over random neighbouring datasets."""

    loss: Loss
    """What is promised for lucky datasets."""
    gamma: Fraction
    """How likely datasets are unlucky."""
    neighbours: Neighbours | None = None
    name: ClassVar[str] = "random"

    def __init__(self, loss: Loss, gamma: Number) -> None:
        if isinstance(loss, RandomDP):
            raise InvalidType("a random loss must wrap a proper loss", repr(loss))
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "neighbours", loss.neighbours)
        object.__setattr__(self, "gamma", probability(gamma, "gamma"))
        if self.gamma == 1:
            raise InvalidValue("gamma must be below 1", gamma, "nothing would be promised for any dataset")

    def _said(self, relation: Neighbours | None) -> RandomDP:
        return RandomDP(self.loss._said(relation), self.gamma)

    def __repr__(self) -> str:
        return f"RandomDP({self.loss!r}, γ={shown(self.gamma)}: {WARNING})"

    def __str__(self) -> str:
        return f"{self.loss}, for all but a share γ = {shown(self.gamma)} of random datasets: {WARNING}"

    def __add__(self, other: object) -> Loss:
        if isinstance(other, Loss) and not isinstance(other, RandomDP):
            raise self._no_path()  # the general refusal would advise a conversion that does not exist
        return super().__add__(other)

    def _plus(self, other: RandomDP) -> RandomDP:
        return RandomDP(self.loss + other.loss, self.gamma + other.gamma)  # the union bound

    def _repeated(self, times: int) -> RandomDP:
        return RandomDP(times * self.loss, times * self.gamma)

    def _within(self, other: RandomDP) -> bool:
        return self.loss <= other.loss and self.gamma <= other.gamma

    def _or(self, other: RandomDP) -> RandomDP:
        return RandomDP(self.loss | other.loss, max(self.gamma, other.gamma))

    def _grouped(self, size: int) -> RandomDP:
        """Refused: the datasets between two that differ in several units are not random ones."""
        raise NoProvedPath("random privacy says nothing about groups", size, "prove a sensitivity instead")

    def delta_at(self, epsilon: Number) -> Fraction:
        """Refused: γ is no δ, because it is not over the mechanism's own coins."""
        raise self._no_path()

    def epsilon_at(self, delta: Number) -> Fraction:
        """Refused: γ is no δ, because it is not over the mechanism's own coins."""
        raise self._no_path()

    def _into(self, other: Loss) -> Loss | None:
        if isinstance(other, RandomDP):
            return self
        raise self._no_path()

    def _no_path(self) -> NoProvedPath:
        rule = "random privacy holds for random data alone, so it neither adds to nor compares with a proper loss"
        return NoProvedPath(rule, f"<{self!r}>", "prove a sensitivity instead")
