"""Rebuild everybody's secret bit from answers about many subsets of people (Dinur and Nissim).

>>> import numpy as np
>>> from discreet.noise.experiment import experiment
>>> chance = experiment(1)
>>> people = chance.integers(0, 2, 50)
>>> queries = chance.integers(0, 2, (400, 50))
>>> noisy = queries @ people + chance.uniform(-1, 1, 400)
>>> found = reconstruct(queries, noisy)
>>> int((found.bits == people).sum())
50
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.attacks.methods.floats import Floats, finite_floats
from discreet.attacks.methods.least_squares import boxed_least_squares, least_squares
from discreet.attacks.methods.linear_program import least_greatest_error, least_total_error, within_bound
from discreet.attacks.methods.subset_queries import SubsetQueries
from discreet.errors import InvalidValue

__all__ = ["Method", "Rebuilt", "reconstruct"]

Method = Literal["least squares", "box", "linear program", "greatest error", "within bound"]
"""How to fit people to answers."""

_FITS = {
    "least squares": least_squares,
    "box": boxed_least_squares,
    "linear program": least_total_error,
    "greatest error": least_greatest_error,
}


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """What was found about everybody."""

    bits: npt.NDArray[np.bool_]
    """Whether every person has the secret."""
    fractions: Floats
    """The numbers that were rounded to the bits."""
    residual: float
    """The standard deviation of the answers from what the fractions give; about the noise of one answer."""


def reconstruct(queries: Any, answers: npt.ArrayLike, method: Method = "box", bound: float | None = None) -> Rebuilt:
    """The people that fit the answers.

    ``queries`` is a matrix of zeros and ones, dense or sparse, with a row for each question and a column for each
    person. ``method`` is "least squares", "box" (the same, with everybody between 0 and 1), "linear program" (the least
    total error, which withstands answers that are wildly wrong), "greatest error" (the least of it), or "within bound"
    (any people who fit every answer within ``bound``).
    """
    asked = queries if isinstance(queries, SubsetQueries) else SubsetQueries(queries)
    given = _checked_answers(asked, answers)
    fractions = _fitted(asked, given, method, bound)
    spare = max(asked.questions - asked.people, 1)
    residual = float(np.sqrt(np.square(given - asked.times(fractions)).sum() / spare))
    return Rebuilt(fractions > 0.5, fractions, residual)


def _fitted(asked: SubsetQueries, given: Floats, method: str, bound: float | None) -> Floats:
    if method == "within bound":
        if bound is None or not (np.isfinite(bound) and bound >= 0):
            raise InvalidValue("bound must be a number that is not negative", bound)
        return within_bound(asked, given, bound)
    if method not in _FITS:
        raise InvalidValue(f"method must be one of {', '.join([*_FITS, 'within bound'])}", method)
    return _FITS[method](asked, given)


def _checked_answers(asked: SubsetQueries, answers: npt.ArrayLike) -> Floats:
    given = finite_floats(answers, "answers", "leave out the queries that were refused")
    if given.shape != (asked.questions,):
        raise InvalidValue(f"answers must be one for each of the {asked.questions} queries", f"<shape {given.shape}>")
    if asked.questions < asked.people:
        rule = f"queries must be at least as many as the {asked.people} people"
        raise InvalidValue(rule, asked.questions, "with fewer, many tables fit equally well")
    return given
