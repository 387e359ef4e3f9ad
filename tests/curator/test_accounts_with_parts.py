"""One account with parts, by enumeration: no transcript tells more about a unit than the account counts.

Releases are randomized responses about the rows that they read, at odds of 2 to the power of their price, so that all
probabilities are fractions and nothing is rounded. What is asked next, of whom and at which price, depends on all
answers so far. Every transcript of every small world is looked at.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import pytest

from discreet.curator.ledger.units import total

PARTS = {"ward of patients": ("a", "b", "c"), "kind of visits": ("x", "y")}
Unit = dict[str, str]
"""Its key in each column that is constant per unit; a column is missing where it has no row in that table."""


class Release(NamedTuple):
    """A question: its price in doublings of odds, and whom it reads; None for everybody."""

    price: int
    only: tuple[str, frozenset[str]] | None

    def reads(self, unit: Unit) -> bool:
        return self.only is None or unit.get(self.only[0]) in self.only[1]

    def chance(self, answer: bool, unit: Unit | None) -> Fraction:
        """Of an answer to whether the unit is among the rows, where it is there or not."""
        odds = 2**self.price
        says_yes = Fraction(odds, odds + 1) if unit is not None and self.reads(unit) else Fraction(1, odds + 1)
        return says_yes if answer else 1 - says_yes


def asked_next(seed: int, answers: tuple[bool, ...]) -> Release:
    """What an analyst asks who has seen these answers."""
    chance = random.Random(f"{seed} {answers}")
    if chance.random() < 0.3:
        return Release(chance.randrange(1, 4), None)
    part = chance.choice(list(PARTS))
    keys = chance.sample(PARTS[part], chance.randrange(1, len(PARTS[part]) + 1))
    return Release(chance.randrange(1, 4), (part, frozenset(keys)))


def counted(seed: int, answers: tuple[bool, ...], places: int) -> int:
    """What the account says after these answers."""
    common, apart = 0, {part: dict.fromkeys(keys, 0) for part, keys in PARTS.items()}
    for step in range(len(answers)):
        release = asked_next(seed, answers[:step])
        if release.only is None:
            common += release.price
        for key in () if release.only is None else release.only[1]:
            apart[release.only[0]][key] += release.price  # type: ignore[index]
    return total(common, apart, places)


def probability(seed: int, answers: tuple[bool, ...], unit: Unit | None) -> Fraction:
    """Of a transcript, in the world with this unit, or without any."""
    found = Fraction(1)
    for step, answer in enumerate(answers):
        found *= asked_next(seed, answers[:step]).chance(answer, unit)
    return found


def units() -> Iterator[Unit]:
    """Everybody who can be: with a key in each column, or without rows in a table."""
    for keys in product(*((None, *keys) for keys in PARTS.values())):
        yield {part: key for part, key in zip(PARTS, keys, strict=True) if key is not None}


TRANSCRIPTS = [answers for length in range(6) for answers in product((False, True), repeat=length)]


@pytest.mark.parametrize("seed", range(8))
def test_a_unit_that_comes_or_goes_is_hidden_by_what_the_account_counts(seed: int) -> None:
    worst = Fraction(0)
    for answers in TRANSCRIPTS:
        without, bound = probability(seed, answers, None), 2 ** counted(seed, answers, places=1)
        for unit in units():
            ratio = probability(seed, answers, unit) / without
            assert 1 / Fraction(bound) <= ratio <= bound
            worst = max(worst, ratio / bound, 1 / ratio / bound)
    assert worst == 1  # somebody is charged exactly what she lost


def test_a_unit_that_is_replaced_is_hidden_by_the_two_largest_portions() -> None:
    people, one_is_too_little = list(units()), False
    for seed in range(8):
        for answers in TRANSCRIPTS:
            chances = [probability(seed, answers, unit) for unit in people]
            ratio = max(chances) / min(chances)
            assert ratio <= 2 ** counted(seed, answers, places=2)
            one_is_too_little |= ratio > 2 ** counted(seed, answers, places=1)
    assert one_is_too_little
