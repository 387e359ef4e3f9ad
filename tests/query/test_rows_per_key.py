"""Rows of a person in one group: few of them count, so that squares are smaller, and so is Gaussian noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import dumps, loads
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.errors import PolicyError
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.quantile import QuantileSelection
from discreet.query.aggregates.statistics import Moments
from discreet.query.plan.budget_split import Price
from discreet.query.plan.sensitivity import AggregationPlan, PricedStatistic
from discreet.query.question import prepare
from discreet.query.run import contribution_bounds as statement
from discreet.query.run.contribution_bounds import count_apart, write_histogram, write_statements
from discreet.query.run.measure import Groups, exact_sums, public_groups
from tests.engines.same_everywhere import tables
from tests.query.few_rows import LISTED, UNLISTED, catalog_with
from tests.query.hostile import PEOPLE, Person, world_of
from tests.query.test_tallied import same, unmarked
from tests.query.world import COUNT_ALIKE, PUBLIC_VALUES, World
from tests.thoroughness import many

DELTA = Fraction(1, 10**6)
RHO = ZeroConcentrated(1)
ROW = ("a", 50, 1000.0, 1.0, 1, None, None, True, "tea", "x")
SAME = Person([ROW] * 5, [], (1, True))
"""All rows in one group."""
APART = Person([(ward, *ROW[1:]) for ward in ("a", "b", "it's", "Ω", "a", "b", None)], [], (1, True))


def _plan(query: str, most: int | None, price: Price = RHO, groups: int = 2) -> AggregationPlan:
    """A plan that has no statements yet, so that it is written as the code is now."""
    return replace(_planned(query, most, price, groups))


@cache
def _planned(query: str, most: int | None, price: Price, groups: int) -> AggregationPlan:
    delta = DELTA if query in UNLISTED else Fraction(0)
    (plan,) = prepare(query, catalog_with(most, groups), price, delta=delta).plans
    return plan


def _groups(plan: AggregationPlan, *worlds: World) -> Groups:
    if plan.rule is None:
        return public_groups(plan)
    held = plan.parts[plan.rule.unit_count]
    return Groups.shown(plan.block.keys, pa.concat_tables([world.run(*count_apart(plan, held)) for world in worlds]))


def _check(plan: AggregationPlan, here: World, there: World) -> None:
    groups = _groups(plan, here, there)
    both = zip(exact_sums(plan, groups, here.run), exact_sums(plan, groups, there.run), plan.parts, strict=True)
    for mine, theirs, priced in both:
        moved = [abs(int(a) - int(b)) for x, y in zip(mine, theirs, strict=True) for a, b in zip(x, y, strict=True)]
        assert sum(moved) <= priced.l1_sensitivity, priced.part
        assert sum(m * m for m in moved) <= priced.l2_sensitivity_squared, priced.part
    for k, choice in enumerate(plan.choices):
        lean = 2 * max(choice.quantile, 1 - choice.quantile) if isinstance(choice, QuantileSelection) else 1
        squares = sum(moved**2 for moved in _moved_weights(plan, k, here, there).values())
        # The pure losses of all groups, as a mechanism of ρ adds them up.
        assert squares * (choice.factor * lean) ** 2 <= choice.epsilon**2


def _moved_weights(plan: AggregationPlan, k: int, here: World, there: World) -> Counter[object]:
    """Per group, how far one person moves the weights of all values together."""
    moved: Counter[object] = Counter()
    for world, sign in ((here, 1), (there, -1)):
        table = world.run(*write_histogram(plan, plan.choices[k]))
        *keys, values, weights = (column.to_pylist() for column in table.columns)
        for *key, value, weight in zip(*keys, values, weights, strict=True):
            moved[(*key, value)] += sign * int(weight)
    found: Counter[object] = Counter()
    for (*key, _), weight in moved.items():
        found[tuple(key)] += abs(weight)
    return found


@example(crowd=[], one=SAME, other=APART)
@example(crowd=[SAME], one=APART, other=SAME)
@settings(max_examples=many(2, 8), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(crowd=st.lists(PEOPLE, max_size=3), one=PEOPLE, other=PEOPLE)
def test_one_person_moves_squares_by_at_most_what_is_declared(crowd: list[Person], one: Person, other: Person) -> None:
    others = dict(enumerate(crowd, start=1))
    here, gone, replaced = world_of({0: one} | others), world_of(others), world_of({0: other} | others)
    for query in [*LISTED, *UNLISTED]:
        for most, groups in ((1, 2), (2, 1)):
            plan = _plan(query, most, groups=groups)
            assert plan.rows_per_group == most
            privacy = plan.block.rows.privacy
            assert privacy is not None
            _check(plan, here, replaced if privacy.neighbours is Neighbours.REPLACE_ONE else gone)


@pytest.mark.parametrize("query", LISTED)
def test_a_planted_bug_that_counts_all_rows_in_a_group_is_caught(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = statement._shared
    monkeypatch.setattr(statement, "_shared", lambda keys, names, most, **how: honest(keys, names, 10 * most, **how))
    elsewhere = Person([("b", *ROW[1:])] * 5, [], (1, True))
    there = world_of({0: elsewhere} if "swaps" in query else {})
    with pytest.raises(AssertionError):
        _check(_plan(query, 1), world_of({0: SAME}), there)


def test_the_worst_person_reaches_the_declared_square() -> None:
    """Three rows in three groups, one in each: r = 3, c = 1, so squares of three."""
    row = (110, 1000.0, 0.0, 0, None, None, True, "", "x")
    worst = Person([(ward, *row) for ward in ("a", "b", "it's")], [], (0, True))
    plan = _plan("SELECT ward, SUM(cost) FROM visits GROUP BY ward", 1)
    ((found,),) = ([exact_sums(plan, public_groups(plan), world_of({0: worst}).run)[0]],)
    assert sum(int(one) ** 2 for each in found for one in each) == plan.parts[0].l2_sensitivity_squared


@pytest.mark.parametrize("query", [*LISTED, *UNLISTED])
def test_rows_within_the_limit_are_counted_as_without_it(query: str) -> None:
    """People with one row in each group, and no more rows than count."""
    people = {k: Person(APART.visits[k % 4 : k % 4 + 3], [], (1, True)) for k in range(8)}
    notes = {k: replace(one, visits=[(*row[:8], f"{k}{j}", "x") for j, row in enumerate(one.visits)])
             for k, one in people.items()}  # fmt: skip
    world = world_of(notes)
    with_limit, without = (_plan(query, most, groups=3) for most in (1, None))
    assert without.rows_per_group is None
    for (text, values), (other, others) in zip(write_statements(with_limit), write_statements(without), strict=True):
        assert _rows(world, text, values) == _rows(world, other, others)


def _rows(world: World, text: str, values: list[object]) -> list[str]:
    return sorted(map(repr, world.run(text, values).to_pylist()))


def _squared_rows(priced: PricedStatistic) -> Fraction:
    assert isinstance(priced.part, Moments)
    return Fraction(priced.l2_sensitivity_squared, (priced.weight * priced.part.whole(priced.scale)) ** 2)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBEngine]:
    budget = Budget(3, delta=2 * DELTA, delta_for_keys=DELTA)
    catalog = Catalog([replace(one, budget=budget) if one.unit == "patient_id" else one for one in catalog_with(1)])
    rows = tables()
    with DuckDBEngine(tmp_path_factory.mktemp("alike"), threads=1) as engine:
        for table in catalog:
            engine.take_in(table, rows[table.name], catalog=catalog)
        yield engine


@pytest.mark.parametrize("query", [*LISTED, *UNLISTED])
def test_rows_that_were_counted_when_they_were_taken_in_weigh_the_same(engine: DuckDBEngine, query: str) -> None:
    plan = _plan(query, 1)
    kept, plan = use_stored_columns(plan, engine), unmarked(plan, engine)
    is_read = any("_alike" in text and "PARTITION BY _unit, k0" not in text for text, _ in write_statements(kept))
    assert is_read == (query in (LISTED[0], LISTED[2], UNLISTED[0]))  # whole tables by one column
    assert any("_held <> 0" in text for text, _ in write_statements(kept)) == (query == UNLISTED[0])
    assert same(engine, plan, kept)


def test_numbers_of_rows_within_other_limits_are_not_read(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ages are moved to one, so more rows are alike; the planted bug takes no notice of it."""
    catalog = catalog_with(1)
    visits = catalog.table("visits")
    columns = [replace(column, lower=0, upper=1) if column.name == "age" else column for column in visits.columns]
    edited = catalog.with_table(replace(visits, columns=tuple(columns)))
    (plan,) = prepare("SELECT age, COUNT(*) FROM visits GROUP BY age", edited, RHO).plans
    assert same(engine, plan, use_stored_columns(plan, engine))
    honest = statement.use_stored_rows_per_key
    stale = lambda column, _, stored: honest(column, stored.alike[column], stored)  # noqa: E731
    monkeypatch.setattr(statement, "use_stored_rows_per_key", stale)
    assert not same(engine, plan, use_stored_columns(plan, engine))


def test_noise_is_less_by_the_root_of_the_rows_that_count_in_all_over_those_in_a_group() -> None:
    narrow, wide = _plan(LISTED[0], 1), _plan(LISTED[0], None)
    for one, other in zip(narrow.parts, wide.parts, strict=True):
        squares = [
            Fraction(each.l2_sensitivity_squared, (each.weight * each.part.whole(each.scale)) ** 2)
            for each in (one, other)
        ]
        assert squares == [3, 9]
    narrow, wide = _plan(LISTED[2], 1), _plan(LISTED[2], None)
    for choice, other in zip(narrow.choices, wide.choices, strict=True):
        assert float(choice.factor / other.factor) == pytest.approx(3**0.5)


@pytest.mark.parametrize("query", [*LISTED, *UNLISTED])
def test_what_cannot_help_changes_nothing(query: str) -> None:
    """Under a pure price sums of moves count, and not their squares; and as many rows as count are no limit."""
    for most, price in ((1, Pure(1)), (3, RHO), (50, RHO)):
        plan, plain = _plan(query, most, price), _plan(query, None, price)
        assert write_statements(plan) == write_statements(plain)
        assert list(map(repr, plan.noises)) == list(map(repr, plain.noises))


def test_questions_by_other_columns_are_not_limited() -> None:
    for query in ("SELECT kind, COUNT(*) FROM visits GROUP BY kind", "SELECT SUM(cost) FROM visits"):
        assert _plan(query, 1).rows_per_group is None


def test_a_policy_states_it_and_keeps_it() -> None:
    table = catalog_with(2).table("visits")
    assert loads(dumps(table)) == table
    for wrong in (0, -1, True, "2", 1.5):
        with pytest.raises(PolicyError, match="rows_per_key must be a whole number from 1"):
            Column("ward", ColumnType.TEXT, rows_per_key=wrong)  # type: ignore[arg-type]


def test_it_holds_for_whatever_follows_from_the_column() -> None:
    """A truncated date, an expression, and what public tables say about the column, also through a chain of them."""
    dated = catalog_with(1)
    visits = dated.table("visits")
    columns = (replace(one, rows_per_key=1) if one.name in ("day", "met") else one for one in visits.columns)
    catalog = dated.with_table(replace(visits, columns=tuple(columns)))
    for query in (
        "SELECT date_trunc('month', day) AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT date_trunc('day', met) AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT CASE WHEN ward = 'a' THEN 1 ELSE 2 END AS c, COUNT(*) FROM visits GROUP BY c",
        "SELECT m, COUNT(*) FROM (SELECT month(day) AS m FROM visits) t GROUP BY m",
        "SELECT s.region, COUNT(*) FROM visits v JOIN sites s ON v.ward = s.ward GROUP BY s.region",
        "SELECT s.region, COUNT(*) FROM sites s JOIN visits v ON v.ward = s.ward GROUP BY s.region",
        (
            "SELECT s.region, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.name JOIN sites s ON w.name = s.ward"
            " GROUP BY s.region"
        ),
        "SELECT ward, COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT ward FROM visits) t GROUP BY ward",
    ):
        (plan,) = prepare(query, catalog, RHO, public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE).plans
        assert plan.rows_per_group == 1, query
        assert _squared_rows(plan.parts[0]) == 3, query
