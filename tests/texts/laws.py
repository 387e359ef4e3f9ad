"""Finite laws with exact probabilities, and what the texts do with them: compare, post-process, compose."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from discreet.privacy.hypothesis_tests import Pair

Law = dict[Any, Fraction]


def factor(first: Law, second: Law) -> Fraction | float:
    """The least e^ε that bounds both likelihood ratios at every outcome, exactly; ∞ where there is none."""
    worst = Fraction(1)
    for outcome in first.keys() | second.keys():
        p, q = first.get(outcome, Fraction(0)), second.get(outcome, Fraction(0))
        if (p == 0) != (q == 0):
            return math.inf
        if p:
            worst = max(worst, p / q, q / p)
    return worst


def pair(first: Law, second: Law) -> Pair:
    outcomes = list(first.keys() | second.keys())
    return Pair([first.get(y, Fraction(0)) for y in outcomes], [second.get(y, Fraction(0)) for y in outcomes])


def through(law: Law, mapping: Mapping[Hashable, Law] | Callable[[Any], Law]) -> Law:
    """The law of M(A) for A of this law and a random mapping M with its own randomness."""
    found: Law = {}
    for y, p in law.items():
        for z, share in (mapping(y) if callable(mapping) else mapping[y]).items():
            found[z] = found.get(z, Fraction(0)) + p * share
    return found


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
    return {bit: truth, 1 - bit: 1 - truth}


def random_laws(outcomes: int) -> st.SearchStrategy[Law]:
    weights = st.lists(st.integers(1, 30), min_size=outcomes, max_size=outcomes)
    return weights.map(lambda w: {k: Fraction(x, sum(w)) for k, x in enumerate(w)})


def random_mappings(outcomes: int, images: int) -> st.SearchStrategy[dict[Hashable, Law]]:
    return st.lists(random_laws(images), min_size=outcomes, max_size=outcomes).map(lambda m: dict(enumerate(m)))
