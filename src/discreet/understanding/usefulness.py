"""How good the answers are that this ε buys, for a table of n people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.understanding.given import Given

__all__ = ["Useful", "Usefulness"]

_CELLS = 10
_FINE = Fraction(1, 2**10)
_CHART = tuple(10**power for power in range(1, 8))
_CONFIDENCE = Fraction(19, 20)


@dataclass(frozen=True)
class Useful:
    """The error of one kind of question."""

    question: str
    """What is asked."""
    within: float
    """95 of 100 answers are off by at most this much, in the unit of the answer."""
    typical: float
    """The standard deviation of the answer, in the same unit."""
    share: float
    """``within`` as a share of the largest possible answer."""


@dataclass(frozen=True)
class Usefulness:
    """The errors of a few questions with Laplace noise, and of a count without anybody to trust."""

    central: tuple[Useful, ...]
    """Answers of a curator who holds the rows; 95 % bounds are exact quantiles of the noise."""
    local: float
    """The standard deviation of a count where everybody adds noise themselves (randomized response)."""
    by_people: tuple[tuple[int, float, float], ...]
    """For tables of many sizes, the standard deviation of a count as a share: of the curator, and without one."""

    @staticmethod
    def of(given: Given) -> Usefulness:
        """The errors of mechanisms that cost ε and need no δ."""
        n = given.n
        count, fine = Laplace(given.epsilon), Laplace(given.epsilon, grid=_FINE)
        response = RandomizedResponse(given.epsilon)
        off, off_cells, off_sum = count.error(_CONFIDENCE), count.error(_CONFIDENCE, _CELLS), fine.error(_CONFIDENCE)
        typical, typical_sum = count.standard_deviation, fine.standard_deviation
        return Usefulness(
            (
                Useful("how many people", off, typical, off / n),
                Useful("the mean of values from 0 to 1", off_sum / n, typical_sum / n, off_sum / n),
                Useful(f"a histogram, all {_CELLS} cells at once", off_cells, typical, off_cells / n),
            ),
            response.standard_deviation(n),
            tuple((people, typical / people, response.standard_deviation(people) / people) for people in _CHART),
        )
