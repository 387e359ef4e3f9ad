"""Rebuild everybody's secret bit from answers about subsets: search, least squares, linear programs, Hadamard's matrix.

Questions are a matrix of zeros and ones, questions down and people across. Products go through it in blocks of rows,
so that a matrix of single bytes is never turned into one of floats as a whole.

*Search* finds every table that fits the answers about all subsets.

Theorem (Dinur and Nissim). Let x be n bits, and let every subset S have an answer a(S) with |a(S) − x(S)| ≤ E, where
x(S) is the number of ones in S. Then every x' with |a(S) − x'(S)| ≤ E for all S differs from x in at most 4E bits.

Proof. Let S be the people with x = 1 and x' = 0. Then x(S) − x'(S) = |S|, and by the triangle inequality through a(S)
it is at most 2E. The same holds for the people with x = 0 and x' = 1. □

At E = n/401 at most 4n/401 bits differ, which is less than one in a hundred. The search decides person after person.
After i of them it keeps only choices that fit the 2^i answers about these, and by the theorem, read for the i people
alone, such choices differ from the truth in at most 4E bits: where E is small, few are left at any time.

*Least squares* finds the people that fit the answers best in squared error. With m random subsets of n people and
independent noise of standard deviation σ on every answer, the estimate of a person is off by about N(0, 4σ²/(m − n)):
each row of a random matrix of zeros and ones varies by 1/4 around its mean, and the inverse of the Gram matrix of m
such rows is on average 4/(m − n) on the diagonal. Rounded at one half, a bit is right with probability Φ(√(m − n)/4σ).

*Linear programs* find those that fit best in total error, in greatest error, or within a bound; HiGHS solves them, over
whole numbers where that is asked for. Every person is a number between 0 and 1. The least total error withstands
answers that are wildly wrong, as long as most are nearly right; the program within a bound is the one of the first
proofs.

*Hadamard's matrix* rebuilds a million people in a fraction of a second, from n questions that are its rows. Question j
splits n = 2^k people, numbered from 0, in two halves: person i is on the plus side where i and j, written in binary,
have an even number of ones in common. The answer is the number of "yes" on the plus side less the number on the minus
side. The matrix H of signs is its own inverse but for a factor n, so x = Ha/n for exact answers a = Hx. Independent
noise of standard deviation σ on every answer becomes noise of deviation σ/√n on every person: a bit is right with
probability Φ(√n/2σ).

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
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.optimize import Bounds, LinearConstraint, fmin_l_bfgs_b, linprog, milp
from scipy.sparse.linalg import LinearOperator, lsmr
from scipy.special import ndtr

from discreet.attacks.methods.queries import Floats, finite_floats, floats
from discreet.attacks.people import Codes
from discreet.errors import InvalidValue, OutOfReach
from discreet.noise.experiment import Chance
from discreet.time_limits import LINEAR_PROGRAM

__all__ = [
    "MOST_PEOPLE",
    "IntegerProgram",
    "NormalEquations",
    "SubsetQueries",
    "all_subset_sums",
    "boxed_least_squares",
    "consistent_people",
    "expected_accuracy",
    "expected_accuracy_of_signed_sums",
    "least_greatest_error",
    "least_squares",
    "least_total_error",
    "random_subsets",
    "rebuilt_from_signed_sums",
    "shrunken_least_squares",
    "signed_sums",
    "within_bound",
]


MOST_PEOPLE = 20
"""Twenty people have a million subsets."""
_ROUNDING = 1e-9


def all_subset_sums(people: npt.ArrayLike) -> Floats:
    """The exact answer for every subset: subset S has the number Σ 2^i over its people i."""
    sums = np.zeros(1)
    for person in _count(floats(people, "people")):
        sums = np.concatenate([sums, sums + person])
    return sums


def consistent_people(answers: npt.ArrayLike, bound: float) -> npt.NDArray[np.bool_]:
    """Bits that fit the answers about all subsets, each within ``bound``; the search is complete."""
    given = finite_floats(answers, "answers")
    people = _people_of(given)
    if not (np.isfinite(bound) and bound >= 0):
        raise InvalidValue("bound must be a number that is not negative", bound)
    found = next(_consistent(given, people, bound + _ROUNDING), None)
    if found is None:
        raise InvalidValue("no people fit all answers within the bound", bound, "raise the bound")
    return np.array(found, np.bool_)


def _consistent(given: Floats, people: int, bound: float) -> Iterator[list[int]]:
    """Depth first: choices for the first people, with the sums of all subsets of these."""
    waiting: list[tuple[list[int], Floats]] = [([], np.zeros(1))]
    while waiting:
        chosen, sums = waiting.pop()
        if np.abs(given[: len(sums)] - sums).max() > bound:
            continue
        if len(chosen) == people:
            yield chosen
            continue
        likely = int(given[1 << len(chosen)] > 0.5)
        waiting.append(([*chosen, 1 - likely], np.concatenate([sums, sums + 1 - likely])))
        waiting.append(([*chosen, likely], np.concatenate([sums, sums + likely])))  # the last one is tried first


def _people_of(given: Floats) -> int:
    if given.ndim != 1 or given.size < 2 or given.size & (given.size - 1):
        rule = "answers must be given for every subset, 2^n of them for n people"
        raise InvalidValue(rule, f"<shape {given.shape}>")
    return len(_count(np.zeros(given.size.bit_length() - 1)))


def _count(people: Floats) -> Floats:
    if people.ndim != 1 or not 1 <= people.size <= MOST_PEOPLE:
        rule = f"all subsets are for 1 to {MOST_PEOPLE} people"
        raise InvalidValue(rule, f"<shape {people.shape}>", "random subsets do for more")
    return people


_MILP_OPTIMAL, _MILP_INFEASIBLE = 0, 2


class IntegerProgram:
    """Variables from 0 to an upper end, and sums of them that must lie between two numbers."""

    def __init__(self) -> None:
        self._uppers: list[float] = []
        self._costs: list[float] = []
        self._whole: list[bool] = []
        self._rows: list[Codes] = []
        self._factors: list[npt.NDArray[np.float64]] = []
        self._ends: list[tuple[float, float]] = []

    def variables(self, count: int, upper: float, cost: float = 0.0, whole: bool = True) -> Codes:
        """The places of new variables; ``cost`` is what one unit of each adds to what is minimised."""
        start = len(self._uppers)
        self._uppers += [upper] * count
        self._costs += [cost] * count
        self._whole += [whole] * count
        return np.arange(start, start + count)

    def between(self, low: float, high: float, places: npt.ArrayLike, factors: npt.ArrayLike = 1.0) -> None:
        """Demand that the sum of these variables, each times its factor, lies between two numbers."""
        row = np.asarray(places, np.int64)
        self._rows.append(row)
        self._factors.append(np.broadcast_to(np.asarray(factors, np.float64), row.shape))
        self._ends.append((low, high))

    def solved(self, seconds: float = LINEAR_PROGRAM) -> Codes | None:
        """Whole numbers that meet every demand at the least cost; None where there are none."""
        found = self._run(seconds)
        if found.status == _MILP_INFEASIBLE:
            return None
        if found.status != _MILP_OPTIMAL:
            rule = f"the integer program must be solved within {seconds:g} seconds"
            raise OutOfReach(rule, None, "take fewer values, fewer people, or more statistics")
        return np.asarray(np.rint(found.x), np.int64)

    def least_cost(self, seconds: float = LINEAR_PROGRAM) -> npt.NDArray[np.float64] | None:
        """The best numbers that were found in the time, whole where they must be; None where there are none."""
        found = self._run(seconds)
        return None if found.x is None else np.asarray(found.x, np.float64)

    def _run(self, seconds: float) -> Any:
        lengths = [len(row) for row in self._rows]
        rows = np.repeat(np.arange(len(lengths)), lengths)
        entries = (np.concatenate(self._factors), (rows, np.concatenate(self._rows)))
        matrix = sparse.csr_array(entries, shape=(len(lengths), len(self._uppers)))
        low, high = np.array(self._ends).T
        return milp(
            np.array(self._costs),
            constraints=LinearConstraint(matrix, low, high),
            integrality=np.array(self._whole, np.int64),
            bounds=Bounds(0, np.array(self._uppers)),
            options={"time_limit": seconds},
        )


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


_FEW_ROWS = 512  # a block of floats that stays in the cache
_MANY_ROWS = 4096  # counts up to 2^24 are exact in single precision


class SubsetQueries:
    """Which people every question counts."""

    def __init__(self, matrix: Any) -> None:
        """``matrix`` is an array or a sparse matrix of zeros and ones."""
        self.matrix: Any = _by_rows(matrix)
        if self.matrix.ndim != 2 or 0 in self.matrix.shape:
            rule = "queries must be a matrix with a row for each question and a column for each person"
            raise InvalidValue(rule, f"<shape {self.matrix.shape}>")
        if not all(_is_binary(block) for block in self._blocks(_FEW_ROWS)):
            raise InvalidValue("queries must hold zeros and ones", "<other numbers>", "1 where a person is counted")

    @property
    def questions(self) -> int:
        """How many rows there are."""
        return int(self.matrix.shape[0])

    @property
    def people(self) -> int:
        """How many columns there are."""
        return int(self.matrix.shape[1])

    def times(self, people: Floats) -> Floats:
        """The answer to every question, from a number for every person."""
        return np.concatenate([_floats(block) @ people for block in self._blocks(_FEW_ROWS)])

    def transposed_times(self, answers: Floats) -> Floats:
        """For every person the sum over the questions that count the person."""
        total = np.zeros(self.people)
        for place, block in enumerate(self._blocks(_FEW_ROWS)):
            total += _floats(block).T @ answers[place * _FEW_ROWS : (place + 1) * _FEW_ROWS]
        return total

    def gram(self) -> Floats:
        """For every two people the number of questions that count both; exact."""
        total = np.zeros((self.people, self.people))
        for block in self._blocks(_MANY_ROWS):
            single = _dense(block).astype(np.float32)
            total += single.T @ single
        return total

    def sparse(self) -> Any:
        """For solvers that want only the ones."""
        return sparse.csr_array(self.matrix, dtype=np.float64)

    def _blocks(self, rows: int) -> Iterator[Any]:
        return (self.matrix[start : start + rows] for start in range(0, self.questions, rows))


def random_subsets(questions: int, people: int, chance: Chance) -> SubsetQueries:
    """Every person is in every subset with probability one half."""
    return SubsetQueries(chance.integers(0, 2, (questions, people), dtype=np.int8))


def _by_rows(matrix: Any) -> Any:
    try:
        return matrix.tocsr() if hasattr(matrix, "tocsr") else np.asarray(matrix)
    except ValueError:
        rule = "queries must be a matrix with a row for each question and a column for each person"
        raise InvalidValue(rule, "<rows of different lengths>") from None


def _dense(block: Any) -> npt.NDArray[Any]:
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block)


def _floats(block: Any) -> Any:
    """Cast here and not within the product, where NumPy is several times slower."""
    return block.astype(np.float64)


def _is_binary(block: Any) -> bool:
    values = _dense(block)
    if values.dtype.kind not in "biuf":
        return False
    return bool(((values == 0) | (values == 1)).all())


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
    projected = np.where(seen, directions.T @ queries.transposed_times(surprise), 0.0)
    plain = directions @ (projected / np.where(seen, strengths, 1.0))
    spare = len(answers) - int(seen.sum())
    noise = float(np.square(surprise - queries.times(plain)).sum() / spare) if spare else 0.0
    weight = max(noise / (share * (1 - share)), _LEAST_WEIGHT)
    return share + np.asarray(directions @ (projected / np.where(seen, strengths + weight, 1.0)))


def expected_accuracy(people: int, questions: int, sigma: float) -> float:
    """Φ(√(m − n)/4σ): how many bits least squares gets right, for random subsets and noise of this deviation."""
    if questions <= people:
        return 0.5
    return float(ndtr(math.sqrt(questions - people) / (4 * sigma))) if sigma else 1.0


def _indistinct() -> InvalidValue:
    rule = "queries must tell all people apart"
    return InvalidValue(rule, "<people whose answers can be exchanged>", "ask about other random subsets")


_LINPROG_INFEASIBLE = 2
_MOST_ITERATIONS = 100_000
_MOST_ENTRIES = 20_000_000


def least_total_error(queries: SubsetQueries, answers: Floats) -> Floats:
    """Minimise Σ|Qx − a|."""
    rows, people = queries.questions, queries.people
    cost = np.concatenate([np.zeros(people), np.ones(2 * rows)])
    unit = sparse.eye_array(rows)
    equal = sparse.hstack([queries.sparse(), -unit, unit], format="csr")
    bounds = np.array([(0.0, 1.0)] * people + [(0.0, np.inf)] * (2 * rows))
    return _solve(queries, c=cost, A_eq=equal, b_eq=answers, bounds=bounds)


def least_greatest_error(queries: SubsetQueries, answers: Floats) -> Floats:
    """Minimise max|Qx − a|."""
    people = queries.people
    cost = np.zeros(people + 1)
    cost[-1] = 1.0
    matrix = queries.sparse()
    slack = -sparse.csr_array(np.ones((queries.questions, 1)))
    both = sparse.vstack([sparse.hstack([matrix, slack]), sparse.hstack([-matrix, slack])], format="csr")
    bounds = np.array([(0.0, 1.0)] * people + [(0.0, np.inf)])
    return _solve(queries, c=cost, A_ub=both, b_ub=np.concatenate([answers, -answers]), bounds=bounds)


def within_bound(queries: SubsetQueries, answers: Floats, bound: float) -> Floats:
    """Any x with |Qx − a| ≤ bound for every question."""
    matrix = queries.sparse()
    both = sparse.vstack([matrix, -matrix], format="csr")
    limits = np.concatenate([answers + bound, bound - answers])
    return _solve(queries, c=np.zeros(queries.people), A_ub=both, b_ub=limits, bounds=(0, 1))


def _solve(queries: SubsetQueries, **program: Any) -> Floats:
    """Solve by the interior point method: with noise the simplex method is many times slower."""
    entries = queries.questions * queries.people
    if entries > _MOST_ENTRIES:
        rule = f"a linear program must have at most {_MOST_ENTRIES:,} entries, questions times people"
        raise OutOfReach(rule, entries, "least squares takes seconds where a linear program takes hours")
    found = linprog(method="highs-ipm", options={"maxiter": _MOST_ITERATIONS}, **program)
    if found.status == _LINPROG_INFEASIBLE:
        rule = "no people fit all answers within the bound"
        raise InvalidValue(rule, None, "raise the bound, or take the least total error")
    if not found.success:
        rule = f"the linear program must be solved in {_MOST_ITERATIONS} iterations"
        raise OutOfReach(rule, None, "take least squares")
    return np.asarray(np.clip(np.asarray(found.x, np.float64)[: queries.people], 0.0, 1.0))
