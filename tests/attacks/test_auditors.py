"""Auditors refuse what discloses and nothing else, by brute force over small tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from flint import fmpz_mat

from discreet.attacks.defences.query_auditing import CountAuditor, MaxAuditor


def determines(rows: list[np.ndarray], people: int, width: int) -> bool:
    """Whether a combination of rows is on one person only: without this person's columns the rank is smaller."""
    rank = fmpz_mat([row.tolist() for row in rows]).rank()
    columns = np.arange(people * width) // width
    without = [fmpz_mat([row[columns != person].tolist() for row in rows]).rank() for person in range(people)]
    return min(without) < rank


def allows(auditor: CountAuditor, counted: np.ndarray) -> bool:
    return auditor.allows(counted, np.arange(counted.shape[1]))


def some_question(people: int, secrets: int, chance: np.random.Generator) -> np.ndarray:
    members = chance.random(people) < chance.choice([0.3, 0.5, 0.8])
    return members[:, None] & (chance.random(secrets) < 0.5)


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.some(40)
def test_a_count_is_refused_if_and_only_if_with_it_something_about_one_person_follows(seed):
    chance = np.random.default_rng(seed)
    people, secrets = int(chance.integers(2, 8)), int(chance.integers(2, 5))
    auditor, told = CountAuditor(people, secrets), []
    for _ in range(12):
        counted = some_question(people, secrets, chance)
        row = (counted[:, 1:].astype(int) - counted[:, :1]).ravel()
        is_harmless = not row.any() or not determines([*told, row], people, secrets - 1)
        assert allows(auditor, counted) == is_harmless
        if is_harmless:
            told.append(row)


@pytest.mark.parametrize("seed", range(40))
def test_groups_of_secrets_say_the_same_as_secrets_one_by_one(seed):
    chance = np.random.default_rng(seed)
    people, secrets = int(chance.integers(2, 8)), int(chance.integers(2, 6))
    by_secret, by_group = CountAuditor(people, secrets), CountAuditor(people, secrets)
    for _ in range(12):
        group_of = chance.integers(0, 3, secrets)
        counted = chance.random((people, 3)) < chance.choice([0.2, 0.5, 0.8])
        assert by_group.allows(counted, group_of) == allows(by_secret, counted[:, group_of])


def test_questions_of_any_shape_are_audited():
    """Different secrets for different people in one count: the sum over a diagonal."""
    auditor = CountAuditor(3, 3)
    assert allows(auditor, np.eye(3, dtype=bool))
    first_two = np.eye(3, dtype=bool)
    first_two[2] = False
    assert not allows(auditor, first_two)


def test_two_secrets_that_add_up_to_a_third_are_seen():
    """In the group {0, 1}: how many have a, how many have b; then, of person 0 alone left out, a or b."""
    auditor = CountAuditor(3, 3)
    for secret in (1, 2):
        counted = np.zeros((3, 3), bool)
        counted[:2, secret] = True
        assert allows(auditor, counted)
    only_first = np.zeros((3, 3), bool)
    only_first[0, 1:] = True
    assert not allows(auditor, only_first)
    both = np.zeros((3, 3), bool)
    both[:2, 1:] = True
    assert allows(auditor, both)


def test_a_history_that_is_too_long_is_refused_but_what_follows_from_it_is_not():
    auditor = CountAuditor(50, 2, most_entries=40)
    chance = np.random.default_rng(0)
    questions = [np.stack([np.zeros(50, bool), chance.random(50) < 0.5], axis=1) for _ in range(30)]
    allowed = [allows(auditor, question) for question in questions]
    assert allowed[0]
    assert not allowed[-1]
    assert auditor.rows.size <= 40
    assert all(allows(auditor, question) for question, is_told in zip(questions, allowed, strict=True) if is_told)


def every_table(people: int, values: range) -> np.ndarray:
    return np.array(list(itertools.product(values, repeat=people)))


def discloses(tables: np.ndarray) -> bool:
    return bool((tables.min(axis=0) == tables.max(axis=0)).any())


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("is_simulatable", [False, True])
@pytest.mark.parametrize("lowest", [0, None])
@pytest.mark.some(40)
def test_a_greatest_value_is_refused_by_what_all_tables_say(seed, is_simulatable, lowest):
    """The tables that fit all answers: the naive auditor keeps two values for everybody, the other for any answer.

    Numbers without an end are stood for by two more below and one more above, of which the lowest is never an answer.
    """
    chance = np.random.default_rng(seed)
    people, values = int(chance.integers(2, 6)), int(chance.integers(2, 4))
    truth = chance.integers(values, size=people)
    tables = every_table(people, range(values) if lowest == 0 else range(-2, values + 1))
    auditor = MaxAuditor(people, values, is_simulatable, lowest)
    for _ in range(8):
        group = np.flatnonzero(chance.random(people) < 0.6)
        if not len(group):
            assert auditor.allows(group, -1)
            continue
        answers = tables[:, group].max(axis=1)
        looked_at = np.setdiff1d(answers, [-2]) if is_simulatable else [truth[group].max()]
        is_harmless = not any(discloses(tables[answers == answer]) for answer in looked_at)
        assert auditor.allows(group, int(truth[group].max())) == is_harmless
        if is_harmless:
            tables = tables[answers == truth[group].max()]


def test_an_auditor_who_does_not_look_refuses_every_first_question():
    """Everybody might have the lowest value, and then the answer would tell it of all."""
    assert not MaxAuditor(10, 4, is_simulatable=True).allows(np.arange(5), 3)
    assert MaxAuditor(10, 4, is_simulatable=False).allows(np.arange(5), 3)


def test_with_numbers_without_an_end_it_refuses_the_second():
    auditor = MaxAuditor(10, 4, is_simulatable=True, lowest=None)
    assert auditor.allows(np.arange(3), 3)
    assert not auditor.allows(np.arange(2), 3)
    assert auditor.allows(np.arange(3, 6), 0)
