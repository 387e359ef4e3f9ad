"""The curator among the defences: real answers, a real budget, nothing left behind."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.board import Scene
from discreet.attacks.defences.curator import CuratorDefence, CuratorView
from discreet.attacks.methods.queries import DirectQuestion
from discreet.attacks.people import People
from discreet.attacks.queries import AnyOf, Is, Listed, Person, Side, TableQuery, Value
from discreet.attacks.score import DefenceVerdict, verdict_of
from discreet.errors import InvalidValue, PolicyError
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Pure
from tests.attacks.crowd import crowd

PEOPLE = crowd(120)
BY_ILLNESS = TableQuery(by=(Value.of(PEOPLE, "illness"),))
SECRET = AnyOf.secret(PEOPLE)


@pytest.fixture
def view(request):
    """A view of the crowd for a budget."""
    found = CuratorView(PEOPLE, PEOPLE.size, Fraction(request.param))
    yield found
    found.close()


def questions() -> list[TableQuery]:
    """Every kind of part, as cells and as conditions."""
    return [
        TableQuery(),
        BY_ILLNESS,
        TableQuery(by=(Value.of(PEOPLE, "age"), Value.of(PEOPLE, "sex"), SECRET)),
        TableQuery(by=(Side(123_456, 789), SECRET)),
        TableQuery(by=(Person(PEOPLE.size),), where=((SECRET, 1),)),
        TableQuery(by=(Is(3), Listed((4, 5, 6)))),
        TableQuery(where=((Is(3), 0), (Listed((4, 5, 6)), 1), (SECRET, 0))),
        TableQuery(where=((Value.of(PEOPLE, "sex"), 1), (Side(99, 5), 0)), wording=3),
    ]


@pytest.mark.parametrize("view", [6000], indirect=True)
def test_next_to_no_noise_gives_the_exact_counts_in_the_order_of_the_cells(view):
    """False alarms: each of 8 questions gets ε = 750 at sensitivity 2 at most, so a cell is off with probability

    below 2 exp(-375), and there are fewer than 1,000 cells.
    """
    for question, found in zip(questions(), view.counts(questions()), strict=True):
        np.testing.assert_array_equal(found, question.counts(PEOPLE), err_msg=question.sql("people"))
    assert (view.asked, view.refused) == (8, 0)


@pytest.mark.parametrize("view", [3000], indirect=True)
def test_next_to_no_noise_gives_the_greatest_secrets(view):
    """False alarms: every maximum is shared by six people or more, and the target is a rank or two below it. So other

    values are four ranks off, and each is chosen at ε = 1000 and sensitivity 1 with probability below exp(-1000).
    """
    groups = [Listed(tuple(range(60))), Listed(tuple(range(40, 120))), SECRET]
    inside = [PEOPLE.secret.codes[group.codes(PEOPLE) == 1] for group in groups]
    truth = [codes.max() for codes in inside]
    assert min((codes == most).sum() for codes, most in zip(inside, truth, strict=True)) >= 6
    np.testing.assert_array_equal(view.greatest(groups), truth)


@pytest.mark.parametrize("view", [1], indirect=True)
def test_there_is_noise(view):
    """False alarms: noise of scale 2 is 0 with probability below 1/4, and that for all 120 people below 1e-72."""
    question = TableQuery(by=(Person(PEOPLE.size),))
    (found,) = view.counts([question])
    assert (found != question.counts(PEOPLE)).any()


@pytest.mark.parametrize("view", [1], indirect=True)
def test_the_same_question_is_free_and_has_the_same_answer_and_other_words_are_refused_when_all_is_spent(view):
    first, again = (view.counts([BY_ILLNESS])[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    (reworded,) = view.counts([TableQuery(by=BY_ILLNESS.by, wording=1)])
    assert np.isnan(reworded).all()
    assert np.isnan(view.greatest([Is(1)])).all()
    assert (view.asked, view.refused) == (4, 2)


@pytest.mark.parametrize("view", [1], indirect=True)
def test_a_batch_may_spend_all_and_its_equal_questions_have_one_answer(view):
    one, other, different = view.counts([BY_ILLNESS, BY_ILLNESS, TableQuery()])
    np.testing.assert_array_equal(one, other)
    assert np.isfinite(different).all()
    assert view.counts([]) == []
    assert np.isnan(view.counts([TableQuery(where=((SECRET, 1),))])[0]).all()


@pytest.mark.parametrize("view", [1], indirect=True)
def test_a_question_that_is_not_understood_is_refused_and_costs_nothing(view):
    class Nonsense(Is):
        def sql(self):
            return '"nobody"'

    assert np.isnan(view.counts([TableQuery(by=(Nonsense(1),))])[0]).all()
    assert np.isfinite(view.counts([BY_ILLNESS])[0]).all()


def test_the_folder_is_gone_afterwards():
    view = CuratorView(PEOPLE, PEOPLE.size, Fraction(1))
    folder = Path(view._folder.name)
    assert folder.exists()
    view.close()
    assert not folder.exists()


def test_the_folder_is_gone_when_the_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    people = People.of(pa.table({"A": [1, 2, 3], "a": [1, 2, 3], "ill": ["a", "b", "b"]}), ["A", "a"], "ill")
    with pytest.raises(PolicyError, match="different names"):
        CuratorView(people, people.size, Fraction(1))
    assert not list(tmp_path.iterdir())


# The promise, attacked.


def coins(size: int) -> People:
    """People whose secret is a fair coin that has nothing to do with anything."""
    chance = experiment(5)
    table = {"age": chance.integers(20, 80, size), "ill": chance.integers(0, 2, size).astype(bool)}
    return People.of(pa.table(table), ["age"], "ill")


class Overspending(CuratorDefence):
    """Promises ε and spends ten times as much."""

    def defend(self, people, everybody, chance):
        return CuratorView(people, everybody.size, 10 * self.promise.epsilon)


def test_the_promise_holds_and_a_broken_one_is_seen():
    """False alarms: 1e-6 for each budget by `exceeds`, because the coins are independent."""
    attack = DirectQuestion()
    scene = Scene.of(attack, coins(400))
    for epsilon in ("0.1", 1, 3):
        defence = CuratorDefence(epsilon)
        assert verdict_of(scene.run(defence), attack, defence) is not DefenceVerdict.BROKEN
    broken = Overspending(1)
    assert verdict_of(scene.run(broken), attack, broken) is DefenceVerdict.BROKEN


def test_it_says_what_it_promises():
    defence = CuratorDefence("0.1")
    assert defence.name == "Discreet, ε = 0.1"
    assert defence.promise == Pure("0.1")


@pytest.mark.parametrize("name", ["person", "Rank of the secret"])
def test_columns_that_are_called_as_the_curators_own_are_refused_in_words_of_their_own(name):
    people = People.of(pa.table({name: [1, 2, 3], "ill": ["a", "b", "a"]}), [name], "ill")
    with pytest.raises(InvalidValue, match="a column must not be called as one of the curator's own"):
        CuratorDefence(1).defend(people, people, experiment(0))
