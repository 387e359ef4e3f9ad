"""Rebuild a million people in a fraction of a second: n questions that are the rows of Hadamard's matrix.

Question j splits n = 2^k people, numbered from 0, in two halves: person i is on the plus side where i and j, written in
binary, have an even number of ones in common. The answer is the number of "yes" on the plus side less the number on the
minus side. The matrix H of signs is its own inverse but for a factor n, so x = Ha/n for exact answers a = Hx.
Independent noise of standard deviation σ on every answer becomes noise of deviation σ/√n on every person: a bit is
right with probability Φ(√n/2σ).

>>> import numpy as np
>>> people = np.array([1, 0, 0, 1, 1, 1, 0, 1])
>>> answers = signed_sums(people)
>>> answers.astype(int).tolist()
[5, -1, 1, 3, -1, 1, -1, 1]
>>> rebuilt_from_signed_sums(answers).astype(int).tolist()
[1, 0, 0, 1, 1, 1, 0, 1]
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from discreet.attacks.methods.floats import Floats, finite_floats, floats
from discreet.errors import InvalidValue

__all__ = ["expected_accuracy_of_signed_sums", "rebuilt_from_signed_sums", "signed_sums"]


def signed_sums(values: npt.ArrayLike) -> Floats:
    """The exact answer to every question: H times the values, in n log n steps."""
    sums = floats(values, "values").copy()
    if sums.ndim != 1 or sums.size == 0 or sums.size & (sums.size - 1):
        raise InvalidValue("the number of people must be a power of two", f"<shape {sums.shape}>", "fill up with zeros")
    width = 1
    while width < sums.size:
        pairs = sums.reshape(-1, 2, width)
        sums = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return sums


def rebuilt_from_signed_sums(answers: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Every person, from exact or noisy answers to all questions."""
    given = finite_floats(answers, "answers")
    return np.asarray(signed_sums(given) / given.size > 0.5)


def expected_accuracy_of_signed_sums(people: int, sigma: float) -> float:
    """Φ(√n/2σ)."""
    return float(ndtr(math.sqrt(people) / (2 * sigma))) if sigma else 1.0
