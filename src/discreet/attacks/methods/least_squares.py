"""The people that fit the answers best in squared error.

With m random subsets of n people and independent noise of standard deviation σ on every answer, the estimate of a
person is off by about N(0, 4σ²/(m − n)): each row of a random matrix of zeros and ones varies by 1/4 around its mean,
and the inverse of the Gram matrix of m such rows is on average 4/(m − n) on the diagonal. Rounded at one half, a bit is
right with probability Φ(√(m − n)/4σ).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.optimize import fmin_l_bfgs_b
from scipy.sparse.linalg import LinearOperator, lsmr
from scipy.special import ndtr

from discreet.attacks.methods.floats import Floats
from discreet.attacks.methods.subset_queries import SubsetQueries
from discreet.errors import InvalidValue

__all__ = [
    "NormalEquations",
    "boxed_least_squares",
    "expected_accuracy",
    "least_squares",
    "shrunken_least_squares",
]

_MOST_FACTORED = 5000
_LEAST_PIVOT = 1e-7
_ITERATIONS = 500
_LEAST_WEIGHT = 1e-6


class NormalEquations:
    """QᵀQ, factored once for any number of answers to the same questions."""

    def __init__(self, queries: SubsetQueries) -> None:
        self.queries = queries
        self.gram = queries.gram()
        try:
            factor, is_lower = cho_factor(self.gram)
        except LinAlgError:
            raise _indistinct() from None
        pivots = factor.diagonal()
        if pivots.min() < _LEAST_PIVOT * pivots.max():
            raise _indistinct()
        self._factor = (factor, is_lower)

    def solve(self, answers: Floats) -> Floats:
        """The least squares estimate of every person."""
        return np.asarray(cho_solve(self._factor, self.queries.transposed_times(answers)))

    def boxed(self, answers: Floats) -> Floats:
        """The same with every person between 0 and 1."""
        wanted = self.queries.transposed_times(answers)

        def error(people: Floats) -> tuple[float, Floats]:
            half = self.gram @ people
            return float(people @ half / 2 - people @ wanted), half - wanted

        start = np.clip(self.solve(answers), 0.0, 1.0)
        found = fmin_l_bfgs_b(error, start, bounds=[(0.0, 1.0)] * len(start), maxiter=_ITERATIONS)[0]
        return np.asarray(np.clip(found, 0.0, 1.0))


def least_squares(queries: SubsetQueries, answers: Floats) -> Floats:
    """The estimate of every person: by Cholesky up to 5,000 people, by iteration beyond."""
    if queries.people <= _MOST_FACTORED:
        return NormalEquations(queries).solve(answers)
    operator = LinearOperator(
        (queries.questions, queries.people),
        matvec=lambda people: queries.times(np.ravel(people)),
        rmatvec=lambda rows: queries.transposed_times(np.ravel(rows)),
        dtype=np.float64,
    )
    return np.asarray(lsmr(operator, answers, atol=1e-6, btol=1e-6)[0])


def boxed_least_squares(queries: SubsetQueries, answers: Floats) -> Floats:
    """The best fit among numbers between 0 and 1; beyond 5,000 people the plain best fit, cut to that range."""
    if queries.people <= _MOST_FACTORED:
        return NormalEquations(queries).boxed(answers)
    return np.asarray(np.clip(least_squares(queries, answers), 0.0, 1.0))


def shrunken_least_squares(queries: SubsetQueries, answers: Floats, share: float) -> Floats:
    """The best guess of every person who has the secret with probability ``share`` before the answers.

    With noise of variance σ² it minimises |Qx − a|²/σ² + |x − share|²/share(1 − share): exact answers decide alone, and
    answers that are all noise leave everybody at ``share``. It needs no more questions than there are people.
    """
    surprise = answers - queries.times(np.full(queries.people, share))
    strengths, directions = eigh(queries.gram())
    seen = strengths > _LEAST_PIVOT * strengths.max()
    told = np.where(seen, directions.T @ queries.transposed_times(surprise), 0.0)
    plain = directions @ (told / np.where(seen, strengths, 1.0))
    spare = len(answers) - int(seen.sum())
    noise = float(np.square(surprise - queries.times(plain)).sum() / spare) if spare else 0.0
    weight = max(noise / (share * (1 - share)), _LEAST_WEIGHT)
    return share + np.asarray(directions @ (told / np.where(seen, strengths + weight, 1.0)))


def expected_accuracy(people: int, questions: int, sigma: float) -> float:
    """Φ(√(m − n)/4σ): how many bits least squares gets right, for random subsets and noise of this deviation."""
    if questions <= people:
        return 0.5
    return float(ndtr(math.sqrt(questions - people) / (4 * sigma))) if sigma else 1.0


def _indistinct() -> InvalidValue:
    rule = "queries must tell all people apart"
    return InvalidValue(rule, "<people whose answers can be exchanged>", "ask about other random subsets")
