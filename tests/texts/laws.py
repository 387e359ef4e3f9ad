"""Finite laws with exact probabilities, and what the texts do with them: compare, post-process, compose.

The arithmetic is rational, as in the texts. `factor`, `through` and `response` also ask the package for the same number
and fail where it says another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from discreet.exact.ball import Ball, ball, working_precision
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.privacy.hypothesis_tests import OddsRatio, Pair
from discreet.privacy.loss import Pure

Law = dict[Any, Fraction]


def factor(first: Law, second: Law) -> Fraction | float:
    """The least e^ε that bounds both likelihood ratios at every outcome; ∞ where there is none."""
    worst = _largest_ratio(first, second)
    stated = pair(first, second).epsilon()
    with working_precision():
        assert stated == Ball.pos_inf() if worst == math.inf else stated.overlaps(ball(worst).log())
    return worst


def _largest_ratio(first: Law, second: Law) -> Fraction | float:
    worst = Fraction(1)
    for outcome in first.keys() | second.keys():
        p, q = first.get(outcome, Fraction(0)), second.get(outcome, Fraction(0))
        if (p == 0) != (q == 0):
            return math.inf
        if p:
            worst = max(worst, p / q, q / p)
    return worst


def loss(first: Law, second: Law) -> Pure:
    """What a mechanism with these laws at two neighbours costs there, rounded up."""
    found = factor(first, second)
    assert isinstance(found, Fraction)
    return OddsRatio(found).loss


def pair(first: Law, second: Law) -> Pair:
    outcomes = list(first.keys() | second.keys())
    return Pair([first.get(y, Fraction(0)) for y in outcomes], [second.get(y, Fraction(0)) for y in outcomes])


def through(law: Law, mapping: Mapping[Hashable, Law] | Callable[[Any], Law]) -> Law:
    """The law of M(A) for A of this law and a random mapping M with its own randomness."""
    images = {y: mapping(y) if callable(mapping) else mapping[y] for y in law}
    found: Law = {}
    for y, p in law.items():
        for z, share in images[y].items():
            found[z] = found.get(z, Fraction(0)) + p * share
    _check_law(FiniteLaw.of(law).through(lambda y: FiniteLaw.of(images[y])), found)
    return found


def _check_law(stated: FiniteLaw, exact: Law) -> None:
    """The package's law, which is made of balls, must hold the exact probabilities."""
    assert set(stated.outcomes) == exact.keys()
    assert all(stated.mass(y).overlaps(ball(p)) for y, p in exact.items())


def followed_by(law: Law, second: Callable[[Any], Law]) -> Law:
    """The law of (A₁, A₂) where A₂ may depend on what A₁ showed."""
    return {(y, z): p * q for y, p in law.items() for z, q in second(y).items()}


def side_by_side(laws: Iterable[Law]) -> Law:
    """The law of independent answers together."""
    found: Law = {(): Fraction(1)}
    for law in laws:
        found = {(*y, z): p * q for y, p in found.items() for z, q in law.items()}
    return found


def response(bit: int, truth: Fraction) -> Law:
    """Randomized response with a rational probability of truth."""
    exact = {bit: truth, 1 - bit: 1 - truth}
    stated = RandomizedResponse.truth(truth).distribution(bit)
    assert isinstance(stated, FiniteLaw)
    _check_law(stated, exact)
    return exact


def random_laws(outcomes: int) -> st.SearchStrategy[Law]:
    weights = st.lists(st.integers(1, 30), min_size=outcomes, max_size=outcomes)
    return weights.map(lambda w: {k: Fraction(x, sum(w)) for k, x in enumerate(w)})


def random_mappings(outcomes: int, images: int) -> st.SearchStrategy[dict[Hashable, Law]]:
    return st.lists(random_laws(images), min_size=outcomes, max_size=outcomes).map(lambda m: dict(enumerate(m)))
