"""Learning with the wrong constant: objective perturbation for rows longer than 1.

Chaudhuri, Monteleoni and Sarwate (2011) add a random linear term b·f to the objective of a regression whose rows have
norm at most 1, and prove that the curvature of one row, c = 1/4, changes the Jacobian of b ↦ f by little against a
regularisation Λ. For rows of norm q the curvature is c·q². diffprivlib replaced c by c·q, so that for q > 1 too little
regularisation is added and the minimiser betrays whether a long row is there.

The regression here has one feature and no intercept, so that minimising is solving one equation with one unknown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.gallery.exhibit import Exhibit, HonestVersion, naive
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Pure

__all__ = ["LEARNING"]


Floats = npt.NDArray[np.float64]

_CURVATURE = 0.25
_HALVINGS = 80


@dataclass(frozen=True)
class LogisticRegression:
    """One coefficient f, the minimiser of Σ ln(1 + e^(-y f x)) + (α + Δ)/2 · f² + b · f with a random b."""

    epsilon: float
    norm: float
    """The largest |x| of a row; rows are cut to it."""
    power: int
    """The power of the norm that stands for the curvature of a row: 2 by the proof, 1 in diffprivlib."""
    alpha: float = 1.0

    def answers(self, rows: Any, size: int, chance: Chance) -> Floats:
        """So many coefficients, each with noise of its own."""
        x, y = (np.asarray(column, np.float64) for column in zip(*rows, strict=True))
        x = np.clip(x, -self.norm, self.norm)
        curvature = _CURVATURE * self.norm**self.power
        left, extra = self.epsilon - 2 * math.log(1 + curvature / self.alpha), 0.0
        if left <= 0:
            left, extra = self.epsilon / 2, curvature / math.expm1(self.epsilon / 4) - self.alpha
        noise = chance.laplace(0, 2 * self.norm / left, size)
        return _minimised(x * y, self.alpha + extra, noise)


def _minimised(signed: Floats, regularisation: float, noise: Floats) -> Floats:
    """Where the slope of the objective is 0: it rises in f, so halve an interval that holds the place."""
    reach = (np.abs(noise) + np.abs(signed).sum()) / regularisation
    low, high = -reach, reach
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        slope = regularisation * middle + noise
        for row in signed:
            slope -= row / (1 + np.exp(np.minimum(row * middle, 500)))
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return np.asarray((low + high) / 2)


_NORM = 50.0
_HONEST = LogisticRegression(1.0, _NORM, power=2)

LEARNING = (
    Exhibit(
        "diffprivlib-logistic-regression",
        "For rows of norm q the curvature is taken for q/4 and not q²/4, so that a long row shows in the coefficient.",
        naive(LogisticRegression(1.0, _NORM, power=1).answers),
        ((0.0, 1.0),),
        ((_NORM, 1.0),),
        Pure(1),
        "diffprivlib, LogisticRegression with data_norm > 1: mechanisms/vector.py, argued for in its issue 10",
        HonestVersion(naive(_HONEST.answers), Pure(1), "the curvature is q²/4, as the proof has it"),
    ),
)
