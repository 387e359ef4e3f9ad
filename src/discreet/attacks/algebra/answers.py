"""What a set of answered questions discloses, found by linear algebra.

A sum over a group of people is an equation: one unknown for each person, with weight 1 in the group and 0 outside. A
person's value is disclosed if and only if some combination of the questions has weight 1 on this person and 0 on all
others. Then the same combination of the answers is the value.

Proof. If there is such a combination, it is the value. If there is none, the person's unit vector is not in the row
space of the questions, so some vector that is orthogonal to all rows is not zero at this person; adding any multiple of
it to the true values changes this one and no answer. ∎

>>> everybody, women = {"Alice", "Bob", "Cathy", "Diana", "Ellen"}, {"Alice", "Cathy", "Diana", "Ellen"}
>>> for found in differences([everybody, women], [5.58, 5.5], averages=True):
...     print(found)
Bob: 5·q1 − 4·q2 = 5.9

Fresh noise is gone when a question is repeated often enough. An answer is a whole number plus Laplace noise of scale b,
drawn anew each time. Whoever takes the mean or the median of m answers and rounds it has the true answer if the centre
of the noise is less than one half from zero.

Median (m odd). It is below −1/2 if and only if at least (m + 1)/2 draws are. One draw is with probability
e^(−1/(2b))/2, so the number of them is binomial, and by symmetry the median is within one half with probability
1 − 2 P(Binomial ≥ (m + 1)/2).

Mean. The sum of m Laplace draws is b (G − G') with two gamma variables of shape m. The size of G − G' is gamma with
shape m − j with probability C(m − 1 + j, j) 2^(1 − m − j), for j from 0 to m − 1: of two clocks with m ticks each, the
one that ends first leaves m − j ticks of the other (Banach's matchboxes). So the mean is within one half with
probability Σ_j C(m − 1 + j, j) 2^(1 − m − j) P(Gamma(m − j) < m/(2b)).

For large m these are about 2Φ(√m/(2b)) − 1 and 2Φ(√m/(2√2 b)) − 1: the median needs half as many.

>>> repetitions_needed(scale=10)
1613
>>> repetitions_needed(scale=10, centre=Centre.MEAN)
3075
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat, fmpz_mat
from scipy.special import gammainc, gammaln
from scipy.stats import binom

from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.exact.rational import Number, integer, positive, rational

__all__ = ["Centre", "Disclosure", "chance_of_truth", "differences", "repetitions_needed"]


Weights = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_MOST_PEOPLE = 300
_ESTIMABLE = 1e-9  # how far from 1 the projection of a unit vector may be by rounding; exact decisions use rationals


@dataclass(frozen=True)
class Disclosure:
    """One person's value, and the questions that disclose it."""

    person: Hashable
    """Who it is."""
    value: Fraction | float
    """The value, or the best estimate of it where answers are noisy."""
    combination: tuple[tuple[int, Fraction | float], ...]
    """The places of the questions, from 0, and the number that each answer is multiplied by."""
    error: float = 0.0
    """The standard deviation of the value; 0 where it is certain."""

    def __str__(self) -> str:
        """As a sum; q1 is the first question."""
        terms = "".join(_term(factor, place) for place, factor in self.combination)
        shown = terms.removeprefix(" + ") if terms.startswith(" + ") else "−" + terms.removeprefix(" − ")
        give_or_take = f" ± {self.error:.3g}" if self.error else ""
        return f"{self.person}: {shown} = {_number(self.value)}{give_or_take}"


def differences(
    queries: Sequence[Collection[Hashable]] | npt.ArrayLike,
    answers: Sequence[Number],
    *,
    averages: bool = False,
    noise_sd: Number | Sequence[Number] = 0,
    people: Sequence[Hashable] | None = None,
) -> tuple[Disclosure, ...]:
    """Everybody whose value the answers disclose.

    ``queries`` are groups of people, or a matrix of 0 and 1 with a row for each question and a column for each person;
    ``answers`` are sums over the groups (a count is a sum of 0 and 1), or averages. Without noise, answers are taken
    for exact, and floats for the decimals that they print as. With noise of standard deviation ``noise_sd``, one for
    all answers or one for each, values are estimated by least squares: of all unbiased combinations the one with the
    least error. Rounding is noise: answers rounded to tenths have a standard deviation of 0.1/√12.
    """
    names, weights = _weights(queries, people)
    sizes = [int(size) for size in weights.sum(axis=1)]
    if averages and 0 in sizes:
        raise InvalidValue("an average needs a group with somebody in it", f"<question {sizes.index(0) + 1}: nobody>")
    scale = sizes if averages else [1] * len(sizes)
    sums = [_answer(answer) * size for answer, size in zip(_pair(answers, sizes), scale, strict=True)]
    spread = _spread(noise_sd, scale)
    found = _exact(weights, sums) if spread is None else _estimate(weights, sums, spread)
    return tuple(
        Disclosure(names[person], value, tuple((query, scale[query] * factor) for query, factor in how), error)
        for person, value, how, error in found
    )


_Combination = list[tuple[int, Fraction]] | list[tuple[int, float]]
_Found = tuple[int, Fraction | float, _Combination, float]


def _exact(weights: Weights, sums: Sequence[Fraction]) -> list[_Found]:
    _check_size(weights)
    values = _determined(weights, sums)
    if values is None:
        first = _first_contradiction(weights, sums)
        raise InvalidValue("answers must be possible together", f"<answer {first} contradicts those before it>")
    combinations = _combinations(weights, list(values))
    return [(person, values[person], combinations[person], 0.0) for person in values]


def _determined(weights: Weights, sums: Sequence[Fraction]) -> dict[int, Fraction] | None:
    """The values that are certain; None where no values fit all sums."""
    people = weights.shape[1]
    rows = [[*map(fmpq, row), fmpq(s.numerator, s.denominator)] for row, s in zip(weights.tolist(), sums, strict=True)]
    if not rows:
        return {}
    reduced, rank = fmpq_mat(rows).rref()
    found = {}
    for place in range(rank):
        used = [column for column in range(people) if reduced[place, column] != 0]
        if not used:
            return None
        if len(used) == 1:
            found[used[0]] = _fraction(reduced[place, people])
    return dict(sorted(found.items()))


def _first_contradiction(weights: Weights, sums: Sequence[Fraction]) -> int:
    """The number of the first answer that does not fit those before it, from 1."""
    fitting, failing = 1, len(sums)
    while failing - fitting > 1:
        middle = (fitting + failing) // 2
        fits = _determined(weights[:middle], sums[:middle]) is not None
        fitting, failing = (middle, failing) if fits else (fitting, middle)
    return failing if _determined(weights[:fitting], sums[:fitting]) is not None else fitting


def _combinations(weights: Weights, persons: list[int]) -> dict[int, list[tuple[int, Fraction]]]:
    """For each of these persons the questions that single them out: one, a difference of two, or else any."""
    found = {**_plain_differences(weights), **_single(weights)}
    rest = [person for person in persons if person not in found]
    return {**found, **(_solve(weights, rest) if rest else {})}


def _single(weights: Weights) -> dict[int, list[tuple[int, Fraction]]]:
    alone = np.flatnonzero(weights.sum(axis=1) == 1)
    return {int(weights[query].argmax()): [(int(query), Fraction(1))] for query in alone[::-1]}


def _plain_differences(weights: Weights) -> dict[int, list[tuple[int, Fraction]]]:
    """Pairs of questions of which one is about one person more."""
    sizes, shared = weights.sum(axis=1), weights @ weights.T
    larger, smaller = np.nonzero((sizes[:, None] == sizes + 1) & (shared == sizes))
    pairs = zip(larger[::-1].tolist(), smaller[::-1].tolist(), strict=True)
    return {
        int((weights[large] - weights[small]).argmax()): [(large, Fraction(1)), (small, Fraction(-1))]
        for large, small in pairs
    }


def _solve(weights: Weights, persons: list[int]) -> dict[int, list[tuple[int, Fraction]]]:
    """Combinations of as many independent questions as there are."""
    queries, columns = _pivots(weights.T), _pivots(weights)
    square = fmpq_mat(fmpz_mat(weights[np.ix_(queries, columns)].T.tolist()))
    units = fmpq_mat(fmpz_mat([[int(column == person) for person in persons] for column in columns]))
    factors = square.solve(units)
    found = {}
    for place, person in enumerate(persons):
        combination = [(query, _fraction(factors[row, place])) for row, query in enumerate(queries)]
        found[person] = [(query, factor) for query, factor in combination if factor]
    return found


def _pivots(weights: Weights) -> list[int]:
    """The first independent columns."""
    reduced, rank = fmpq_mat(fmpz_mat(weights.tolist())).rref()
    columns = range(weights.shape[1])
    return [next(column for column in columns if reduced[place, column] != 0) for place in range(rank)]


def _spread(noise_sd: Number | Sequence[Number], scale: Sequence[int]) -> Floats | None:
    """The standard deviation of every sum: that of the answer times the scale. None for exact answers."""
    given = np.array(noise_sd, np.object_)
    if given.ndim == 0 and given == 0:
        return None
    each = np.atleast_1d(given).tolist()
    if len(each) not in (1, len(scale)):
        raise InvalidValue(f"noise_sd must be one number, or one for each of the {len(scale)} questions", len(each))
    return np.array([float(positive(sd, "noise_sd")) for sd in each]) * scale


def _estimate(weights: Weights, sums: Sequence[Fraction], spread: Floats) -> list[_Found]:
    """Least squares, each equation divided by its standard deviation."""
    whitened = weights / spread[:, None]
    inverse = np.linalg.pinv(whitened, rcond=1e-12)
    estimable = np.flatnonzero(np.abs((inverse * whitened.T).sum(axis=1) - 1) < _ESTIMABLE)
    values = inverse @ (np.array(sums, np.float64) / spread)
    errors = np.sqrt((inverse**2).sum(axis=1))
    factors = inverse / spread
    return [(int(p), float(values[p]), _large(factors[p]), float(errors[p])) for p in estimable]


def _large(factors: Floats) -> list[tuple[int, float]]:
    """Without what is zero but for rounding."""
    kept = np.flatnonzero(np.abs(factors) > _ESTIMABLE * np.abs(factors).max())
    return [(int(query), float(factors[query])) for query in kept]


def _weights(
    queries: Sequence[Collection[Hashable]] | npt.ArrayLike, people: Sequence[Hashable] | None
) -> tuple[list[Hashable], Weights]:
    if not isinstance(queries, (Sequence, np.ndarray)) or isinstance(queries, str):
        raise InvalidType("questions are given as a list or as a matrix", queries)
    if not len(queries):
        return list(people or ()), np.zeros((0, len(people or ())), np.int64)
    groups = [frozenset(query) for query in queries if isinstance(query, (set, frozenset))]
    return _from_sets(groups, people) if len(groups) == len(queries) else _from_rows(list(queries), people)


def _from_sets(groups: list[frozenset[Hashable]], people: Sequence[Hashable] | None) -> tuple[list[Hashable], Weights]:
    everybody = frozenset().union(*groups)
    names = list(people) if people is not None else sorted(everybody, key=str)
    strangers = everybody - set(names)
    if strangers:
        raise InvalidValue("questions must be about the people that are named", min(map(str, strangers)))
    return names, np.array([[person in group for person in names] for group in groups], np.int64)


def _from_rows(rows: list[Any], people: Sequence[Hashable] | None) -> tuple[list[Hashable], Weights]:
    places = [np.array(row, np.object_) for row in rows]
    if not all(row.ndim == 1 and np.isin(row, (0, 1)).all() for row in places):
        rule = "a question is a set of people, or a row with 1 for those in the group and 0 for others"
        raise InvalidValue(rule, "<something else>", "write {'Ann', 'Ben'}, or [1, 1, 0]")
    width = len(places[0]) if people is None else len(people)
    for place, row in enumerate(places):
        if len(row) != width:
            rule = f"every question must say of the same {width} people who is in it"
            raise InvalidValue(rule, f"<question {place + 1}: {len(row)}>")
    return list(range(width)) if people is None else list(people), np.array(places).astype(np.int64)


def _pair(answers: Sequence[Number], sizes: Sequence[int]) -> Sequence[Number]:
    if len(answers) != len(sizes):
        raise InvalidValue(f"every one of the {len(sizes)} questions needs an answer", len(answers))
    return answers


def _answer(answer: Number) -> Fraction:
    if isinstance(answer, float) and math.isnan(answer):
        raise InvalidValue("an answer must be a number", answer, "leave out the questions that were refused")
    return rational(answer, "an answer")


def _check_size(weights: Weights) -> None:
    if min(weights.shape) > _MOST_PEOPLE:
        rule = f"exact elimination takes {_MOST_PEOPLE} questions or {_MOST_PEOPLE} people at most"
        raise InvalidValue(rule, weights.shape, "give noise_sd to estimate instead")


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _term(factor: Fraction | float, place: int) -> str:
    size = _number(-factor if factor < 0 else factor)
    return (" − " if factor < 0 else " + ") + ("" if size == "1" else f"{size}·") + f"q{place + 1}"


def _number(value: Fraction | float) -> str:
    """As a decimal where it is a short one, and as a fraction elsewhere; estimates to four digits."""
    if isinstance(value, float):
        return f"{round(value, 9) + 0.0:.4g}"  # + 0.0 so that no zero is negative
    decimal = f"{float(value):.12g}"
    return decimal if Fraction(decimal) == value else str(value)


_MOST_REPETITIONS = 10**6


class Centre(Enum):
    """What is taken of many answers."""

    MEAN = "mean"
    MEDIAN = "median"


def chance_of_truth(scale: Number, repetitions: int, centre: Centre = Centre.MEDIAN) -> float:
    """The probability that the rounded centre of so many answers is the true one."""
    times = integer(repetitions, "the number of repetitions", least=1, most=_MOST_REPETITIONS)
    if centre is Centre.MEDIAN and times % 2 == 0:
        raise InvalidValue("a median is taken of an odd number of answers", times, f"{times - 1} or {times + 1}")
    return _BY_CENTRE[centre](float(positive(scale, "the scale of the noise")), times)


def repetitions_needed(scale: Number, confidence: float = 0.95, centre: Centre = Centre.MEDIAN) -> int:
    """The least odd number of answers after which the rounded centre is the true answer with this probability."""
    if not 0 < confidence < 1:
        raise InvalidValue("a confidence must lie strictly between 0 and 1", confidence)
    enough = 0  # 2 * enough + 1 answers
    while chance_of_truth(scale, 2 * enough + 1, centre) < confidence:
        enough = 2 * enough + 1
        if 2 * enough + 1 > _MOST_REPETITIONS:
            raise OutOfReach(
                f"more than {_MOST_REPETITIONS} answers are needed", scale, "a smaller scale or confidence needs fewer"
            )
    too_few = (enough - 1) // 2 if enough else -1
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        is_enough = chance_of_truth(scale, 2 * middle + 1, centre) >= confidence
        too_few, enough = (too_few, middle) if is_enough else (middle, enough)
    return 2 * enough + 1


def _median(scale: float, times: int) -> float:
    return float(1 - 2 * binom.sf((times - 1) // 2, times, np.exp(-0.5 / scale) / 2))


def _mean(scale: float, times: int) -> float:
    left = np.arange(times)
    ways = gammaln(times + left) - gammaln(left + 1) - gammaln(times) + (1 - times - left) * np.log(2)
    return float(np.exp(ways) @ gammainc(times - left, times / (2 * scale)))


_BY_CENTRE: dict[Centre, Callable[[float, int], float]] = {Centre.MEAN: _mean, Centre.MEDIAN: _median}
