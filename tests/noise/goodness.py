"""Does a sample come from a law? Tests whose false-alarm rate is a theorem, not an approximation.

`misfit` is the chi-square test in its likelihood form (the G-test). Its bound holds for every sample size: for n draws
in m cells, P(KL(observed, law) ≥ x) ≤ e^(-nx) (e n x / (m-1))^(m-1) for nx > m-1 (Agrawal, "Finite-sample
concentration of the multinomial in relative entropy", IEEE Trans. Inf. Theory 66, 2020, Theorem 1.2).

`difference` compares two samples cell by cell. Given the total of a cell, the first sample's share is hypergeometric
if the laws agree, so each cell has an exact p-value, and the least one times the number of cells bounds all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr
from scipy.stats import hypergeom

from discreet.noise.law import Law

FALSE_ALARM = 1e-9
"""Bound on the chance that one test of a correct sampler fails; a few hundred tests stay below 1e-6 together."""


def misfit(counts: npt.ArrayLike, probabilities: npt.ArrayLike) -> float:
    """A bound on the chance of a sample at least this far from the law."""
    observed = np.asarray(counts, dtype=np.float64)
    law = np.asarray(probabilities, dtype=np.float64)
    assert abs(law.sum() - 1) < 1e-9
    distance = float(rel_entr(observed, observed.sum() * law).sum())
    freedom = len(observed) - 1
    if freedom == 0 or distance <= freedom:
        return 1.0
    return float(np.exp(-distance + freedom * (1 + np.log(distance / freedom))))


def difference(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """A bound on the chance that two samples of one law differ at least this much in some cell."""
    a, b = np.asarray(first), np.asarray(second)
    law = hypergeom(a.sum() + b.sum(), a + b, a.sum())
    tails = np.minimum(law.cdf(a), law.sf(a - 1))
    return float(min(1.0, 2 * len(a) * tails.min()))


def cells(law: Law, most: int = 32) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Upper edges of at most ``most`` cells of similar probability, and the probability of each cell."""
    wanted = np.arange(1, most) / most
    edges = np.unique(law.quantile(wanted))
    steps = np.concatenate([[0.0], law.cdf(edges)])
    shares = np.append(np.diff(steps), law.tail(edges[-1:] + 1))
    return edges, shares


def counted(draws: npt.NDArray[np.int64], edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many draws fall in each cell: up to the first edge, up to the second, ..., above the last."""
    return np.bincount(np.searchsorted(edges, draws, side="left"), minlength=len(edges) + 1)


def fit(law: Law, draws: npt.NDArray[np.int64], most: int = 32) -> float:
    """A bound on the chance of draws at least this far from ``law``."""
    edges, shares = cells(law, most)
    return misfit(counted(draws, edges), shares)
