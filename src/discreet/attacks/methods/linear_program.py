"""The people that fit the answers best by linear programs: in total error, in greatest error, or within a bound.

Every person is a number between 0 and 1. The least total error withstands answers that are wildly wrong, as long as
most are nearly right; the program within a bound is the one of the first proofs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from discreet.attacks.methods.floats import Floats
from discreet.attacks.methods.subset_queries import SubsetQueries
from discreet.errors import InvalidValue, OutOfReach

__all__ = ["least_greatest_error", "least_total_error", "within_bound"]

_INFEASIBLE = 2
_MOST_ITERATIONS = 100_000
_MOST_ENTRIES = 20_000_000


def least_total_error(queries: SubsetQueries, answers: Floats) -> Floats:
    """Minimise Σ|Qx − a|."""
    rows, people = queries.questions, queries.people
    cost = np.concatenate([np.zeros(people), np.ones(2 * rows)])
    unit = sparse.eye_array(rows)
    equal = sparse.hstack([queries.sparse(), -unit, unit], format="csr")
    bounds = np.array([(0.0, 1.0)] * people + [(0.0, np.inf)] * (2 * rows))
    return _solved(queries, c=cost, A_eq=equal, b_eq=answers, bounds=bounds)


def least_greatest_error(queries: SubsetQueries, answers: Floats) -> Floats:
    """Minimise max|Qx − a|."""
    people = queries.people
    cost = np.zeros(people + 1)
    cost[-1] = 1.0
    matrix = queries.sparse()
    slack = -sparse.csr_array(np.ones((queries.questions, 1)))
    both = sparse.vstack([sparse.hstack([matrix, slack]), sparse.hstack([-matrix, slack])], format="csr")
    bounds = np.array([(0.0, 1.0)] * people + [(0.0, np.inf)])
    return _solved(queries, c=cost, A_ub=both, b_ub=np.concatenate([answers, -answers]), bounds=bounds)


def within_bound(queries: SubsetQueries, answers: Floats, bound: float) -> Floats:
    """Any x with |Qx − a| ≤ bound for every question."""
    matrix = queries.sparse()
    both = sparse.vstack([matrix, -matrix], format="csr")
    limits = np.concatenate([answers + bound, bound - answers])
    return _solved(queries, c=np.zeros(queries.people), A_ub=both, b_ub=limits, bounds=(0, 1))


def _solved(queries: SubsetQueries, **program: Any) -> Floats:
    """Solve by the interior point method: with noise the simplex method is many times slower."""
    entries = queries.questions * queries.people
    if entries > _MOST_ENTRIES:
        rule = f"a linear program must have at most {_MOST_ENTRIES:,} entries, questions times people"
        raise OutOfReach(rule, entries, "least squares takes seconds where a linear program takes hours")
    found = linprog(method="highs-ipm", options={"maxiter": _MOST_ITERATIONS}, **program)
    if found.status == _INFEASIBLE:
        rule = "no people fit all answers within the bound"
        raise InvalidValue(rule, None, "raise the bound, or take the least total error")
    if not found.success:
        rule = f"the linear program must be solved in {_MOST_ITERATIONS} iterations"
        raise OutOfReach(rule, None, "take least squares")
    return np.asarray(np.clip(np.asarray(found.x, np.float64)[: queries.people], 0.0, 1.0))
