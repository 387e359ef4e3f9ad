"""Rebuild a small table from nearly true answers about all of its subsets.

Theorem (Dinur and Nissim). Let x be n bits, and let every subset S have an answer a(S) with |a(S) − x(S)| ≤ E, where
x(S) is the number of ones in S. Then every x' with |a(S) − x'(S)| ≤ E for all S differs from x in at most 4E bits.

Proof. Let S be the people with x = 1 and x' = 0. Then x(S) − x'(S) = |S|, and by the triangle inequality through a(S)
it is at most 2E. The same holds for the people with x = 0 and x' = 1. □

At E = n/401 at most 4n/401 bits differ, which is less than one in a hundred. The search decides person after person.
After i of them it keeps only choices that fit the 2^i answers about these, and by the theorem, read for the i people
alone, such choices differ from the truth in at most 4E bits: where E is small, few are left at any time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from discreet.attacks.methods.floats import Floats, finite_floats, floats
from discreet.errors import InvalidValue

__all__ = ["MOST_PEOPLE", "all_subset_sums", "consistent_people"]

MOST_PEOPLE = 20
"""Twenty people have a million subsets."""
_ROUNDING = 1e-9


def all_subset_sums(people: npt.ArrayLike) -> Floats:
    """The exact answer for every subset: subset S has the number Σ 2^i over its people i."""
    sums = np.zeros(1)
    for person in _counted(floats(people, "people")):
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
    return len(_counted(np.zeros(given.size.bit_length() - 1)))


def _counted(people: Floats) -> Floats:
    if people.ndim != 1 or not 1 <= people.size <= MOST_PEOPLE:
        rule = f"all subsets are for 1 to {MOST_PEOPLE} people"
        raise InvalidValue(rule, f"<shape {people.shape}>", "random subsets do for more")
    return people
