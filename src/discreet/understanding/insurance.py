"""Smoking and cancer: what an insurer learns about Alice from a study, with her record and without it.

Alice smokes. The insurer does not know whether smoking harms: if it does, a quarter of all smokers fall ill, if not,
one in twenty, and both seem equally likely. A study counts the ill among 100 smokers and publishes the count with
noise. The insurer then thinks otherwise about every smoker, also about one whose record was replaced by "healthy".

All probabilities are Bayes' rule over every possible table, in balls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

from discreet.exact.ball import Ball, exp_up, upper, working_precision
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.beliefs import Beliefs, posterior_range, with_or_without_me
from discreet.privacy.loss import Pure
from discreet.privacy.odds import pure_factor
from discreet.understanding.given import Given

__all__ = ["Insurance"]

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
