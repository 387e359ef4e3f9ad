"""Private choices done wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.gallery.exhibit import Exhibit, Twin, naive
from discreet.audit.gallery.textbook_noise import whole_laplace
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Median
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Pure

__all__ = ["CHOICES"]

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
        Twin(Exponential(1), Pure(1), "weights e^(ε score/2Δ)"),
    ),
    Exhibit(
        "exponential-without-two",
        "Weights e^(ε score/Δ) cost twice as much when some scores rise while others fall.",
        naive(choice_without_two),
        (0, 0),
        (-1, 1),
        Pure(1),
        "a common slip; the factor 2 is in McSherry and Talwar, FOCS 2007",
        Twin(Exponential(1), Pure(1), "weights e^(ε score/2Δ)"),
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
        Twin(NoisyMax(1), Pure(1), "noise of scale 2Δ/ε"),
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
        Twin(Median(1, 0, 100, neighbours="replace-one"), Pure(1), "the candidates are public", draws=2_000),
    ),
)
