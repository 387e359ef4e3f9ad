"""Private choices done wrong, among them four published variants of "above threshold" that are not private.

Lyu, Su and Li, Understanding the sparse vector technique for differential privacy, VLDB 2017, compare six variants.
Each says of every answer in turn whether it is above a noisy threshold. A "no" is free only because all answers are
compared with one secret threshold; whatever gives the threshold away makes every "no" cost.

Replies are rows of 1 for yes and 0 for no; -1 stands after the end. The threshold is 0 and the sensitivity 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.gallery.exhibit import Exhibit, HonestVersion, naive
from discreet.audit.gallery.noise import whole_laplace
from discreet.audit.mechanism import Batched
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Median
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Pure

__all__ = ["CHOICES", "SPARSE_VECTORS"]


Floats = npt.NDArray[np.float64]


def _drawn(weights: Floats, size: int, chance: Chance) -> Any:
    return chance.choice(len(weights), size, p=weights / weights.sum())


def proportional_choice(scores: Any, size: int, chance: Chance) -> Any:
    """R's diffpriv: weights score · ε/2Δ, divided by their sum, so that ε cancels; the exponential was forgotten."""
    return _drawn(np.asarray(scores, np.float64) * (1 / 2), size, chance)


def choice_without_two(scores: Any, size: int, chance: Chance) -> Any:
    """The exponential mechanism with e^(ε score/Δ), for scores that do not all move the same way."""
    return _drawn(np.exp(np.asarray(scores, np.float64)), size, chance)


def quiet_noisy_max(scores: Any, size: int, chance: Chance) -> Any:
    """The largest score after noise of scale Δ/ε, for scores that do not all move the same way."""
    noisy = np.asarray(scores) + whole_laplace(chance, 1, (size, len(scores)))
    return np.argmax(noisy, axis=1)


def median_of_rows(rows: Any, size: int, chance: Chance) -> Any:
    """The exponential mechanism for the median, with the values in the table as candidates."""
    values = np.sort(np.asarray(rows, np.float64))
    rank_error = np.abs(np.arange(len(values)) - (len(values) - 1) / 2)
    return values[_drawn(np.exp(-rank_error / 2), size, chance)]


CHOICES = (
    Exhibit(
        "r-diffpriv-exponential",
        "Weights are the scores and not their exponentials, so that ε cancels and a score of 0 is never chosen.",
        naive(proportional_choice),
        (1, 9),
        (0, 9),
        Pure(1),
        "R package diffpriv, exponential_mechanism.R: pmf <- qualities * epsilon/(2*sensitivity); pmf / sum(pmf)",
        HonestVersion(Exponential(1), Pure(1), "weights e^(ε score/2Δ)"),
    ),
    Exhibit(
        "exponential-without-two",
        "Weights e^(ε score/Δ) cost twice as much when some scores rise while others fall.",
        naive(choice_without_two),
        (0, 0),
        (-1, 1),
        Pure(1),
        "a common slip; the factor 2 is in McSherry and Talwar, FOCS 2007",
        HonestVersion(Exponential(1), Pure(1), "weights e^(ε score/2Δ)"),
        draws=100_000,
    ),
    Exhibit(
        "noisy-max-quiet",
        "Noise of scale Δ/ε is enough when all scores rise together, and here they do not.",
        naive(quiet_noisy_max),
        (1, 5, 5),
        (2, 4, 4),
        Pure(1),
        "a lecture text's example, which holds for units that join and fails for units that are replaced",
        HonestVersion(NoisyMax(1), Pure(1), "noise of scale 2Δ/ε"),
        draws=200_000,
    ),
    Exhibit(
        "median-of-the-rows",
        "The candidates are the values in the table, so that somebody's own value can be the answer.",
        naive(median_of_rows),
        (20, 30, 40, 50, 60),
        (20, 30, 40, 50, 61),
        Pure(1),
        "domains read from data: a class of violations in arXiv 2602.17454",
        HonestVersion(Median(1, 0, 100, neighbours="replace-one"), Pure(1), "the candidates are public", draws=2_000),
    ),
)


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
        HonestVersion(AboveThreshold(1, threshold=0), Pure(1), _HONEST, draws=20_000),
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
        HonestVersion(Batched(AboveThreshold(1, threshold=0, cutoff=4).releases), Pure(1), _HONEST, draws=10_000),
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
        HonestVersion(AboveThreshold(1, threshold=0, cutoff=2), Pure(1), _HONEST, draws=20_000),
    ),
    Exhibit(
        "sparse-vector-chen",
        "There is noise for one positive and no end, so that every further positive is free.",
        naive(chen),
        (0,) * 8,
        (1,) * 4 + (-1,) * 4,
        Pure(1),
        f"{_VLDB} 6: Chen, Xiao, Zhang and Xu, 2015",
        HonestVersion(Batched(AboveThreshold(1, threshold=0, cutoff=4).releases), Pure(1), _HONEST, draws=10_000),
        draws=400_000,
    ),
)
