"""What the count of a cell says about whether a certain person is in it.

Let others fall into the cell as a Poisson law with mean λ says, and let the answer be the count and Gaussian noise. If
the person is a member, the count is one more than that of the others. So the odds are

    Σ_k Poisson(k − 1; λ) φ((a − k)/τ)  :  Σ_k Poisson(k; λ) φ((a − k)/τ),

which for exact answers is a : λ. An empty cell rules the person out, and a count of one where hardly anybody is
expected all but proves the person.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp
from scipy.stats import poisson

from discreet.attacks.methods.floats import Floats

__all__ = ["log_odds_of_member"]

_LEAST_NOISE = 0.1
_LONGEST_ODDS = 20.0


def log_odds_of_member(answers: Floats, expected: Floats, noise: float) -> Floats:
    """The logarithm of the odds for every answer, of ``expected`` others and noise of this deviation, within ±20."""
    most = float(expected.max())
    counts = np.arange(math.ceil(most + 10 * math.sqrt(most)) + 20)
    misfit = np.square((answers[:, None] - counts) / max(noise, _LEAST_NOISE)) / 2
    without = logsumexp(poisson.logpmf(counts, expected[:, None]) - misfit, axis=1)
    within = logsumexp(poisson.logpmf(counts - 1, expected[:, None]) - misfit, axis=1)
    return np.asarray(np.clip(within - without, -_LONGEST_ODDS, _LONGEST_ODDS))
