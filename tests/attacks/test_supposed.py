"""What a question would count if somebody's secret were another: the ground of auditors and of limits on groups."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.queries import AnyOf, TableQuery, Value
from tests.attacks.test_question import PEOPLE, QUESTIONS

EVERY_QUESTION = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.sql("people")[:60])


@EVERY_QUESTION
def test_the_cell_with_each_secret_is_the_cell_if_everybody_had_it(question):
    cells, kind_of = question.supposed(PEOPLE)
    for secret in range(len(PEOPLE.secret.values)):
        np.testing.assert_array_equal(cells[:, kind_of[secret]], question.codes(PEOPLE.supposing(secret)))


@EVERY_QUESTION
def test_the_cell_with_the_true_secret_is_the_true_cell(question):
    cells, kind_of = question.supposed(PEOPLE)
    own = cells[np.arange(PEOPLE.size), kind_of[PEOPLE.secret.codes]]
    np.testing.assert_array_equal(own, question.codes(PEOPLE))


@EVERY_QUESTION
def test_a_cell_is_about_those_who_would_be_in_it_with_some_secret(question):
    each = [question.codes(PEOPLE.supposing(secret)) for secret in range(len(PEOPLE.secret.values))]
    about = [sum(np.any([codes == cell for codes in each], axis=0)) for cell in range(question.cells)]
    assert question.concerned(PEOPLE).tolist() == about


def test_secrets_that_are_not_told_apart_are_of_one_kind():
    bit = AnyOf.secret(PEOPLE)
    secret = Value.of(PEOPLE, PEOPLE.secret_name)
    kinds = [TableQuery(by).supposed(PEOPLE)[0].shape[1] for by in ((), (bit,), (secret,), (bit, secret))]
    assert kinds == [1, 2, len(PEOPLE.secret.values), len(PEOPLE.secret.values)]
