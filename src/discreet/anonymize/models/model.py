"""What a model of anonymity says about classes.

The table-wide distribution that some models compare with is that of all rows of the table, suppressed rows included.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import ClassHistogram, EquivalenceClasses
from discreet.errors import InvalidType, InvalidValue

__all__ = [
    "TOLERANCE",
    "Flags",
    "Histograms",
    "Lost",
    "Model",
    "Parameters",
    "SensitiveModel",
    "checked_number",
    "checked_whole",
    "lost_above_share",
    "lost_rows",
]


_SLACK = 1e-6  # of a row: rounding never proves that one more is lost
TOLERANCE = 1e-12
"""How far floating point may be off: what is nearer to a bound than this lies on it."""
Histograms = Mapping[str, ClassHistogram]
"""The histogram of every sensitive column, by name."""
Flags = npt.NDArray[np.bool_]
"""A yes or no for every class."""
Parameters = npt.NDArray[np.float64] | npt.NDArray[np.int64]
"""A parameter for every class."""
Lost = npt.NDArray[np.int64]
"""For every class a number of rows."""
Shares = float | npt.NDArray[np.float64]
"""One share for all, or one for each."""


class Model(ABC):
    """A condition that every class of a released table must meet. It is a frozen value.

    A model says what it is called, and for every class the strictest parameter that the class meets. All else follows.
    """

    is_monotone_with_suppression: ClassVar[bool] = False
    """Whether coarser classes never have more rows in violating classes, so that suppressing them stays cheaper."""
    parameter: ClassVar[str]
    """The letter of the parameter that ``strictest`` speaks of."""
    field: ClassVar[str | None] = None
    """The field that holds the parameter, where it is not named by the letter."""
    compares_with_table: ClassVar[bool] = False
    """Whether a class is compared with the whole table, so that a release alone cannot be checked."""

    larger_is_stricter: ClassVar[bool] = False
    """Whether a larger parameter asks for more, as with k and l, or a smaller one, as with t."""
    bound_is_open: ClassVar[bool] = False
    """Whether ``strictest`` itself does not hold and every looser parameter does."""

    @abstractmethod
    def worded(self, value: str, about: str = "") -> str:
        """The model in words, with this value of its parameter, and ``about`` behind the name of the condition."""

    @abstractmethod
    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """For every class the strictest parameter with which it meets the model: the largest k or l, the smallest t."""

    @property
    def title(self) -> str:
        """The model in words, with letters for its parameters."""
        return self.worded(self.parameter)

    @property
    def name(self) -> str:
        """The model in words, with its parameters."""
        about = "" if self.sensitive is None else f" of {self.sensitive}"
        return self.worded(_format(self.value), about)

    @property
    def value(self) -> int | float:
        """The parameter itself."""
        found: int | float = getattr(self, self.field or self.parameter)
        return found

    @property
    def sensitive(self) -> str | None:
        """The sensitive column it protects, if it protects one."""
        return None

    def violating(self, classes: EquivalenceClasses, histograms: Histograms) -> Flags:
        """For every class whether it breaks the model."""
        return self.is_broken_by(self.met(classes, histograms))

    def is_broken_by(self, met: Parameters) -> Flags:
        """For every class whether what it meets is not strict enough. Where the bound is open, lying on it violates."""
        slack = TOLERANCE * max(1.0, self.value)
        if self.larger_is_stricter:
            return met < self.value - slack
        return met >= self.value - slack if self.bound_is_open else met > self.value + slack

    def strictest(self, classes: EquivalenceClasses, histograms: Histograms) -> float:
        """The strictest parameter with which every class meets the model; 0 where no row is released."""
        met = self.met(classes, histograms)
        worst = (met.min() if len(met) else 0) if self.larger_is_stricter else met.max(initial=0)
        return int(worst) if met.dtype.kind == "i" else float(worst)

    @property
    def least_size(self) -> int:
        """No class with fewer rows meets the model."""
        return 1

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
        """For every class how many of its rows at least every finer recoding must suppress; 0 where it meets the model.

        A finer recoding splits a class. Classes that meet a model still meet it when they are merged, so if the parts
        of a violating class could all be released it would not violate: at least one row is lost. Where the model is
        monotone with suppression every part violates, and all rows are lost. What is kept of a class, merged, meets
        the model, so the fewest rows that must leave a class until it does are a bound, too.
        """
        violating = self.violating(classes, histograms)
        return np.where(violating, classes.sizes if self.is_monotone_with_suppression else 1, 0)

    def satisfied(self, classes: EquivalenceClasses, histograms: Histograms) -> bool:
        """Whether every class meets the model."""
        return not self.violating(classes, histograms).any()


@dataclass(frozen=True)
class SensitiveModel(Model):
    """A model about one sensitive column."""

    column: str
    """The sensitive column."""

    @property
    def sensitive(self) -> str:
        """The sensitive column it protects."""
        return self.column

    def histogram(self, histograms: Histograms) -> ClassHistogram:
        """The histogram of its column."""
        if self.column not in histograms:
            known = ", ".join(histograms) or "there is none"
            raise InvalidValue(f"{self.name} must speak of a sensitive column", self.column, f"sensitive: {known}")
        return histograms[self.column]


def _format(value: int | float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def lost_rows(violating: Flags, least: npt.NDArray[np.floating]) -> Lost:
    """At least ``least`` rows of each violating class, in whole rows, at least 1; none of the others."""
    whole = np.ceil(np.nan_to_num(least) - _SLACK)
    return np.where(violating, np.maximum(whole, 1), 0).astype(np.int64)


def lost_above_share(
    counts: npt.NDArray[np.integer], sizes: npt.NDArray[np.integer], share: Shares
) -> npt.NDArray[np.float64]:
    """How many rows must leave classes of ``sizes`` rows until a value with ``counts`` rows has at most ``share``.

    Best only rows with the value leave: (count - lost) / (size - lost) ≤ share.
    """
    most = np.minimum(share + 2 * TOLERANCE, 1.0)
    excess = np.maximum(counts - most * sizes, 0.0)
    lost: npt.NDArray[np.float64] = np.divide(excess, 1 - most, out=np.zeros(len(counts)), where=most < 1)
    return lost


def checked_whole(value: object, what: str) -> None:
    """Refuse what is not a whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidType(f"{what} must be a whole number", value)
    if value < 1:
        raise InvalidValue(f"{what} must be at least 1", value)


def checked_number(value: object, what: str, *, most: float = math.inf, zero: bool = False) -> None:
    """Refuse what is not a number above 0 (or from 0 on) and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidType(f"{what} must be a number", value)
    if not (value > 0 or (zero and value == 0)) or value > most:
        low = "at least 0" if zero else "above 0"
        raise InvalidValue(f"{what} must be {low}" + (f" and at most {most}" if most < math.inf else ""), value)
