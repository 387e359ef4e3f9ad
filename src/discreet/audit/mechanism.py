"""What is audited, and the claim that it is held against.

A mechanism is one of our measurements, anybody's function of one value, or a function that answers many times. A claim
forbids something: p ≤ e^ε q + δ must hold for the probabilities p and q of any event, at every (ε, δ) that it implies.

>>> def coin(value, size):
...     return [value] * size
>>> Batched(coin)(1, 3)
[1, 1, 1]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType
from discreet.exact.rational import Number
from discreet.mechanisms.measurement import Measurement
from discreet.privacy.hypothesis_tests import ErrorRegion
from discreet.privacy.loss import Approximate, Loss, Pure

__all__ = [
    "Batched",
    "Claimed",
    "Mechanism",
    "Verdict",
    "checked_mechanism",
    "claimed",
    "mechanism_name",
    "shown",
]


Floats = npt.NDArray[np.float64]

_EPSILONS = tuple(Fraction(k, 8) ** 2 for k in range(33))


@dataclass(frozen=True)
class Claimed:
    """A loss, read as a list of (ε, δ)."""

    loss: Loss
    """What is claimed."""

    @cached_property
    def terms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Pairs (ε, δ) that the loss implies: its own where it is one, else those at a list of ε from 0 to 16."""
        if isinstance(self.loss, Pure):
            return ((self.loss.epsilon, Fraction(0)),)
        if isinstance(self.loss, Approximate):
            return ((self.loss.epsilon, self.loss.delta),)
        return tuple((epsilon, self.loss.delta_at(epsilon)) for epsilon in _EPSILONS)

    @cached_property
    def epsilons(self) -> Floats:
        """The ε of all terms."""
        return np.asarray([float(epsilon) for epsilon, _ in self.terms])

    @cached_property
    def deltas(self) -> Floats:
        """The δ of all terms."""
        return np.asarray([float(delta) for _, delta in self.terms])

    def excess(self, least: Floats, most: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
        """How far ln((p - δ)/q) lies above ε, for p ≥ ``least`` and q ≤ ``most``, at the term where it is furthest."""
        with np.errstate(divide="ignore"):
            gains = np.log(np.maximum(least[:, None] - self.deltas, 0.0)) - np.log(most)[:, None]
        above = gains - self.epsilons
        place = np.argmax(above, axis=1)
        return above[np.arange(len(above)), place], place

    def allows(self, false_positive: float, false_negative: float) -> bool:
        """Whether some test may have error rates as low as these."""
        return ErrorRegion(self.loss).allows(Fraction(false_positive), Fraction(false_negative))


def claimed(claim: Loss | Number | None, own: Loss | None = None) -> Claimed:
    """A claim as it is passed: a loss, a number that is a pure ε, or nothing for what the mechanism itself says."""
    found = own if claim is None else claim
    if found is None:
        raise InvalidType("a function's claim must be said", None, "pass a loss such as Pure(1), or a number for ε")
    return Claimed(found if isinstance(found, Loss) else Pure(found))


class Verdict(StrEnum):
    """The conclusion of an audit, from the worst."""

    VIOLATION = "violation"
    """The claim is false: proved, or seen in so many draws that a sound one shows it hardly ever."""
    UNSTEADY = "unsteady"
    """The law changed between calls, so that the draws say nothing about any one of them."""
    TOO_FEW = "too few draws"
    """Not even the worst mechanism could be found out with so few draws."""
    CONSISTENT = "consistent"
    """Nothing speaks against the claim."""


@dataclass(frozen=True)
class Batched:
    """A function ``f(value, size)`` that gives ``size`` independent answers at once, as a sequence or an array.

    An array of two dimensions has one answer in each row. Answers of one call must be as independent as those of
    different calls: bounds on how often something happens rest on that.
    """

    function: Callable[[Any, int], Any]
    """What answers."""

    def __call__(self, value: Any, size: int) -> Any:
        """``size`` answers about ``value``."""
        return self.function(value, size)


Mechanism: TypeAlias = Measurement | Batched | Callable[[Any], Any]
"""A measurement, a function of one value that gives one answer, or a `Batched` one."""


def checked_mechanism(mechanism: Mechanism) -> Mechanism:
    """The mechanism, or a refusal where it is none."""
    if isinstance(mechanism, Measurement) or callable(mechanism):
        return mechanism
    remedy = "pass a function of one value, Batched(function) or a mechanism such as Laplace(1)"
    raise InvalidType("what is audited must be callable", mechanism, remedy)


def mechanism_name(mechanism: Mechanism) -> str:
    """What to call it in a report."""
    if isinstance(mechanism, Measurement):
        return repr(mechanism)
    function = mechanism.function if isinstance(mechanism, Batched) else mechanism
    return str(getattr(function, "__name__", type(function).__name__))


_LONGEST = 80


def shown(value: Any, longest: int = _LONGEST) -> str:
    """The value as text."""
    try:
        text = f"{value:.6g}" if isinstance(value, float) else " ".join(repr(value).split())
    except Exception:  # a value of others may fail in any way, and Python spells no integer of thousands of digits
        text = f"<a {type(value).__name__} without text>"
    return text if len(text) <= longest else text[: longest - 1] + "…"
