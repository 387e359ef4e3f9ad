"""Sparse vectors done wrong: four published variants of "above threshold" that are not private.

Lyu, Su and Li, Understanding the sparse vector technique for differential privacy, VLDB 2017, compare six variants.
Each says of every answer in turn whether it is above a noisy threshold. A "no" is free only because all answers are
compared with one secret threshold; whatever gives the threshold away makes every "no" cost.

Replies are rows of 1 for yes and 0 for no; -1 stands after the end. The threshold is 0 and the sensitivity 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.gallery.exhibit import Exhibit, Twin, naive
from discreet.audit.gallery.textbook_noise import whole_laplace
from discreet.audit.mechanism import Batched
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Pure

__all__ = ["SPARSE_VECTORS"]

Whole = npt.NDArray[np.int64]
_NEVER = 10**6


def roth_notes(answers: Any, size: int, chance: Chance) -> Whole:
    """Algorithm 3, Roth's lecture notes of 2011: ε/2 each, one positive, and the noisy answer that passed is shown.

    A row is how many answers were below, and the noisy answer that was not; the end of the questions passes always.
    """
    threshold = whole_laplace(chance, 2, (size, 1))
    noisy = np.asarray(answers) + whole_laplace(chance, 2, (size, len(answers)))
    above = np.hstack([noisy >= threshold, np.ones((size, 1), np.bool_)])
    first = np.argmax(above, axis=1)
    shown = np.hstack([noisy, np.full((size, 1), _NEVER)])[np.arange(size), first]
    return np.column_stack([first, shown])


def lee_clifton(answers: Any, size: int, chance: Chance) -> Whole:
    """Algorithm 4, Lee and Clifton 2014: ε/4 for the threshold, and noise of scale 4/3ε however many positives."""
    above = _compared(answers, size, chance, threshold_scale=4, answer_scale=4 / 3)
    return _ended(above, cutoff=len(answers) // 2)


def stoddard(answers: Any, size: int, chance: Chance) -> Whole:
    """Algorithm 5, Stoddard, Chen and Machanavajjhala 2014: noise on the threshold, none on the answers, no end."""
    threshold = whole_laplace(chance, 2, (size, 1))
    return np.asarray(np.asarray(answers) >= threshold, np.int64)


def chen(answers: Any, size: int, chance: Chance) -> Whole:
    """Algorithm 6, Chen, Xiao, Zhang and Xu 2015: noise for one positive, and no end after it."""
    return _compared(answers, size, chance, threshold_scale=2, answer_scale=2).astype(np.int64)


def _compared(
    answers: Any, size: int, chance: Chance, threshold_scale: float, answer_scale: float
) -> npt.NDArray[np.bool_]:
    threshold = whole_laplace(chance, threshold_scale, (size, 1))
    noisy = np.asarray(answers) + whole_laplace(chance, answer_scale, (size, len(answers)))
    return np.asarray(noisy >= threshold)


def _ended(above: npt.NDArray[np.bool_], cutoff: int) -> Whole:
    """Nothing is said after the last positive that was to be reported."""
    before: Whole = np.cumsum(above, axis=1) - above
    return np.where(before >= cutoff, -1, above.astype(np.int64))


_VLDB = "Lyu, Su and Li, VLDB 2017, algorithm"
_HONEST = "noise for as many positives as are reported, an end after them, and nothing but yes and no"

SPARSE_VECTORS = (
    Exhibit(
        "sparse-vector-roth",
        "The noisy answer that passed is shown; it bounds the noisy threshold, and every no before it leaks.",
        naive(roth_notes),
        (0,) * 6,
        (1,) * 6,
        Pure(1),
        f"{_VLDB} 3: A. Roth's lecture notes, 2011",
        Twin(AboveThreshold(1, threshold=0), Pure(1), _HONEST, draws=20_000),
        draws=1_000_000,
    ),
    Exhibit(
        "sparse-vector-lee-clifton",
        "The noise on the answers does not grow with the number of positives that are reported.",
        naive(lee_clifton),
        (0,) * 4 + (0,) * 4,
        (1,) * 4 + (-1,) * 4,
        Pure(1),
        f"{_VLDB} 4: Lee and Clifton, KDD 2014",
        Twin(Batched(AboveThreshold(1, threshold=0, cutoff=4).releases), Pure(1), _HONEST, draws=10_000),
        draws=400_000,
    ),
    Exhibit(
        "sparse-vector-stoddard",
        "There is no noise on the answers, so that of two answers the smaller can never be the only one above.",
        naive(stoddard),
        (0, 1),
        (1, 0),
        Pure(1),
        f"{_VLDB} 5: Stoddard, Chen and Machanavajjhala, 2014",
        Twin(AboveThreshold(1, threshold=0, cutoff=2), Pure(1), _HONEST, draws=20_000),
    ),
    Exhibit(
        "sparse-vector-chen",
        "There is noise for one positive and no end, so that every further positive is free.",
        naive(chen),
        (0,) * 8,
        (1,) * 4 + (-1,) * 4,
        Pure(1),
        f"{_VLDB} 6: Chen, Xiao, Zhang and Xu, 2015",
        Twin(Batched(AboveThreshold(1, threshold=0, cutoff=4).releases), Pure(1), _HONEST, draws=10_000),
        draws=400_000,
    ),
)
