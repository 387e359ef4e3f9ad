"""Mechanisms and formulas in plain Python, written again from the definitions, to check what the library says."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb

DIGITS = Context(prec=60)


def e_to(epsilon: Fraction) -> Fraction:
    """e^ε to sixty digits, by the decimal module."""
    with localcontext(DIGITS):
        return Fraction((Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())


def worst_pair(epsilon: Fraction, delta: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Two laws as far apart as (ε, δ) allows: reveal with probability δ, else lie with probability 1/(1+e^ε)."""
    factor = e_to(epsilon)
    truth, lie = (1 - delta) * factor / (1 + factor), (1 - delta) / (1 + factor)
    return [delta, truth, lie, Fraction(0)], [Fraction(0), lie, truth, delta]


def best_guess(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """How often the best guess between two equally likely laws is right: all tests are tried."""
    outcomes = range(len(first))
    return max(
        sum((first[t] if says else second[t] for t, says in zip(outcomes, test, strict=True)), Fraction(0)) / 2
        for test in product([True, False], repeat=len(first))
    )


def caught(first: list[Fraction], second: list[Fraction], false_alarms: Fraction) -> Fraction:
    """The most of ``first`` that a randomised test finds with this share of ``second`` accused: greedy by ratio."""
    found, room = Fraction(0), false_alarms
    possible = [(p, q) for p, q in zip(first, second, strict=True) if p + q > 0]
    for p, q in sorted(possible, key=lambda pq: pq[1] / (pq[0] + pq[1])):
        part = min(Fraction(1), room / q) if q else Fraction(1)
        found, room = found + part * p, room - part * q
    return found


def repeated_pair(epsilon: Fraction, delta: Fraction, count: int) -> tuple[list[Fraction], list[Fraction]]:
    """The laws of ``count`` independent answers of the worst pair."""
    first, second = worst_pair(epsilon, delta)
    laws: tuple[list[Fraction], list[Fraction]] = ([Fraction(1)], [Fraction(1)])
    for _ in range(count):
        laws = (
            [p * q for p in laws[0] for q in first],
            [p * q for p in laws[1] for q in second],
        )
    return laws


def distance(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """The total variation distance."""
    return sum((max(p - q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))


def majority(epsilon: Fraction, count: int) -> Fraction:
    """How often the majority of ``count`` answers of randomized response is right; a tie is a coin."""
    with localcontext(DIGITS):
        p = _decimal(e_to(epsilon) / (1 + e_to(epsilon)))
        chances = [comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count // 2, count + 1)]
        tie = chances[0] / 2 if count % 2 == 0 else Decimal(0)
        return Fraction(sum(chances[1:], tie))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def laplace_mass(epsilon: Fraction, value: int) -> Fraction:
    """P(noise = value) for noise on integers with P(k) proportional to e^(-ε|k|)."""
    ratio = 1 / e_to(epsilon)
    return (1 - ratio) / (1 + ratio) * ratio ** abs(value)


def laplace_within(epsilon: Fraction, confidence: Fraction, answers: int = 1) -> int:
    """The least bound that holds for all of ``answers`` noises together with this confidence, by adding masses."""
    with localcontext(DIGITS):
        ratio = _decimal(1 / e_to(epsilon))
        mass = inside = _decimal(laplace_mass(epsilon, 0))
        bound, wanted = 0, _decimal(confidence) ** (Decimal(1) / answers)
        while inside < wanted:
            bound, mass = bound + 1, mass * ratio
            inside += 2 * mass
        return bound
