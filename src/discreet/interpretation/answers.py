"""What answers at an ε tell: how many until an attacker may know, how good they are, and what a study tells of Alice.

Adding up says that m answers cost mε and mδ. The worst mechanism is known as well (Kairouz, Oh, Viswanath 2015): with
probability δ each answer tells all, and else it tells the truth with probability e^ε/(1 + e^ε). The best guess then
follows the majority. For odd m = 2j + 1 the majority is right with probability I_p(j + 1, j + 1), the regularised
incomplete beta function at p = e^ε/(1 + e^ε); an even number of answers is no better than one less. No mechanism of
that loss does worse, also where each question is chosen after seeing the answers before.

A noisy count may give the same answers with and without my record; they stand side by side.

Alice smokes, and an insurer reads a study, with her record or without it. The insurer does not know whether smoking
harms: if it does, a quarter of all smokers fall ill, if not, one in twenty, and both seem equally likely. A study
counts the ill among 100 smokers and publishes the count with noise. The insurer then thinks otherwise about every
smoker, also about one whose record was replaced by "healthy".

All probabilities are Bayes' rule over every possible table, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
from scipy.special import betainc

from discreet.accounting.calibration import most
from discreet.exact.ball import Ball, exp_up, upper, working_precision
from discreet.interpretation.given import Given
from discreet.interpretation.person import best_accuracy
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.privacy.hypothesis_tests import pure_factor
from discreet.privacy.loss import Pure
from discreet.privacy.meaning import Beliefs, posterior_range, with_or_without_me

__all__ = ["Insurance", "Repeated", "Repetition", "TwoLaws", "Useful", "Usefulness", "worst_accuracy"]


_TARGETS = (Fraction(3, 4), Fraction(9, 10), Fraction(99, 100))
_SLACK = 1e-6
"""More than the error of the incomplete beta function in floats, so that a count is never too high by it."""
_MOST = 2**62
_DIGITS = 3
_CHART_QUESTIONS = 24
_CERTAIN = 1000


@dataclass(frozen=True)
class Repetition:
    """How many answers of this loss it takes until the best guess at even odds may be this good."""

    accuracy: Fraction
    """How often the guess is right."""
    by_adding: int
    """The number of answers at which the sum of the losses no longer rules it out."""
    at_worst: int
    """The number of answers with which the worst mechanism reaches it, rounded down to three digits."""


@dataclass(frozen=True)
class Repeated:
    """Many answers of the same loss."""

    repetitions: tuple[Repetition, ...]
    """A few targets."""
    curve: tuple[tuple[int, Fraction, float], ...]
    """Numbers of answers, with the accuracy that adding up allows and the one that the worst mechanism reaches."""

    @staticmethod
    def of(given: Given) -> Repeated:
        """The two counts at each target, and a curve up to the last of them."""
        found = tuple(_repetition(given, target) for target in _TARGETS)
        last = max(found[-1].at_worst, 10)
        numbers = sorted({max(1, round(last ** (part / _CHART_QUESTIONS))) for part in range(_CHART_QUESTIONS + 1)})
        return Repeated(found, tuple((m, _allowed(given, m), worst_accuracy(given, m)) for m in numbers))


def worst_accuracy(given: Given, count: int) -> float:
    """How often the best guess is right after ``count`` answers of the worst mechanism."""
    half = float((count - 1) // 2 + 1)
    lie = 1 / (1 + math.exp(min(float(given.epsilon), 700)))  # nobody can tell e^700 from more
    wrong = float(betainc(half, half, lie))
    return 1 - wrong * math.exp(count * math.log1p(-float(given.delta)))


def _allowed(given: Given, count: int) -> Fraction:
    """What adding up allows: all there is, where nothing is promised or its factor is too long to write."""
    if count * given.epsilon > _CERTAIN or count * given.delta >= 1:
        return Fraction(1)
    return best_accuracy(count * given.loss)


def _repetition(given: Given, target: Fraction) -> Repetition:
    return Repetition(
        target,
        _first(lambda m: _allowed(given, m) >= target),
        _rounded_down(_first(lambda m: worst_accuracy(given, m) >= target - _SLACK)),
    )


def _first(reached: Callable[[int], bool]) -> int:
    return most(lambda count: not reached(count), _MOST) + 1


def _rounded_down(count: int) -> int:
    unit: int = 10 ** max(0, len(str(count)) - _DIGITS)
    return count // unit * unit


_CELLS = 10
_FINE = Fraction(1, 2**10)
_CHART_PEOPLE = tuple(10**power for power in range(1, 8))
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
            tuple((people, typical / people, response.standard_deviation(people) / people) for people in _CHART_PEOPLE),
        )


_WITHOUT = 100
_REACH = 4
"""How far the listed answers lie from the count, in scales of the noise."""
_MOST_STEPS = 30
"""At most this many answers are listed on either side."""


@dataclass(frozen=True)
class TwoLaws:
    """The law of a noisy count of people, when my record is not in the table and when it is."""

    without: int
    """The count without my record; with it, the count is one more."""
    answers: tuple[int, ...]
    """Answers near the count, rising, equally far apart."""
    chance_without: tuple[float, ...]
    """How likely each answer is without my record."""
    chance_with: tuple[float, ...]
    """How likely each answer is with my record."""
    factor: Fraction
    """e^ε rounded up: no answer is more than this many times likelier, or less likely, with my record than without."""

    @staticmethod
    def of(given: Given) -> TwoLaws:
        """The laws of the Laplace mechanism, which costs ε and needs no δ."""
        law = Laplace(given.epsilon).law
        reach = max(_REACH, math.ceil(_REACH / given.epsilon))
        step = -(-reach // _MOST_STEPS)
        answers = np.arange(_WITHOUT - step * (reach // step), _WITHOUT + reach + 2, step)
        return TwoLaws(
            _WITHOUT,
            tuple(map(int, answers)),
            tuple(map(float, law.pmf(answers - _WITHOUT))),
            tuple(map(float, law.pmf(answers - _WITHOUT - 1))),
            exp_up(given.epsilon),
        )


_SMOKERS = 100
_OTHERS = _SMOKERS - 1
_PUBLISHED = 25
_COST = 40_000
_HARMLESS, _HARMFUL = Fraction(1, 20), Fraction(1, 4)
_RATES = (_HARMLESS, _HARMFUL)

_Table = tuple[Fraction, int, bool]
"""How many smokers fall ill on average, how many of the others did, and whether Alice did."""


@dataclass(frozen=True)
class Insurance:
    """What an insurer believes of Alice before and after the study."""

    smokers: int
    """How many smokers the study has, Alice among them."""
    harmless: Fraction
    """The share of smokers who fall ill if smoking does no harm."""
    harmful: Fraction
    """The share of smokers who fall ill if it does."""
    published: int
    """The noisy count that the study publishes."""
    cost: int
    """What the illness costs; a fair premium is this times the belief."""
    before: Fraction
    """The belief that Alice falls ill, before the study."""
    without_her: Fraction
    """The same after a study that did not use her record, rounded up."""
    with_her: Fraction
    """The same after a study that used her record, rounded up."""
    apart: Fraction
    """The largest factor between the two beliefs, over everything that can be said of the table, rounded up."""
    bound: Fraction
    """The factor that no prior and no answer can exceed, e^(2ε), rounded up."""
    informed: Fraction
    """What an insurer who knows the records of all others believes of Alice without her record, rounded up."""
    informed_low: Fraction
    """The least that insurer may believe after a study with her record, rounded down."""
    informed_high: Fraction
    """The most that insurer may believe after a study with her record, rounded up."""

    @staticmethod
    def of(given: Given) -> Insurance:
        """Bayes' rule, for a count with Laplace noise of ε."""
        loss = Pure(given.epsilon)
        law = Laplace(given.epsilon).law
        chance = cache(law.mass)
        prior = Beliefs(_prior())
        with working_precision():
            used = prior.after({table: chance(_PUBLISHED - table[1] - table[2]) for table in prior})
            not_used = prior.after({table: chance(_PUBLISHED - table[1]) for table in prior})
            apart = upper(used.distance(not_used))
        informed = _knowing_all_others()
        low, high = posterior_range(informed, loss)
        return Insurance(
            _SMOKERS,
            _HARMLESS,
            _HARMFUL,
            _PUBLISHED,
            _COST,
            sum(_RATES, Fraction(0)) / len(_RATES),
            _ill(not_used),
            _ill(used),
            exp_up(apart),
            pure_factor(with_or_without_me(loss)),
            informed,
            low,
            high,
        )


def _prior() -> dict[_Table, Fraction]:
    return {
        (rate, others, alice): _chance_of(rate, others) * (rate if alice else 1 - rate) / len(_RATES)
        for rate, others, alice in _tables()
    }


def _tables() -> Iterator[_Table]:
    for rate in _RATES:
        for others in range(_OTHERS + 1):
            yield rate, others, False
            yield rate, others, True


def _chance_of(rate: Fraction, others: int) -> Fraction:
    return comb(_OTHERS, others) * rate**others * (1 - rate) ** (_OTHERS - others)


def _ill(beliefs: Beliefs[_Table]) -> Fraction:
    found: Ball = beliefs.that(lambda table: table[2])
    with working_precision():
        return min(upper(found), Fraction(1))


def _knowing_all_others() -> Fraction:
    """The chance that Alice falls ill, for whoever knows that as many of the others did as the study says."""
    weights = {rate: _chance_of(rate, _PUBLISHED) for rate in _RATES}
    return sum((rate * weight for rate, weight in weights.items()), Fraction(0)) / sum(weights.values())
