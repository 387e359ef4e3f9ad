"""Small chances of a whole secret: what δ-additive secrecy allows and ε-differential privacy does not.

A mechanism has δ-additive secrecy when no event is likelier by more than δ for a neighbour. That is (0, δ)-differential
privacy, and these keep it. With δ far above 1/n somebody is named almost surely, and what is then shown about them is
certain. Claimed as ε-differential privacy, it is as wrong as can be.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.gallery.exhibit import Exhibit, Twin, naive
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Approximate, Pure

__all__ = ["SECRECY"]

_DELTA = Fraction(1, 20)
_NOTHING = -1
_BITS = (0, 1, 1, 0, 1, 0, 0, 1)
_OTHER = (1, 1, 1, 0, 1, 0, 0, 1)
_CHAPTER = "Differential privacy fundamentals (2021)"


def name_and_shame(bits: Any, size: int, chance: Chance) -> Any:
    """Every person's bit is published with probability δ."""
    named = chance.random((size, len(bits))) < float(_DELTA)
    return np.where(named, np.asarray(bits), _NOTHING)


def random_row(bits: Any, size: int, chance: Chance) -> Any:
    """One row, chosen at random, is published with its number."""
    place = chance.integers(0, len(bits), size)
    return np.column_stack([place, np.asarray(bits)[place]])


def everything_rarely(bits: Any, size: int, chance: Chance) -> Any:
    """The whole table is published with probability δ, and otherwise nothing."""
    shown = chance.random((size, 1)) < float(_DELTA)
    return np.where(shown, np.asarray(bits), _NOTHING)


def own_reply(bits: Any, size: int, chance: Chance) -> Any:
    """The first person's bit, by randomized response."""
    return RandomizedResponse(1).releases(int(bits[0]), size)


SECRECY = (
    Exhibit(
        "name-and-shame",
        "Every person is published in the clear with probability δ, and what is then seen is certain.",
        naive(name_and_shame),
        _BITS,
        _OTHER,
        Pure(1),
        f"{_CHAPTER}, exercise 4.3",
        Twin(naive(name_and_shame), Approximate(0, _DELTA), "the same, but only (0, δ) is claimed: so little says a δ"),
        draws=20_000,
    ),
    Exhibit(
        "random-row",
        "One row is published in the clear; that it is hardly ever yours is (0, 1/n), and not ε.",
        naive(random_row),
        _BITS,
        _OTHER,
        Pure(1),
        f"{_CHAPTER}, section 4.1: δ > 1/n",
        Twin(naive(random_row), Approximate(0, Fraction(1, 8)), "the same, but only (0, 1/n) is claimed"),
        draws=20_000,
    ),
    Exhibit(
        "additive-secrecy",
        "With probability δ the whole table is published: δ-additive secrecy holds and nobody is protected.",
        naive(everything_rarely),
        _BITS,
        _OTHER,
        Pure(1),
        f"{_CHAPTER}, section 4.1",
        Twin(naive(own_reply), Pure(1), "randomized response: certain for no outcome"),
        draws=20_000,
    ),
)
