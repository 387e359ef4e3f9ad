"""Keys that nobody listed: shown when enough people hold them, and one person moves everything by what was declared."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet.errors import QueryRefused
from discreet.exact.ball import working_precision
from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.answer.intervals import noisy_table
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run import contribution_bounds as statement
from discreet.query.run.contribution_bounds import count_apart
from discreet.query.run.measure import Groups, exact_sums, measure
from tests.query.hostile import PEOPLE, Person, world_of
from tests.query.world import CATALOG, World, nothing_measured
from tests.thoroughness import many

DELTA = Fraction(1, 10**6)
QUERIES = [
    "SELECT note, COUNT(*) FROM visits GROUP BY note",
    "SELECT note, ward, COUNT(*), SUM(cost), AVG(age) FROM visits GROUP BY 1, 2",
    "SELECT note, COUNT(DISTINCT patient_id), COUNT(DISTINCT age), VARIANCE(cost) FROM swaps GROUP BY note",
    "SELECT big, COUNT(*) FILTER (WHERE flag), MEDIAN(age), MODE(ward) FROM visits GROUP BY big",
    "SELECT score, COUNT(*) FROM visits WHERE age > 3 GROUP BY score",
    "SELECT seen, COUNT(*) FROM swaps GROUP BY seen",
    "SELECT note, COUNT(*) FROM (SELECT patient_id, MAX(note) AS note FROM visits GROUP BY patient_id) t GROUP BY note",
    "SELECT seen + INTERVAL 100 YEAR, CAST(seen AS DATE) - 40000, COUNT(*) FROM visits GROUP BY 1, 2",
]
ROW = ("a", 50, 10.0, 1.0, 1, None, None, True, "tea", "x")


def _plan(query: str, groups: int = 2, **bounds: int) -> AggregationPlan:
    """A plan that has no statements yet, so that it is written as the code is now."""
    return replace(_planned(query, groups, **bounds))


@cache
def _planned(query: str, groups: int, **bounds: int) -> AggregationPlan:
    facts = {"groups_per_unit": groups, **bounds}
    tables = [replace(t, **facts) if t.unit == "patient_id" else t for t in CATALOG]
    (plan,) = prepare(query, type(CATALOG)(tables), ZeroConcentrated(1), delta=DELTA).plans
    return plan


def _held(plan: AggregationPlan, world: World) -> pa.Table:
    assert plan.rule is not None
    return world.run(*count_apart(plan, plan.parts[plan.rule.unit_count]))


def _all_keys(plan: AggregationPlan, *worlds: World) -> Groups:
    tables = [_held(plan, world) for world in worlds]
    return Groups.shown(plan.block.keys, pa.concat_tables(tables))


EXTREME = ("a", 2**62, 1000.0, 1e300, 2**63 - 1, None, None, True, "", "x")
HEAVY = Person([(*EXTREME[:4], k, *EXTREME[5:8], str(k), "x") for k in range(7)], [], (2, True))
LIGHT = Person([("b", 0, 0.0, -0.0, 5, None, None, False, "5", "y")] * 3, [], (0, False))


def _moves(plan: AggregationPlan, here: World, there: World) -> list[tuple[int, int]]:
    """Per part, how far its integers are apart in L1, and the square of how far in L2."""
    groups = _all_keys(plan, here, there)
    both = zip(exact_sums(plan, groups, here.run), exact_sums(plan, groups, there.run), strict=True)
    apart = [
        [int(abs(a - b)) for x, y in zip(mine, other, strict=True) for a, b in zip(x, y, strict=True)]
        for mine, other in both
    ]
    return [(sum(each), sum(e * e for e in each)) for each in apart]


@example(crowd=[], one=HEAVY, other=LIGHT)
@settings(max_examples=many(2, 8), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(crowd=st.lists(PEOPLE, max_size=4), one=PEOPLE, other=PEOPLE)
def test_one_person_moves_the_keys_they_keep_and_no_more(crowd: list[Person], one: Person, other: Person) -> None:
    others = dict(enumerate(crowd, start=1))
    here, gone, replaced = world_of({0: one} | others), world_of(others), world_of({0: other} | others)
    for query, groups in itertools.product(QUERIES, (1, 2)):
        plan = _plan(query, groups)
        privacy = plan.block.rows.privacy
        there = replaced if privacy is not None and privacy.neighbours is Neighbours.REPLACE_ONE else gone
        for (l1, l2), priced in zip(_moves(plan, here, there), plan.parts, strict=True):
            assert l1 <= priced.l1_sensitivity, (query, priced.part)
            assert l2 <= priced.l2_sensitivity_squared, (query, priced.part)


def test_who_counts_as_one_row_in_one_group_is_counted_once_for_the_whole_price() -> None:
    plan = _plan(QUERIES[0], groups=1, rows_per_unit=1)
    (priced,) = plan.parts
    assert priced.share == 1
    assert plan.part_of(plan.block.aggregates[0]) == plan.rule.unit_count == 0
    here, there = world_of({0: HEAVY, 1: LIGHT, 2: LIGHT}), world_of({1: LIGHT, 2: LIGHT})
    assert sorted(_held(plan, here)["s"].to_pylist()) == [1, 2]
    assert _moves(plan, here, there) == [(1, 1)]
    for query, groups, rows in ((QUERIES[0], 2, 1), (QUERIES[0], 1, 2), (QUERIES[3], 1, 1)):
        assert len(_plan(query, groups, rows_per_unit=rows).parts) > 1


@pytest.mark.parametrize("groups", [1, 2])
def test_a_planted_bug_that_keeps_every_key_is_caught(monkeypatch: pytest.MonkeyPatch, groups: int) -> None:
    honest = statement._few_keys
    monkeypatch.setattr(
        statement, "_few_keys", lambda names, most, *how, **known: honest(names, most + 5, *how, **known)
    )
    plan = _plan(QUERIES[0], groups)
    moves = _moves(plan, world_of({0: HEAVY}), world_of({}))
    assert any(l1 > priced.l1_sensitivity for (l1, _), priced in zip(moves, plan.parts, strict=True))


@pytest.mark.parametrize("query", QUERIES)
def test_one_key_is_kept_as_the_first_of_several_would_be(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    words = ("tea", "coffee", None, "", "5", "milk")
    people = {
        k: Person(
            [
                (*ROW[:3], k / 7, j, None, datetime(2021, 1, 1 + j), True, words[(k + j * j) % 6], "x")
                for j in range(k % 5)
            ],
            [],
            (1, True),
        )
        for k in range(60)
    }
    world = world_of(people)
    (one, several) = ([], [])
    for found in (one, several):
        plan = _plan(query, groups=1)
        for text, values in statement.write_statements(plan):
            table = world.database.sql(text, params=values) if values else world.database.sql(text)
            found.append(sorted(map(repr, table.fetchall())))
        monkeypatch.setattr(statement, "_first_key", lambda: statement._first_keys(1, is_counted=False))
    assert one == several
    assert any(len(rows) > 1 for rows in one)


def test_the_threshold_hides_what_one_person_holds_alone() -> None:
    plan = _plan(QUERIES[0])
    assert plan.rule is not None
    law = plan.parts[plan.rule.unit_count].noise
    with working_precision():
        assert float(1 - (1 - law.above(plan.rule.threshold - 1)) ** plan.rule.per_unit) <= DELTA
        assert float(1 - (1 - law.above(plan.rule.threshold - 2)) ** plan.rule.per_unit) > DELTA


def test_common_keys_are_shown_rare_ones_are_not_and_the_order_is_that_of_the_keys() -> None:
    people = {k: Person([(*ROW[:8], ("tea", "coffee", None)[k % 3], "x")], [], (1, True)) for k in range(900)}
    people[900] = Person([(*ROW[:8], "a typo", "x")], [], (1, True))
    plan = _plan("SELECT note, COUNT(*), AVG(age), MODE(ward), MEDIAN(age) FROM visits GROUP BY note")
    found = noisy_table(measure(plan, world_of(people).run, SYSTEM), 0.95, raw=False)
    assert found["k0"].to_pylist() == ["coffee", "tea", None]
    assert all(abs(n - 300) < 60 for n in found["a0"].to_pylist())
    assert found["a2"].to_pylist() == ["a"] * 3
    assert all(abs(age - 50) < 10 for age in found["a1"].to_pylist() + found["a3"].to_pylist())


def test_nobody_shows_nothing_and_the_shape_is_known_before() -> None:
    plan = _plan("SELECT note, ward, COUNT(*), MEDIAN(age) FROM visits GROUP BY note, ward")
    empty = noisy_table(measure(plan, world_of({}).run, SYSTEM), 0.95, raw=False)
    shape = noisy_table(nothing_measured(plan), 0.95, raw=False)
    assert empty.num_rows == shape.num_rows == 0
    assert empty.schema == shape.schema


def test_where_every_row_is_a_person_their_number_is_not_paid_twice() -> None:
    (plan,) = prepare(
        "SELECT age * 1.5, COUNT(*) FROM survey GROUP BY 1", CATALOG, ZeroConcentrated(1), delta=DELTA
    ).plans
    assert len(plan.parts) == 1
    assert plan.parts[0].share == 1


def test_without_a_delta_they_are_refused_with_a_remedy() -> None:
    for price in (Pure(1), ZeroConcentrated(1)):
        with pytest.raises(QueryRefused, match=r"the groups are not public.*delta_for_keys"):
            prepare(QUERIES[0], CATALOG, price)


def test_the_shares_add_up_and_the_delta_is_divided() -> None:
    both = f"SELECT (SELECT COUNT(*) FROM ({QUERIES[0]}) a), (SELECT COUNT(*) FROM ({QUERIES[4]}) b)"
    question = prepare(both, CATALOG, ZeroConcentrated(1), delta=DELTA)
    assert [plan.delta for plan in question.plans] == [DELTA / 2] * 2
    assert question.delta == DELTA
    assert sum(priced.share for plan in question.plans for priced in plan.parts) == 1


def test_zeros_of_both_signs_are_one_group() -> None:
    table = pa.table({"k0": pa.array([0.0, -0.0, 1.0])})
    plan = _plan("SELECT score, COUNT(*) FROM visits GROUP BY score")
    groups = Groups.shown(plan.block.keys, table)
    assert len(groups) <= 3
    assert np.all(np.diff(groups.codes) > 0)


def test_keys_of_many_columns_are_those_of_the_rows_though_64_bits_cannot_number_their_combinations() -> None:
    (key,) = _plan("SELECT note, COUNT(*) FROM visits GROUP BY note").block.keys
    rows = [tuple(f"{(k * row) % 97:02}" for k in range(1, 13)) for row in range(97)]
    table = pa.table({f"k{k}": values for k, values in enumerate(zip(*rows, strict=True))})
    groups = Groups.shown([key] * 12, table)
    assert groups.tuples() == sorted(rows)
    places, kept = groups.places(table)
    assert kept.all()
    assert [groups.tuples()[place] for place in places] == rows
    _, found = groups.places(table.set_column(11, "k11", pa.array(["00"] * 97)))
    assert found.tolist() == [True] + [False] * 96
