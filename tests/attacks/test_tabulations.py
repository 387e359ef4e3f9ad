"""Blocks from published statistics: found, proved unique, or told to be several, beside trying every block there is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement, product
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.methods import solvers as integer_program
from discreet.attacks.methods import tabulations
from discreet.attacks.methods.solvers import IntegerProgram
from discreet.attacks.methods.tabulations import Block, Tabulated, reconstruct_block
from discreet.errors import InvalidInput, InvalidValue, OutOfReach

CENSUS = {"age": range(116), "sex": "FM", "race": "BW", "married": "SM"}
PUBLISHED = [
    Tabulated({}, 7, median=30, mean=38),
    Tabulated({"sex": "F"}, 4, median=30, mean=33.5),
    Tabulated({"sex": "M"}, 3, median=30, mean=44),
    Tabulated({"race": "B"}, 4, median=51, mean=48.5),
    Tabulated({"race": "W"}, 3, median=24, mean=24),
    Tabulated({"married": "M"}, 4, median=51, mean=54),
    Tabulated({"sex": "F", "race": "B"}, 3, median=36, mean=36.7),
    Tabulated({"sex": "M", "race": "B"}, most=2),
    Tabulated({"sex": "F", "race": "W"}, most=2),
]
PEOPLE = ["18MWS", "24FWS", "30MWM", "36FBM", "66FBM", "84MBM", "8FBS"]


def spelled(block: Block) -> list[str]:
    return sorted("".join(map(str, record)) for record in block.certain)


def test_the_seven_people_of_the_textbook_block_are_found_and_nobody_else_fits():
    block = reconstruct_block(PUBLISHED, CENSUS, "age")
    assert block.is_unique
    assert spelled(block) == PEOPLE
    assert str(block) == "One block fits: every record is certain."


def test_coarser_means_leave_several_blocks():
    block = reconstruct_block([replace(one, decimals=0) for one in PUBLISHED], CENSUS, "age", most=2)
    assert len(set(block.solutions)) == 2
    assert not block.complete
    assert not block.is_unique
    assert str(block).startswith("At least 2 blocks fit; ")
    assert str(block).endswith("that were found.")


def test_a_statistic_that_was_swapped_contradicts_the_others():
    swapped = [*PUBLISHED, Tabulated({"sex": "M", "race": "B"}, 2)]
    with pytest.raises(InvalidValue, match="no people have all of them"):
        reconstruct_block(swapped, CENSUS, "age")


SMALL = {"age": range(4), "sex": "FM"}
GROUPS = [{}, {"sex": "F"}, {"sex": "M"}, {"age": 2}]


def published(people, group, shown) -> Tabulated:
    """The statistics of a group as an office would publish them."""
    ages = [age for age, sex in people if {"age": age, "sex": sex}.items() >= group.items()]
    if "most" in shown:
        return Tabulated(group, most=len(ages))
    if not ages:
        return Tabulated(group, 0)
    middle = median(ages) if "median" in shown else None
    average = round(mean(ages), 1) if "mean" in shown else None
    return Tabulated(group, len(ages), median=middle, mean=average)


def has(people, one: Tabulated) -> bool:
    ages = [age for age, sex in people if {"age": age, "sex": sex}.items() >= one.group.items()]
    return (
        (one.count is None or len(ages) == one.count)
        and (one.most is None or len(ages) <= one.most)
        and (one.median is None or median(ages) == one.median)
        and (one.mean is None or abs(sum(ages) / len(ages) - one.mean) <= 0.05 + 1e-12)
    )


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from(list(product(*SMALL.values()))), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(GROUPS), st.sets(st.sampled_from(["median", "mean", "most"]))), max_size=4),
)
def test_the_blocks_that_fit_are_those_that_trying_everybody_finds(people, asked):
    statistics = [published(people, {}, {"mean"}), *(published(people, group, shown) for group, shown in asked)]
    everybody = combinations_with_replacement(list(product(*SMALL.values())), len(people))
    expected = {tuple(sorted(block)) for block in everybody if all(has(block, one) for one in statistics)}
    found = reconstruct_block(statistics, SMALL, "age", most=12)
    blocks = {tuple(sorted(block)) for block in found.solutions}
    assert tuple(sorted(people)) in expected
    assert len(blocks) == len(found.solutions)
    assert blocks <= expected
    assert len(blocks) == min(len(expected), 12)
    assert found.complete == (len(expected) < 12)
    if found.complete:
        common = Counter(people)
        for block in expected:
            common &= Counter(block)
        assert Counter(found.certain) == common


def test_several_blocks_say_how_many_and_what_is_common():
    block = reconstruct_block([Tabulated({}, 2), Tabulated({"sex": "F"}, 1)], {"age": [1, 2], "sex": "FM"})
    assert block.complete
    assert str(block) == "4 blocks fit; 0 of 2 records are in all of them."


def test_counts_alone_need_nothing_measured():
    block = reconstruct_block([Tabulated({}, 1), Tabulated({"sex": "F"}, 1)], {"sex": "FM", "home": [True]})
    assert block.certain == (("F", True),)


@pytest.mark.parametrize(
    ("statistics", "domain", "measured", "said"),
    [
        ([Tabulated({"sex": "F"}, 2)], SMALL, "age", "number of people in the block must be known"),
        ([Tabulated({}, 2), Tabulated({"size": 1}, 2)], SMALL, "age", "a group must be of age, sex, got 'size'"),
        ([Tabulated({}, 2, mean=1)], SMALL, None, "medians and means need measured="),
        ([Tabulated({}, 2)], SMALL, "size", "measured must be one of age, sex"),
        ([Tabulated({}, 2, mean=1)], {"age": [0.5, 1.5]}, "age", "must have whole numbers"),
        ([Tabulated({}, 2)], {"age": []}, "age", "combinations of values must be"),
        ([Tabulated({}, 2)], {"age": range(1000), "id": range(1000)}, "age", "got 1000000; group values together"),
        ([Tabulated({}, 2, median=1.3)], SMALL, "age", "no people have all of them"),
        ([Tabulated({}, 3, median=1.5)], SMALL, "age", "no people have all of them"),
    ],
)
def test_bad_statistics_are_refused_in_a_sentence(statistics, domain, measured, said):
    with pytest.raises(ValueError, match=said):
        reconstruct_block(statistics, domain, measured)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"count": -1}, "count must be"),
        ({"count": 2.5}, "count must be an integer"),
        ({"most": -1}, "most must be"),
        ({"decimals": -1}, "decimals must be"),
        ({"mean": 3}, "come with the number of its people"),
        ({"median": 3}, "come with the number of its people"),
        ({"mean": 3, "count": 0}, "come with the number of its people"),
        ({"mean": float("nan"), "count": 2}, "mean must be"),
        ({"median": [3], "count": 2}, "median must be"),
    ],
)
def test_a_statistic_that_cannot_be_is_refused(options, said):
    with pytest.raises(InvalidInput, match=said):
        Tabulated({}, **options)


def test_certain_records_come_in_the_order_of_the_domain():
    block = reconstruct_block(
        [Tabulated({}, 2), Tabulated({"age": 8}, 1), Tabulated({"age": 84}, 1)], {"age": range(99)}
    )
    assert block.certain == ((8,), (84,))


def test_most_must_be_at_least_one():
    with pytest.raises(InvalidValue, match="most must be at least 1"):
        reconstruct_block([Tabulated({}, 1)], {"sex": "FM"}, most=0)


def test_a_block_that_the_solver_got_wrong_is_never_passed_on(monkeypatch):
    monkeypatch.setattr(tabulations.BlockProgram, "next_block", lambda self: ((3, "F"), (3, "F")))
    with pytest.raises(OutOfReach, match="exactly"):
        reconstruct_block([Tabulated({}, 2, mean=1)], SMALL, "age")


class TestIntegerProgram:
    def test_the_cheapest_whole_numbers(self):
        program = IntegerProgram()
        dear, cheap = program.variables(1, 10, cost=3), program.variables(1, 2, cost=1)
        program.between(4.5, 100, [*dear, *cheap])
        np.testing.assert_array_equal(program.solved(), [3, 2])

    def test_fractions_where_they_may_be(self):
        program = IntegerProgram()
        program.variables(1, 10, cost=1, whole=False)
        program.between(2.5, 100, [0])
        np.testing.assert_allclose(program.least_cost(), [2.5])

    def test_a_contradiction_has_no_solution(self):
        program = IntegerProgram()
        program.variables(1, 10)
        program.between(3, 4, [0], [7])
        assert program.solved() is None
        assert program.least_cost() is None

    def test_too_little_time_is_said(self, monkeypatch):
        monkeypatch.setattr(integer_program, "_MILP_OPTIMAL", -1)
        program = IntegerProgram()
        program.variables(1, 10)
        program.between(3, 4, [0])
        with pytest.raises(OutOfReach, match="within 60 seconds"):
            program.solved()
