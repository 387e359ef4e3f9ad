"""k-anonymity: every row looks like at least k - 1 others. It is not differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.anonymize.classes import Classes
from discreet.anonymize.models.model import Flags, Histograms, Model, checked_whole

__all__ = ["KAnonymity"]


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least ``k`` rows."""

    k: int
    """How many rows a class has at least."""
    is_monotone_with_suppression: ClassVar[bool] = True
    larger_is_stricter: ClassVar[bool] = True
    parameter: ClassVar[str] = "k"

    def __post_init__(self) -> None:
        checked_whole(self.k, "k")

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return "k-anonymity"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"{self.k}-anonymity"

    def violating(self, classes: Classes, histograms: Histograms) -> Flags:
        """The classes with fewer than ``k`` rows."""
        return classes.sizes < self.k

    @property
    def least_size(self) -> int:
        """As many as k."""
        return self.k

    def strictest(self, classes: Classes, histograms: Histograms) -> float:
        """The size of the smallest class; 0 where no row is released."""
        return int(classes.sizes.min(initial=classes.rows))
