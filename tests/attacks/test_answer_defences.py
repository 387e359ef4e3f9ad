"""Defences by answers do what they say, no more and no less."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from discreet.attacks.board import Scene
from discreet.attacks.defences.interactive import (
    BoundedNoise,
    InputPerturbation,
    LargeGroups,
    MinimumSize,
    NaiveLaplace,
    RawStatistics,
    StickyLaplace,
    Subsampling,
)
from discreet.attacks.defences.query_auditing import QueryAuditing
from discreet.attacks.methods.queries import Averaging, Differencing, DirectQuestion, Refusals
from discreet.attacks.people import People
from discreet.attacks.queries import AnyOf, Is, Listed, Person, TableQuery, Value
from discreet.errors import InvalidInput
from discreet.noise.experiment import experiment
from tests.attacks.contract import with_secrets_of
from tests.attacks.crowd import crowd

PEOPLE = crowd(400)
BIT = AnyOf.secret(PEOPLE)
AGES = TableQuery(by=(Value.of(PEOPLE, "age"), BIT))
HALVES = TableQuery(by=(Value.of(PEOPLE, "sex"), BIT))
DEFENCES = [
    RawStatistics(),
    MinimumSize(),
    LargeGroups(),
    QueryAuditing(),
    QueryAuditing(is_simulatable=True),
    Subsampling(),
    InputPerturbation(),
    BoundedNoise(),
    NaiveLaplace(),
    StickyLaplace(),
]


def seen(defence, people=PEOPLE, seed=0):
    return defence.defend(people, people, experiment(seed))


def asked(defence, question, seed=0):
    (counts,) = seen(defence, seed=seed).counts([question])
    return counts


@pytest.mark.parametrize("defence", DEFENCES, ids=lambda defence: defence.name)
class TestEvery:
    def test_it_has_a_name_and_says_what_it_does_in_a_sentence(self, defence):
        assert defence.name
        assert len(defence.name) < 40
        assert defence.says[0].isupper()
        assert defence.says.endswith(".")

    def test_it_answers_with_one_number_for_each_cell(self, defence):
        view = seen(defence)
        assert view.rows == 400
        assert [answer.shape for answer in view.counts([AGES, HALVES])] == [(AGES.cells,), (HALVES.cells,)]
        assert view.greatest([Listed((1, 2, 3)), Listed(tuple(range(200)))]).shape == (2,)

    def test_the_same_seed_gives_the_same_answers(self, defence):
        np.testing.assert_array_equal(asked(defence, AGES, seed=3), asked(defence, AGES, seed=3))

    @pytest.mark.parametrize("size", [2, 3, 7])
    def test_it_stands_a_tiny_table(self, defence, size):
        table = pa.table({"age": range(size), "ill": ["yes", "no"] * (size // 2) + ["no"] * (size % 2)})
        people = People.of(table, ["age"], "ill")
        for attack in (DirectQuestion(), Differencing(), Refusals(), Averaging(times=3)):
            score = Scene.of(attack, people).run(defence)
            left_out = 0 if score.control is None else score.control.trials
            assert score.right.trials + left_out == size


def test_names_are_different():
    assert len({defence.name for defence in DEFENCES}) == len(DEFENCES)


def test_small_cells_are_not_shown_and_others_are_exact():
    exact, shown = AGES.counts(PEOPLE), asked(MinimumSize(5), AGES)
    assert (exact < 5).any()
    np.testing.assert_array_equal(shown, np.where(exact < 5, np.nan, exact))


def test_a_small_group_has_no_greatest_secret_to_tell():
    groups = [Listed(tuple(range(9))), Listed(tuple(range(10))), Listed(tuple(range(391)))]
    assert np.isnan(seen(MinimumSize(10)).greatest(groups)).tolist() == [True, False, False]
    assert np.isnan(seen(LargeGroups(10)).greatest(groups)).tolist() == [True, False, True]


def test_a_large_group_is_counted_by_whom_it_is_about_and_not_by_whom_it_counts():
    """Ten people, one of whom has the secret, are enough; nine people who all have it are not."""
    with_it, without_it = np.flatnonzero(PEOPLE.bits), np.flatnonzero(~PEOPLE.bits)
    ten = Listed((int(with_it[0]), *map(int, without_it[:9])))
    nine = Listed(tuple(map(int, with_it[:9])))
    assert asked(LargeGroups(10), TableQuery((BIT,), ((ten, 1),))).tolist() == [9, 1]
    assert np.isnan(asked(LargeGroups(10), TableQuery((BIT,), ((nine, 1),)))).all()


def test_a_group_that_leaves_few_people_out_is_refused():
    allowed = TableQuery((BIT,), ((Listed(tuple(range(390))), 1),))
    refused = TableQuery((BIT,), ((Listed(tuple(range(391))), 1),))
    assert not np.isnan(asked(LargeGroups(10), allowed)).any()
    assert np.isnan(asked(LargeGroups(10), refused)).all()
    assert np.isnan(asked(LargeGroups(10), TableQuery((BIT,), ((Is(7), 0),)))).all()


@pytest.mark.parametrize("defence", [LargeGroups(), QueryAuditing()], ids=lambda defence: defence.name)
def test_refused_counts_do_not_depend_on_secrets(defence):
    others = with_secrets_of(PEOPLE, np.random.default_rng(1).permutation(400))
    questions = [AGES, HALVES, TableQuery((BIT,), ((Is(3), 0),)), TableQuery((BIT,)), TableQuery((Person(400), BIT))]
    first = seen(defence).counts(questions)
    second = seen(defence, others).counts(questions)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
    assert any(np.isnan(answer).any() for answer in first)


def test_an_auditor_tells_what_is_no_secret_and_what_follows_from_what_was_told():
    view = seen(QueryAuditing())
    (everyone,) = view.counts([TableQuery((Person(400),))])
    assert (everyone == 1).all()
    (by_sex, total) = view.counts([HALVES, TableQuery((BIT,))])
    np.testing.assert_array_equal(total, by_sex.reshape(2, 2).sum(axis=0))
    (alone, rest) = view.counts([TableQuery((BIT,), ((Is(5), 1),)), TableQuery((BIT,), ((Is(5), 0),))])
    assert np.isnan([*alone, *rest]).all()
    assert (view.asked, view.refused) == (5, 2)


def test_a_sample_answers_for_everybody_and_is_drawn_once():
    view = seen(Subsampling(0.25))
    everyone, again = view.counts([TableQuery((Person(400),))] * 2)
    np.testing.assert_array_equal(everyone, again)
    assert sorted(set(everyone.tolist())) == [0, 4]
    assert everyone.sum() == 400
    other = asked(Subsampling(0.25), TableQuery((Person(400),)), seed=1)
    assert (everyone != other).any()


def test_a_sample_of_everybody_is_everybody():
    np.testing.assert_array_equal(asked(Subsampling(1), AGES), AGES.counts(PEOPLE))


def test_secrets_are_replaced_as_often_as_said_and_once():
    """A secret changes with probability 0.4 (1 − 1/4) = 0.3. False alarms: 2e-7, by the binomial law."""
    people = crowd(20_000)
    secret = TableQuery((Person(20_000), Value.of(people, "illness")))
    view = seen(InputPerturbation(0.4), people)
    first, second = view.counts([secret, secret])
    np.testing.assert_array_equal(first, second)
    changed = int((first.reshape(-1, 4).argmax(axis=1) != people.secret.codes).sum())
    assert binom.ppf(1e-7, 20_000, 0.3) <= changed <= binom.isf(1e-7, 20_000, 0.3)


def test_bounded_noise_is_fresh_and_never_above_its_bound():
    view = seen(BoundedNoise(3))
    answers = np.array(view.counts([AGES] * 50))
    errors = answers - AGES.counts(PEOPLE)
    assert np.abs(errors).max() <= 3
    assert np.abs(errors).max() > 2.9
    assert len(np.unique(errors)) == errors.size


def test_naive_noise_is_fresh_and_sticky_noise_is_fresh_for_new_words_only():
    same, reworded = [AGES] * 2, [AGES, TableQuery(AGES.by, wording=1)]
    for defence, questions, is_fresh in (
        (NaiveLaplace(), same, True),
        (StickyLaplace(), same, False),
        (StickyLaplace(), reworded, True),
    ):
        first, second = seen(defence).counts(questions)
        assert (first != second).all() == is_fresh
        assert (first == second).all() != is_fresh


def test_sticky_noise_sticks_to_greatest_secrets_too():
    group, other = Listed((1, 2)), Listed((2, 1))
    first, second, reworded = seen(StickyLaplace()).greatest([group, group, other])
    assert first == second != reworded
    first, second = seen(NaiveLaplace()).greatest([group, group])
    assert first != second


def test_naive_noise_has_the_scale_it_says():
    """The share of noise beyond b ln 2 is 1/2. False alarms: 2e-7, by the binomial law."""
    noise = asked(NaiveLaplace(0.25), TableQuery((Person(100_000),)))[400:]
    beyond = int((np.abs(noise) > 4 * np.log(2)).sum())
    assert binom.ppf(1e-7, len(noise), 0.5) <= beyond <= binom.isf(1e-7, len(noise), 0.5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: MinimumSize(0),
        lambda: MinimumSize(2.5),
        lambda: LargeGroups(0),
        lambda: Subsampling(0),
        lambda: Subsampling(1.5),
        lambda: InputPerturbation(1.1),
        lambda: BoundedNoise(0),
        lambda: BoundedNoise(float("nan")),
        lambda: NaiveLaplace(0),
        lambda: StickyLaplace(-1),
    ],
)
def test_parameters_without_a_meaning_are_refused(build):
    with pytest.raises(InvalidInput):
        build()
