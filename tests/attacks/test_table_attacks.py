"""Linkage, homogeneity, background knowledge and intersection: on planted tables they learn exactly what is there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute

from discreet.attacks.attack import Knowledge
from discreet.attacks.board import Scene
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.defences.releases import KAnonymousTable, LDiverseTable, NamesRemoved, TCloseTable
from discreet.attacks.linkage.composition import composition, composition_chart
from discreet.attacks.methods.releases import (
    BackgroundKnowledge,
    Homogeneity,
    Intersection,
    Linkage,
    coarse_columns,
    combined,
    likeliest,
)
from discreet.attacks.people import Coded, People
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.binomial import Proportion
from discreet.noise.experiment import experiment
from tests.attacks.contract import AttackContract
from tests.attacks.crowd import crowd

NAMES_REMOVED = (NamesRemoved(),)


class TestLinkage(AttackContract):
    def attack(self):
        return Linkage()

    def defences(self):
        return [NamesRemoved(), RawStatistics(), KAnonymousTable(), TCloseTable()]


class TestHomogeneity(AttackContract):
    def attack(self):
        return Homogeneity()

    def defences(self):
        return [NamesRemoved(), RawStatistics(), KAnonymousTable(2), LDiverseTable()]


class TestNearHomogeneity(AttackContract):
    def attack(self):
        return Homogeneity(share=0.6)

    def defences(self):
        return [KAnonymousTable(2), RawStatistics()]


class TestBackgroundKnowledge(AttackContract):
    def attack(self):
        return BackgroundKnowledge()

    def defences(self):
        return [KAnonymousTable(2), RawStatistics(), LDiverseTable()]


class TestIntersection(AttackContract):
    def attack(self):
        return Intersection()

    def defences(self):
        return [KAnonymousTable(2), NamesRemoved(), RawStatistics()]


class TestThreeReleases(AttackContract):
    def attack(self):
        return Intersection(releases=3)

    def defences(self):
        return [KAnonymousTable(3), RawStatistics()]


def knowledge(people: People, targets, excluded=None) -> Knowledge:
    quasi = {name: people.columns[name] for name in people.quasi}
    nothing = np.zeros((len(targets), len(people.secret.values)), np.bool_)
    values = people.secret.values
    marked = people.marked
    return Knowledge(
        quasi, people.secret_name, values, marked, np.array(targets), nothing if excluded is None else excluded
    )


def guessed(attack, people: People, targets, defences=NAMES_REMOVED, excluded=None) -> list[str]:
    views = [defence.defend(people, people, experiment(0)) for defence in defences]
    found = attack.guess(views, knowledge(people, targets, excluded), experiment(0)).values
    return ["" if place < 0 else people.secret.values[place] for place in found]


BLOCK = People.of(
    pa.table(
        {
            "age": [30, 30, 30, 40, 40, 40, 40, 50],
            "sex": ["f", "f", "f", "f", "f", "m", "m", "m"],
            "ill": ["flu", "flu", "flu", "flu", "cold", "flu", "none", "none"],
        }
    ),
    ["age", "sex"],
    "ill",
)


@pytest.mark.parametrize("defence", [NamesRemoved(), RawStatistics()], ids=lambda one: one.name)
def test_linkage_claims_those_who_stand_alone_and_no_others(defence):
    assert guessed(Linkage(), BLOCK, range(8), [defence]) == ["", "", "", "", "", "", "", "none"]


def test_linkage_does_not_claim_where_somebody_else_on_the_list_could_be_the_row():
    people = BLOCK.take(np.array([0, 5, 7]))
    views = [NamesRemoved().defend(people, BLOCK, experiment(0))]
    found = Linkage().guess(views, knowledge(BLOCK, range(8)), experiment(0)).values
    assert found.tolist() == [-1] * 7 + [BLOCK.secret.values.index("none")]


@pytest.mark.parametrize("defence", [NamesRemoved(), RawStatistics()], ids=lambda one: one.name)
def test_linkage_claims_nothing_about_somebody_who_is_not_in_the_table(defence):
    view = defence.defend(BLOCK.take(np.arange(7)), BLOCK, experiment(0))
    assert Linkage().guess([view], knowledge(BLOCK, [7]), experiment(0)).values.tolist() == [-1]


@pytest.mark.parametrize("attack", [Homogeneity(), BackgroundKnowledge(), Intersection(1)], ids=lambda one: one.name)
def test_nothing_is_claimed_about_somebody_whom_no_class_fits(attack):
    view = NamesRemoved().defend(BLOCK.take(np.arange(7)), BLOCK, experiment(0))
    assert attack.guess([view], knowledge(BLOCK, [7]), experiment(0)).values.tolist() == [-1]


def test_linkage_asks_one_question_a_target_where_the_whole_answer_would_be_too_large():
    wide = crowd(300)
    zips = Coded(np.arange(300), tuple(f"{place:05}" for place in range(300)))
    columns = {**wide.columns, "zip": zips, "age": Coded(np.arange(300) % 90, tuple(map(str, range(90))))}
    people = People(wide.table, wide.quasi, wide.secret_name, columns, wide.numbers, wide.marked)
    view = RawStatistics().defend(people, people, experiment(0))
    found = Linkage().guess([view], knowledge(people, [3, 5, 8]), experiment(0)).values
    assert view.asked == 3
    assert found.tolist() == people.secret.codes[[3, 5, 8]].tolist()


def test_homogeneity_claims_what_a_class_shares():
    assert guessed(Homogeneity(), BLOCK, range(8)) == ["flu", "flu", "flu", "", "", "", "", "none"]


def test_homogeneity_needs_no_row_and_no_question_about_anybody():
    """One question by coarse columns, whose classes have five people."""
    people = People.of(
        pa.table({"sex": list("fm") * 20, "day": range(40), "ill": ["flu", "cold"] * 19 + ["flu", "flu"]}),
        ["sex", "day"],
        "ill",
    )
    view = RawStatistics().defend(people, people, experiment(0))
    found = Homogeneity().guess([view], knowledge(people, [0, 1]), experiment(0)).values
    assert view.asked == 1
    assert found.tolist() == [1, -1]
    (near,) = Homogeneity(0.9).guess([view], knowledge(people, [1]), experiment(0)).values
    assert people.secret.values[near] == "cold"


def test_background_knowledge_settles_a_class_of_two_secrets():
    flu, cold = (BLOCK.secret.values.index(name) for name in ("flu", "cold"))
    excluded = np.zeros((2, 3), np.bool_)
    excluded[0, flu] = excluded[1, cold] = True
    assert guessed(BackgroundKnowledge(), BLOCK, [3, 3], excluded=excluded) == ["cold", "flu"]
    assert guessed(BackgroundKnowledge(), BLOCK, [3]) == [""]


def test_background_knowledge_that_rules_out_the_whole_class_claims_nothing():
    assert guessed(BackgroundKnowledge(), BLOCK, [7], excluded=np.array([[False, False, True]])) == [""]


def test_intersection_finds_the_secret_that_both_classes_have():
    first, second = np.array([[2.0, 1, 0, 1]]), np.array([[0.0, 1, 3, 0]])
    scores = combined([first, second])
    assert np.isfinite(scores).tolist() == [[False, True, False, False]]
    assert likeliest(scores).tolist() == [1]
    assert np.exp(scores[0, 1]) == pytest.approx(1 / 4 * 1 / 4)


def test_classes_that_have_nothing_in_common_mean_that_the_target_is_not_in_both():
    assert likeliest(combined([np.array([[1.0, 0]]), np.array([[0.0, 1]])])).tolist() == [-1]


def test_a_release_without_the_target_changes_nothing():
    told, silent = np.array([[3.0, 1]]), np.array([[np.nan, np.nan]])
    np.testing.assert_array_equal(combined([told, silent]), combined([told]))
    assert likeliest(combined([silent, silent])).tolist() == [-1]
    assert likeliest(combined([np.zeros((1, 2))])).tolist() == [-1]


def test_every_further_table_pins_more_people():
    people = crowd(900, seed=2)
    found = composition(people, KAnonymousTable(3), releases=8)
    assert [one.releases for one in found] == list(range(1, 9))
    pinned = [one.pinned.hits for one in found]
    assert pinned == sorted(pinned)
    assert pinned[-1] > 5 * max(pinned[0], 1)
    assert found[-1].candidates < found[0].candidates
    assert found[-1].right.hits > found[0].right.hits
    assert found[0].pinned.trials == 300


def test_the_curves_of_several_defences_are_drawn_with_their_bounds():
    people = crowd(300)
    drawn = composition_chart({f"k = {k}": composition(people, KAnonymousTable(k), releases=3) for k in (2, 5)})
    assert [one.name for one in drawn.series] == ["k = 2", "k = 5"]
    for one in drawn.series:
        assert one.band is not None
        assert all(low <= y <= high for (_, y), (low, high) in zip(one.points, one.band, strict=True))


def test_the_first_table_pins_those_in_homogeneous_classes():
    people = crowd(900, seed=2)
    (one,) = composition(people, KAnonymousTable(2), releases=1)
    assert one.pinned.hits > 0
    assert one.candidates > 1


def test_whoever_is_pinned_to_the_secret_of_somebody_else_does_not_count():
    class HalfOfIt(NamesRemoved):
        """Publishes one of every two rows that look alike."""

        def release(self, people):
            return people.table.filter(compute.equal(people.table["ill"], "a"))

    people = People.of(pa.table({"age": list(range(60)) * 2, "ill": ["a"] * 60 + ["b"] * 60}), ["age"], "ill")
    (one,) = composition(people, HalfOfIt(), releases=1)
    assert one.candidates <= 1
    assert 0 < one.pinned.hits < 40 * one.candidates


def test_everybody_is_pinned_by_tables_with_names_removed_where_everybody_is_unique():
    people = People.of(pa.table({"id": range(90), "ill": ["a", "b", "c"] * 30}), ["id"], "ill")
    (one,) = composition(people, NamesRemoved(), releases=1)
    assert one.pinned == one.right == Proportion(30, 30)
    assert one.candidates == 1


def test_ruling_out_and_composing_get_past_a_diverse_table():
    """Homogeneity gains nothing there, by definition; the others do."""
    people = crowd(1200, seed=4)
    defence = LDiverseTable(2, k=3)
    assert Scene.of(Homogeneity(), people).run(defence).claims.trials == 0
    for attack in (BackgroundKnowledge(), Intersection()):
        assert Scene.of(attack, people).run(defence).beats


def test_coarse_columns_are_as_many_as_leave_people_among_five():
    people = crowd()
    quasi = {name: people.columns[name] for name in people.quasi}
    assert coarse_columns(quasi, 4) == ["sex", "zip"]
    assert coarse_columns({"age": quasi["age"]}, 4) == ["age"]


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: Homogeneity(0.5), InvalidValue, "share must be above one half"),
        (lambda: BackgroundKnowledge(2), InvalidValue, "confidence must be above one half"),
        (lambda: Intersection(0), InvalidValue, "at least 1"),
        (lambda: Intersection(True), InvalidType, "whole number"),
        (lambda: composition(crowd(), RawStatistics()), InvalidValue, "must publish a table"),
        (lambda: composition(crowd(), NamesRemoved(), releases=0), InvalidValue, "at least 1"),
        (lambda: composition(BLOCK.take(np.arange(2)), NamesRemoved()), InvalidValue, "at least 3 people"),
        (lambda: composition_chart({}), InvalidValue, "at least one curve"),
    ],
)
def test_what_has_no_meaning_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        make()
