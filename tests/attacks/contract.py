"""What every attack must pass. To add one: subclass `AttackContract` and fill in ``attack``.

An attack is run against exact answers, against a view that refuses everything, against views that know nothing of the
truth, and against the same answers behind a wall through which only the answers come.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from discreet.attacks.attack import Attack, Counts, Defence, Goal, Guesses, View
from discreet.attacks.board import Inapplicable, Scene
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.people import Coded, People
from discreet.attacks.queries import Part, TableQuery
from discreet.attacks.score import Score
from discreet.noise.experiment import Chance
from tests.attacks.crowd import crowd

FALSE_ALARM = 1e-7
"""Chance that a correct attack is said to know more than it was told, in one test."""


class AnsweringView(View):
    """Answers by two functions, and holds nothing else."""

    def __init__(
        self,
        rows: int,
        counts: Callable[[Sequence[TableQuery]], list[Counts]],
        greatest: Callable[[Sequence[Part]], Counts],
    ) -> None:
        self.rows = rows
        self._counts = counts  # type: ignore[method-assign]
        self._greatest = greatest  # type: ignore[method-assign]

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:  # type: ignore[no-redef]
        raise NotImplementedError

    def _greatest(self, groups: Sequence[Part]) -> Counts:  # type: ignore[no-redef]
        raise NotImplementedError


def constant_view(people: People, count: float, greatest: float) -> View:
    """The same number for every cell of every question."""
    return AnsweringView(
        people.size,
        lambda questions: [np.full(question.cells, count) for question in questions],
        lambda groups: np.full(len(groups), greatest),
    )


class Refusing(Defence):
    name, says = "refuses", "Nothing is answered."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        return constant_view(people, np.nan, np.nan)


@dataclass(frozen=True)
class Constant(Defence):
    count: float
    name, says = "constant", "Every count is the same."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        return constant_view(people, self.count, 0)


@dataclass(frozen=True)
class Walled(Defence):
    """Another defence, of whose view only the answers and the published table can be reached."""

    inner: Defence
    name, says = "walled", "Answers come through a wall."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        view = self.inner.defend(people, everybody, chance)
        walled = AnsweringView(view.rows, view.counts, view.greatest)
        walled.published = view.published
        return walled


@dataclass(frozen=True)
class Unrelated(Defence):
    """Another defence, of people whose secrets, and whose presence, say nothing about the true ones."""

    inner: Defence
    goal: Goal
    name, says = "unrelated", "Another table is shown."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        shuffled = with_secrets_of(everybody, chance.permutation(everybody.size))
        is_tracing = self.goal is Goal.MEMBERSHIP
        rows = np.sort(chance.permutation(everybody.size)[: people.size]) if is_tracing else people.numbers
        return self.inner.defend(shuffled.take(rows), shuffled, chance)


def with_secrets_of(people: People, rows: np.ndarray) -> People:
    """The same people, everyone with the secret of somebody else."""
    name = people.secret_name
    moved = people.table[name].take(pa.array(rows))
    table = people.table.set_column(people.table.schema.get_field_index(name), name, moved)
    columns = {**people.columns, name: Coded(people.secret.codes[rows], people.secret.values)}
    return replace(people, table=table, columns=columns)


@dataclass(frozen=True)
class Listening(Attack):
    """Another attack, whose guesses are kept."""

    inner: Attack
    heard: list[Guesses]

    def __post_init__(self) -> None:
        for name in Attack.__annotations__:
            object.__setattr__(self, name, getattr(self.inner, name))

    def guess(self, views, known, chance) -> Guesses:
        self.heard.append(self.inner.guess(views, known, chance))
        return self.heard[-1]

    def does_not_apply(self, view: View) -> str:
        return self.inner.does_not_apply(view)


class AttackContract(ABC):
    """Subclass it as ``TestYours(AttackContract)``."""

    @abstractmethod
    def attack(self) -> Attack:
        """The attack."""

    def people(self) -> People:
        """Whom it is tried on."""
        return crowd()

    def defences(self) -> Sequence[Defence]:
        """Defences that it can be run against; it must break the first."""
        return [RawStatistics()]

    def run(self, defence: Defence, seed: int = 0) -> tuple[Score | Inapplicable, list[Guesses]]:
        """The score, and the guesses where the attack applied."""
        heard: list[Guesses] = []
        score = Scene.of(Listening(self.attack(), heard), self.people(), seed).run(defence)
        return score, heard

    def test_it_says_what_it_needs_and_what_it_claims_in_sentences(self):
        attack = self.attack()
        assert attack.name
        for sentence in (attack.needs, attack.claims):
            assert sentence[0].isupper()
            assert sentence.endswith(".")

    def test_it_beats_guessing_where_it_should(self):
        score, _ = self.run(self.defences()[0])
        assert isinstance(score, Score), score
        assert score.beats

    def test_every_target_gets_one_guess_of_the_right_kind(self):
        for defence in self.defences():
            heard: list[Guesses] = []
            scene = Scene.of(Listening(self.attack(), heard), self.people())
            scene.run(defence)
            (guesses,) = heard
            kinds = len(scene.everybody.secret.values) if scene.attack.goal is Goal.VALUE else 2
            assert guesses.values.shape == (len(scene.targets) + len(scene.controls),)
            assert guesses.values.dtype == np.int64
            assert set(guesses.values.tolist()) <= set(range(-1, kinds))
            assert guesses.scores is None or guesses.scores.shape == guesses.values.shape

    def test_it_claims_nothing_where_every_answer_is_refused(self):
        score, heard = self.run(Refusing())
        for guesses in heard:
            assert (guesses.values == -1).all()
        if isinstance(score, Inapplicable):
            assert score.reason.endswith(".")
        else:
            assert score.right == score.baseline
            assert score.refused == score.asked

    @pytest.mark.parametrize("count", [0.0, 1.0, 7.5])
    def test_answers_that_are_all_the_same_tell_it_nothing(self, count):
        """False alarms: `FALSE_ALARM` for each count, by `assert_tells_nothing`."""
        score, _ = self.run(Constant(count))
        assert_tells_nothing(score)

    def test_a_table_that_has_nothing_to_do_with_the_people_tells_it_nothing(self):
        """False alarms: `FALSE_ALARM` for each defence, by `assert_tells_nothing`."""
        for defence in self.defences():
            score, _ = self.run(Unrelated(defence, self.attack().goal))
            assert_tells_nothing(score)

    def test_it_looks_at_answers_and_not_behind_them(self):
        for defence in self.defences():
            _, (seen,) = self.run(defence)
            _, (walled,) = self.run(Walled(defence))
            np.testing.assert_array_equal(seen.values, walled.values)

    def test_the_same_seed_gives_the_same_guesses(self):
        for defence in self.defences():
            _, (first,) = self.run(defence, seed=5)
            _, (second,) = self.run(defence, seed=5)
            np.testing.assert_array_equal(first.values, second.values)


def assert_tells_nothing(score: Score | Inapplicable) -> None:
    """Where a guess has nothing to do with the truth, it is no better than the baseline, which is the likelier value.

    So of the targets on which exactly one of the two is right, the attack wins at most every second one on average, and
    a fair coin wins as many with probability `FALSE_ALARM` at most.
    """
    if isinstance(score, Score):
        assert binom.sf(score.gained - 1, score.gained + score.lost, 0.5) > FALSE_ALARM, score
