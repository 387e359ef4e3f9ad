"""What greatest values tell, and what refusals tell: brute force over small tables, and the example of the texts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.attacks.algebra.maxima import Maxima, maxima
from discreet.errors import InvalidValue

STUDENTS = {  # first year, gender, value
    "Ben": ("Y", "M", 1),
    "Bha": ("N", "M", 1),
    "Ios": ("Y", "M", 1),
    "Jan": ("N", "M", 2),
    "Jian": ("Y", "M", 2),
    "Jie": ("N", "M", 1),
    "Joe": ("N", "M", 2),
    "Moh": ("N", "M", 1),
    "Son": ("N", "F", 1),
    "Xi": ("Y", "F", 3),
    "Yao": ("N", "M", 2),
}
MEN = [name for name, (_, gender, _) in STUDENTS.items() if gender == "M"]
FIRST_YEAR = [name for name, (year, _, _) in STUDENTS.items() if year == "Y"]


def greatest(group):
    return max(STUDENTS[name][2] for name in group)


def test_the_greatest_of_the_men_and_of_the_first_year_tell_of_xi():
    assert (greatest(MEN), greatest(FIRST_YEAR)) == (2, 3)
    told = maxima([MEN, FIRST_YEAR], [2, 3], values=[1, 2, 3])
    assert told["Xi"] == (3,)
    assert all(told[man] == (1, 2) for man in MEN)


def test_a_refusal_tells_the_same():
    told = maxima([MEN, FIRST_YEAR], [2, None], values=[1, 2, 3])
    assert told["Xi"] == (3,)
    assert maxima([MEN, FIRST_YEAR], [2, None], values=range(1, 6))["Xi"] == (3, 4, 5)


def test_an_answer_that_is_not_refused_tells_that_xi_is_like_the_men():
    assert maxima([MEN, FIRST_YEAR], [2, 2], values=[1, 2, 3])["Xi"] == (1, 2)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.some(20)
def test_values_are_certain_if_and_only_if_all_tables_that_fit_agree(seed):
    chance = np.random.default_rng(seed)
    people, values = int(chance.integers(1, 6)), int(chance.integers(2, 4))
    tables = np.array(list(itertools.product(range(values), repeat=people)))
    told = Maxima(people)
    for _ in range(4):
        group = np.flatnonzero(chance.random(people) < 0.6)
        if not len(group):
            continue
        answer = int(chance.integers(values))
        told, tables = told.with_answer(group, answer), tables[tables[:, group].max(axis=1) == answer]
        assert told.is_possible == bool(len(tables))
        if not len(tables):
            return
        np.testing.assert_array_equal(told.certain(lowest=0), tables.min(axis=0) == tables.max(axis=0))
        np.testing.assert_array_equal(np.minimum(told.bounds, values - 1), tables.max(axis=0))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.some(20)
def test_what_is_left_is_what_would_have_been_answered_and_refused_in_the_same_way(seed):
    """By running the auditor, who takes no value for the lowest, on every table there is."""
    chance = np.random.default_rng(seed)
    people, values = int(chance.integers(2, 6)), int(chance.integers(2, 4))
    groups = [np.flatnonzero(chance.random(people) < 0.6).tolist() for _ in range(4)]
    groups = [group for group in groups if group]
    tables = list(itertools.product(range(values), repeat=people))
    heard = [audited(groups, table, people) for table in tables]
    happened = int(chance.integers(len(tables)))
    same = np.array([table for table, answers in zip(tables, heard, strict=True) if answers == heard[happened]])
    left = maxima(groups, heard[happened], values=range(values))
    for person, found in left.items():
        assert found == tuple(np.unique(same[:, person]).tolist())


def audited(groups, table, people):
    told, answers = Maxima(people), []
    for group in groups:
        after = told.with_answer(np.array(group), max(table[person] for person in group))
        is_refused = after.certain().any()
        answers.append(None if is_refused else after.answers[-1])
        told = told if is_refused else after
    return answers


@pytest.mark.parametrize(
    ("groups", "answers", "words"),
    [
        ([["a", "b"], ["a", "b", "c"]], [2, 1], "contradict"),
        ([["a", "b"]], [None], "contradict"),
        ([["a", "b"]], [1, 2], "every one of the 1 groups needs an answer"),
        ([[]], [1], "somebody in it"),
        ([["a", "b"]], [7], "must be one of the values"),
        ([["a", "b"]], [float("nan")], "must be one of the values"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(groups, answers, words):
    with pytest.raises(InvalidValue, match=words):
        maxima(groups, answers, values=[1, 2, 3])


def test_too_many_stories_are_refused():
    pairs = [[f"a{place}", f"b{place}"] for place in range(4)]
    questions = [group for pair in pairs for group in (pair, pair[:1])]
    with pytest.raises(InvalidValue, match="stories"):
        maxima(questions, [9, None] * 4, values=range(10))
