"""How often something happens, from how often it was seen: exact bounds of Clopper and Pearson.

Promise. Let X be binomial with n trials and success probability p. For every p and every α in (0, 1),
P(`lower_bounds`(X, n, α) > p) ≤ α and P(`upper_bounds`(X, n, α) < p) ≤ α.

>>> Proportion(8, 10)
Proportion(hits=8, trials=10)
>>> low, high = Proportion(8, 10).interval(0.95)
>>> f"{low:.3f} {high:.3f}"
'0.444 0.975'
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue

__all__ = ["Proportion", "lower_bounds", "upper_bounds"]


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Proportion:
    """``hits`` out of ``trials``."""

    hits: int
    """How often it happened."""
    trials: int
    """How often it could have."""

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.trials:
            raise InvalidValue(f"hits must lie between 0 and the {self.trials} trials", self.hits)

    @property
    def rate(self) -> float:
        """The share of trials that hit; NaN where there were none."""
        return self.hits / self.trials if self.trials else float("nan")

    def lower(self, alpha: float) -> float:
        """Below the true probability, except with probability ``alpha`` at most."""
        return float(lower_bounds(np.array([self.hits]), self.trials, alpha)[0])

    def upper(self, alpha: float) -> float:
        """Above the true probability, except with probability ``alpha`` at most."""
        return float(upper_bounds(np.array([self.hits]), self.trials, alpha)[0])

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Both ends, which hold together with this confidence."""
        alpha = (1 - confidence) / 2
        return self.lower(alpha), self.upper(alpha)


def lower_bounds(hits: npt.ArrayLike, trials: int, alpha: float) -> Floats:
    """For each number of hits the least probability that is still plausible."""
    from scipy.special import betaincinv  # noqa: PLC0415  an import of a fifth of a second, for those who need it

    seen = _checked(hits, trials, alpha)
    found = betaincinv(np.maximum(seen, 1), trials - seen + 1, alpha)
    return np.where(seen == 0, 0.0, found)


def upper_bounds(hits: npt.ArrayLike, trials: int, alpha: float) -> Floats:
    """For each number of hits the greatest probability that is still plausible.

    By itself, and not as one minus a lower bound: that would lose the digits of probabilities far below 1.
    """
    from scipy.special import betainccinv  # noqa: PLC0415  an import of a fifth of a second, for those who need it

    seen = _checked(hits, trials, alpha)
    found = betainccinv(seen + 1, np.maximum(trials - seen, 1), alpha)
    return np.where(seen == trials, 1.0, found)


def _checked(hits: npt.ArrayLike, trials: int, alpha: float) -> npt.NDArray[np.int64]:
    if not 0 < alpha < 1:
        raise InvalidValue("alpha must lie strictly between 0 and 1", alpha)
    seen = np.asarray(hits, np.int64)
    if seen.size and (seen.min() < 0 or seen.max() > trials):
        raise InvalidValue(f"hits must lie between 0 and the {trials} trials", "<others>")
    return seen
