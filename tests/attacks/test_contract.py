"""The contract of attacks catches attacks that cheat."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.attack import Guesses
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.queries import DirectQuestion
from tests.attacks.contract import AttackContract


class Peeking(DirectQuestion):
    """Reads the table behind the answers."""

    def guess(self, views, known, chance):
        if not hasattr(views[0], "people"):
            return super().guess(views, known, chance)
        bits = dict(zip(views[0].people.numbers, views[0].people.bits, strict=True))
        return Guesses(np.array([1 - bits.get(number, 0) for number in known.targets], np.int64))


class Bold(DirectQuestion):
    """Claims something where it saw nothing."""

    def guess(self, views, known, chance):
        return Guesses(np.maximum(super().guess(views, known, chance).values, 0))


class Moody(DirectQuestion):
    """Draws chance of its own."""

    def guess(self, views, known, chance):
        found = super().guess(views, known, chance).values
        return Guesses(np.where(np.random.default_rng().random(len(found)) < 0.2, -1, found))


class Short(DirectQuestion):
    """Guesses some targets only."""

    def guess(self, views, known, chance):
        return Guesses(super().guess(views, known, chance).values[:5])


class Foreseeing(DirectQuestion):
    """Was told the truth beforehand."""

    def guess(self, views, known, chance):
        return Guesses(TRUE_BITS[known.targets])


class Contract(AttackContract):
    def __init__(self, attack):
        self._attack = attack

    def attack(self):
        return self._attack


TRUE_BITS = Contract(DirectQuestion()).people().bits.astype(np.int64)


@pytest.mark.parametrize(
    ("attack", "test"),
    [
        (Peeking(), "test_it_looks_at_answers_and_not_behind_them"),
        (Bold(), "test_it_claims_nothing_where_every_answer_is_refused"),
        (Moody(), "test_the_same_seed_gives_the_same_guesses"),
        (Short(), "test_every_target_gets_one_guess_of_the_right_kind"),
        (Foreseeing(), "test_a_table_that_has_nothing_to_do_with_the_people_tells_it_nothing"),
    ],
)
def test_a_planted_cheat_is_caught(attack, test):
    getattr(Contract(DirectQuestion()), test)()
    with pytest.raises((AssertionError, ValueError, IndexError)):
        getattr(Contract(attack), test)()


def test_foresight_is_what_the_scene_numbers():
    """The planted foresight is right, so that the test above fails for the reason it should."""
    score, _ = Contract(Foreseeing()).run(RawStatistics())
    assert score.right.rate == 1
