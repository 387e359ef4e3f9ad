"""What one unit becomes by joins is bounded when a question is planned, and the bound holds on all rows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from discreet.catalog.catalog import Catalog
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours
from discreet.query.bind import join as joining
from discreet.query.bind import truncation
from discreet.query.bind.contribution import ONE_ROW, ContributionBound, Truncation, needing_truncation, pair_bounds
from discreet.query.bind.join import bound_sides
from discreet.query.bind.multiplicity import CountAlike
from discreet.query.bind.public_tables import PublicMultiplicity
from discreet.query.bind.relation import Relation
from discreet.query.expressions.expression import Statement
from discreet.query.passes import split
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare, prepare_all
from discreet.query.run.measure import exact_sums, public_groups
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG, COUNT_ALIKE, PUBLIC_VALUES, Row, World, read_pairs, read_queries

CORPUS = [*read_queries("answers.sql"), *read_queries("measured.sql")]
CORPUS += [query for name in ("spelled.sql", "weighted.sql") for query, _ in read_pairs(name)]
VISITS_TWICE = "SELECT COUNT(*), SUM(a.age) FROM visits a JOIN visits b USING (patient_id)"
BY_FLOOR = "SELECT w.floor, COUNT(*), SUM(v.age) FROM visits v JOIN wards w ON v.ward = w.name GROUP BY w.floor"
JOINS = [
    VISITS_TWICE,
    BY_FLOOR,
    "SELECT COUNT(*) FROM visits a FULL JOIN visits b ON a.patient_id = b.patient_id AND a.age = b.age + 1",
    "SELECT COUNT(*) FROM visits a LEFT JOIN visits b ON a.patient_id = b.patient_id AND a.age < b.age",
    "SELECT COUNT(*) FROM wards w JOIN visits v ON v.ward = w.name JOIN patients p ON p.id = v.patient_id",
    (
        "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT a.name FROM wards a FULL JOIN wards b ON a.name = b.name) w"
        " ON v.ward = w.name"
    ),
    "SELECT COUNT(*) FROM swaps a JOIN swaps b USING (patient_id) JOIN wards w ON a.ward = w.name",
    (
        "SELECT COUNT(*) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) a"
        " FULL JOIN (SELECT id FROM patients GROUP BY id) p ON a.patient_id = p.id AND a.n = 2"
    ),
    (
        "SELECT COUNT(*) FROM (SELECT a.age FROM visits a JOIN visits b USING (patient_id) UNION ALL"
        " SELECT age FROM visits) t"
    ),
]
ROWS = [
    ("a", 110, 1000.0, 1e300, 2**60, None, None, True, "n", "x"),
    ("b", 0, 0.0, -0.0, 0, None, None, False, "", "y"),
]
HEAVY = Person(
    [(*ROWS[k % 2][:1], k, *ROWS[k % 2][2:]) for k in range(11)], [(1950 + k, "f") for k in range(6)], (2, True)
)
LIGHT = Person(list(ROWS), [(1900, "m")], (0, False))


def _plans(query: str, count: CountAlike = COUNT_ALIKE) -> tuple[AggregationPlan, ...]:
    return prepare(query, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=count).plans


def _rows_of(rows: Relation, world: World, unit: int = 0) -> list[Any]:
    """The rows of one unit."""
    statement = Statement()
    text = rows.write(statement)
    return world.run(f"SELECT * EXCLUDE (_unit) FROM ({text}) x WHERE _unit = {unit}", statement.parameters).to_pylist()


def _is_within(plan: AggregationPlan, world: World, stored: int) -> bool:
    """Whether a unit with so many rows in each table, at most, has no more rows than was planned."""
    privacy = plan.block.rows.privacy
    assert privacy is not None
    bound = privacy.contribution
    return len(_rows_of(plan.block.rows, world)) <= bound.times * stored + bound.plus


# The bound.


def test_nobody_has_more_rows_than_was_planned() -> None:
    world = world_of({0: HEAVY, 1: LIGHT})
    plans = [(query, plan) for query in dict.fromkeys([*CORPUS, *JOINS]) for plan in _plans(query)]
    assert [query for query, plan in plans if not _is_within(plan, world, len(HEAVY.visits))] == []


def _outer(left: int, right: int, met: set[tuple[int, int]], kind: str) -> int:
    """The rows of a join of so many rows with so many, of which these meet."""
    alone_left, alone_right = left - len({a for a, _ in met}), right - len({b for _, b in met})
    return len(met) + alone_left * (kind in ("LEFT", "FULL")) + alone_right * (kind in ("RIGHT", "FULL"))


def _is_bound(find: Callable[..., ContributionBound]) -> bool:
    cells = {
        sides: list(itertools.product(range(sides[0]), range(sides[1])))
        for sides in itertools.product((0, 1, 2, 3), (0, 1, 2))
    }
    bounded = {n: ContributionBound(0, max(n, 1), max(n, 1)) for n in range(4)}
    return all(
        _outer(*sides, {cell for cell, is_met in zip(pairs, which, strict=True) if is_met}, kind)
        <= find(bounded[sides[0]], bounded[sides[1]], is_full=kind == "FULL").plus
        for sides, pairs in cells.items()
        for which in itertools.product((False, True), repeat=len(pairs))
        for kind in ("INNER", "LEFT", "RIGHT", "FULL")
    )


def test_every_way_in_which_rows_can_meet_is_counted() -> None:
    assert _is_bound(pair_bounds)


def test_an_outer_join_that_was_counted_as_an_inner_one_would_be_seen() -> None:
    """The planted bug."""
    assert not _is_bound(lambda left, right, *, is_full: pair_bounds(left, right, is_full=False))


def test_a_side_with_one_row_leaves_the_other_as_it_is() -> None:
    many, one = ContributionBound.stored(5), ContributionBound.stored(1)
    assert needing_truncation(many, ONE_ROW, spare_left=False) == (False, False)
    assert needing_truncation(many, one, spare_left=False) == (False, True)
    assert needing_truncation(one, many, spare_left=True) == (True, False)
    assert needing_truncation(many, many, spare_left=True) == (True, True)
    assert needing_truncation(one, one, spare_left=True) == (False, True)
    assert needing_truncation(one, one, spare_left=False) == (True, False)
    assert needing_truncation(many, ContributionBound(0, 2, 2), spare_left=True) == (True, False)
    assert pair_bounds(many, ONE_ROW, is_full=True) == ContributionBound(1, 1, 6)


def test_the_table_that_names_people_is_the_one_of_which_one_row_is_kept() -> None:
    few = Catalog([replace(t, rows_per_unit=1) if not t.public else t for t in CATALOG])
    for sql in ("visits v JOIN patients p ON v.patient_id = p.id", "patients p JOIN visits v ON v.patient_id = p.id"):
        (block,) = split(f"SELECT COUNT(*) FROM {sql}", few).blocks
        assert block.rows.privacy is not None
        assert block.rows.privacy.truncated == (Truncation(frozenset({"patients"}), 1),)


# Sensitivity.


def _moves_within(plan: AggregationPlan, here: World, there: World) -> bool:
    groups = public_groups(plan)
    both = zip(exact_sums(plan, groups, here.run), exact_sums(plan, groups, there.run), plan.parts, strict=True)
    return all(
        sum(int(np.abs(a - b).sum()) for a, b in zip(mine, theirs, strict=True)) <= priced.l1_sensitivity
        for mine, theirs, priced in both
    )


@pytest.mark.parametrize("query", JOINS)
@pytest.mark.some(3)
def test_a_person_with_many_rows_moves_sums_of_joins_by_no_more_than_declared(query: str) -> None:
    here, gone, other = (world_of(people) for people in ({0: HEAVY, 1: LIGHT}, {1: LIGHT}, {0: LIGHT, 1: LIGHT}))
    for plan in _plans(query):
        assert plan.block.rows.privacy is not None
        is_replaced = plan.block.rows.privacy.neighbours is Neighbours.REPLACE_ONE
        assert _moves_within(plan, here, other if is_replaced else gone)


# Which rows are kept.


def _kept(query: str, world: World, unit: int = 0) -> Counter[str]:
    (plan,) = _plans(query)
    return Counter(repr(row) for row in _rows_of(plan.block.rows, world, unit))


def _in_order(visits: list[Row], others: list[Row], unit: int) -> World:
    """A world in which one unit has these rows, after those of others."""
    mine = [(unit, (7, *row)) for row in visits]
    return World({"visits": [(unit + 1 + k, (100 + k, *row)) for k, row in enumerate(others)] + mine})


def _depends_on_own_rows_alone(query: str) -> bool:
    rows = HEAVY.visits
    found = [
        _kept(query, _in_order(rows, [], 0)),
        _kept(query, _in_order(rows[::-1], [], 0)),
        _kept(query, _in_order(rows[5:] + rows[:5], LIGHT.visits * 3, 3), 3),
    ]
    return found[0] == found[1] == found[2] and bool(found[0])


@pytest.mark.parametrize("query", [VISITS_TWICE, BY_FLOOR, JOINS[2]])
def test_which_rows_are_kept_depends_on_the_rows_of_the_unit_alone(query: str) -> None:
    assert _depends_on_own_rows_alone(query)


def test_rows_kept_by_their_place_in_the_table_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug."""
    monkeypatch.setattr(truncation, "_own_order", lambda rows, statement: "1")
    assert not _depends_on_own_rows_alone(VISITS_TWICE)


def test_who_has_no_more_rows_than_count_keeps_all_of_them() -> None:
    world = world_of({0: replace(HEAVY, visits=HEAVY.visits[:3]), 1: LIGHT})
    assert sum(_kept(VISITS_TWICE, world).values()) == 9
    plain = "SELECT v.age, w.floor FROM visits v JOIN wards w ON v.ward = w.name WHERE v._unit = 0"
    assert sum(_kept(BY_FLOOR, world).values()) == world.plain(plain).num_rows == 4


# Multiplicities of public tables.

PUBLIC = {
    "wards": [
        (0, row) for row in [("a", 1), ("a", 1), ("b", 2), ("b", 9), (None, 2), (None, 2), ("b", None), ("Ω", 5)]
    ],
    "sites": [
        (0, row)
        for row in [
            ("a", "n", date(1980, 5, 5), -0.0),
            ("a", "s", date(1980, 5, 6), 0.0),
            ("b", "n", None, None),
            ("b", "n", None, 1.0),
            ("zz", None, date(2020, 1, 1), None),
        ]
    ],
}
PUBLIC_QUERIES = {
    "SELECT name, floor FROM wards": "ward = name",
    "SELECT name AS n, floor + 1 AS f, floor FROM wards WHERE floor > 0": "ward = n",
    "SELECT a.name, a.floor, b.floor AS g FROM wards a JOIN wards b ON a.name = b.name": "ward = name",
    "SELECT a.name, a.floor, b.name AS n FROM wards a LEFT JOIN wards b ON a.floor = b.floor": "ward = n",
    "SELECT a.floor, b.name AS n FROM wards a RIGHT JOIN wards b ON a.floor = b.floor AND a.name <> b.name": "ward = n",
    "SELECT a.name, b.floor, b.name AS n FROM wards a FULL JOIN wards b USING (name, floor)": "age = floor",
    "SELECT w.floor, s.region, s.opened, s.rate FROM sites s JOIN wards w ON w.name = s.ward": "cost = rate",
    "SELECT a.rate, a.opened, b.region, w.floor FROM sites a FULL JOIN sites b ON a.rate = b.rate"
    " RIGHT JOIN wards w ON w.name = b.ward": "ward = region",
    "SELECT name, floor FROM wards WHERE name IN (SELECT ward FROM sites)": "ward = name",
}
"""Public rows, and how private ones can be joined with them."""
LARGE = Catalog([t if t.public else replace(t, rows_after_joins=2**20) for t in CATALOG])


def _public(query: str, count: CountAlike) -> Relation:
    """The public rows that a query stands for, as they are joined with private ones."""
    found: list[Relation] = []

    def seen(node: Any, left: Relation, right: Relation, *more: Any, **named: Any) -> Any:
        found.append(right)
        return bound_sides(node, left, right, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "bound_sides", seen)
        split(f"SELECT COUNT(*) FROM visits v JOIN ({query}) t ON v.{PUBLIC_QUERIES[query]}", LARGE, count_alike=count)
    return found[0]


def _alike(rows: Relation, world: World, names: tuple[str, ...]) -> int:
    """The most rows that have the same values, none of them missing, found by running the joins."""
    statement = Statement()
    table = world.run(f"SELECT * FROM ({rows.write(statement)}) x", statement.parameters)
    values = [tuple(row[name] for name in names) for row in table.to_pylist()]
    counts = Counter(tuple(v + 0 if isinstance(v, float) else v for v in row) for row in values if None not in row)
    return max(counts.values(), default=0)


def _subsets(rows: Relation) -> Iterator[tuple[str, ...]]:
    names = [field.name for _, field in rows.columns]
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in range(len(names) + 1))


@pytest.mark.parametrize("query", PUBLIC_QUERIES)
def test_no_more_public_rows_are_alike_than_is_said(query: str) -> None:
    world = World(PUBLIC)
    rows = _public(query, PublicMultiplicity(CATALOG, world.run, str))
    assert rows.alike is not None
    for names in _subsets(rows):
        assert _alike(rows, world, names) <= rows.alike(frozenset(names)), names


def test_of_a_table_exactly_as_many_are_alike_as_is_said() -> None:
    world = World(PUBLIC)
    count = PublicMultiplicity(CATALOG, world.run, str)
    assert count("wards", ()) == 8
    assert count("wards", ("name",)) == 3
    assert count("wards", ("name", "floor")) == 2
    assert count("wards", ("floor",)) == 3  # 9 is moved to 5, which another row has; and three have 2
    assert count("sites", ("rate",)) == 3  # one default, and both kinds of zero are one
    assert PublicMultiplicity(CATALOG, World({"wards": []}).run, str)("wards", ("name",)) == 0


def test_a_protected_table_is_never_counted() -> None:
    with pytest.raises(Exception, match="public tables alone"):
        COUNT_ALIKE("visits", ("ward",))


def test_rows_are_counted_once_for_a_version_where_they_are_at_rest() -> None:
    asked: list[str] = []
    version = ["1"]
    world = World({})

    def run(text: str, parameters: list[object]) -> Any:
        asked.append(text)
        return world.run(text, parameters)

    for at_rest, wanted in ((True, [1, 1, 2]), (False, [1, 2, 3])):
        asked.clear()
        count, seen = PublicMultiplicity(CATALOG, run, lambda _: version[0], at_rest=at_rest), []
        for number in ("1", "1", "2"):
            version[0] = number
            assert count("wards", ("name",)) == 2
            seen.append(len(asked))
        assert seen == wanted


def test_a_multiplicity_that_was_ignored_would_be_seen() -> None:
    """The planted bug: a public table of two equal rows is taken for one with different rows."""
    world = world_of({0: HEAVY})
    (plan,) = _plans(BY_FLOOR)
    (blind,) = _plans(BY_FLOOR, lambda table, columns: 1)
    assert _is_within(plan, world, len(HEAVY.visits))
    assert not _is_within(blind, world, 11)


@pytest.mark.parametrize("kind", ["", "LEFT "])
def test_public_rows_that_became_more_since_they_were_counted_meet_nobody_more_often(kind: str) -> None:
    sql = f"SELECT COUNT(*) FROM visits v {kind}JOIN wards w ON v.ward = w.name"
    grown = World({**PUBLIC, "visits": [(0, (0, *row)) for row in HEAVY.visits]})
    for most, at_rest in ((1, False), (2, False), (1, True)):
        count: CountAlike = lambda table, columns, most=most: most  # noqa: E731
        (plan,) = prepare_all([split(sql, CATALOG, at_rest=at_rest, count_alike=count)], Pure(1))[0].plans
        assert _is_within(plan, grown, len(HEAVY.visits)) is not at_rest


def test_a_join_of_public_tables_is_not_run_to_find_its_multiplicity() -> None:
    asked: list[str] = []
    world = World({})

    def run(text: str, parameters: list[object]) -> Any:
        asked.append(text)
        return world.run(text, parameters)

    many = " ".join(f"JOIN wards w{k} ON w0.name = w{k}.name" for k in range(1, 100))
    sql = f"SELECT COUNT(*) FROM visits v JOIN (SELECT w0.name FROM wards w0 {many}) w ON v.ward = w.name"
    with pytest.raises(
        QueryRefused, match=r"joins may make at most 10,000 rows of one person, and here 3 × 1,267,650,6"
    ):
        split(sql, CATALOG, count_alike=PublicMultiplicity(CATALOG, run, lambda _: "1"))
    assert len(asked) == 1


# Refusals.


def _joined(times: int, each: str) -> str:
    return "SELECT COUNT(*) FROM visits v0 " + " ".join(each.format(k) for k in range(1, times + 1))


@pytest.mark.parametrize(
    ("each", "last"),
    [
        ("JOIN visits v{0} ON v0.patient_id = v{0}.patient_id", 7),  # 3^8 rows, and 3^9 are too many
        ("JOIN wards w{0} ON v0.ward = w{0}.name", 11),  # 3·2^11
        ("LEFT JOIN wards w{0} ON v0.ward = w{0}.name", 11),
        ("FULL JOIN visits v{0} ON v0.patient_id = v{0}.patient_id", 7),
        ("JOIN (SELECT a.ward FROM sites a) s{0} ON v0.ward = s{0}.ward", 60),
    ],
)
def test_joins_are_answered_up_to_the_limit_and_refused_beyond(each: str, last: int) -> None:
    (block,) = split(_joined(last, each), CATALOG, count_alike=COUNT_ALIKE).blocks
    assert block.rows.privacy is not None
    assert block.rows.privacy.contribution.plus <= 10_000
    if last < 60:
        with pytest.raises(QueryRefused, match="joins may make at most 10,000 rows of one person") as refusal:
            split(_joined(last + 1, each), CATALOG, count_alike=COUNT_ALIKE)
        assert refusal.value.column > 100
        assert "rows_after_joins" in refusal.value.remedy


def test_the_smallest_limit_of_the_tables_counts() -> None:
    sql = "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.id"
    for limits, is_refused in (((9, 9), False), ((8, 9), True), ((9, 8), True)):
        named = dict(zip(("visits", "patients"), limits, strict=True))
        catalog = Catalog([replace(t, rows_after_joins=named.get(t.name, 10_000)) for t in CATALOG if not t.public])
        if is_refused:
            with pytest.raises(QueryRefused, match="at most 8 rows of one person, and here 3 × 3 = 9 are possible"):
                split(sql, catalog)
        else:
            assert split(sql, catalog).blocks


def test_branches_of_a_union_count_together() -> None:
    joined = "SELECT a.age FROM visits a JOIN visits b USING (patient_id) JOIN visits c USING (patient_id)"
    sql = f"SELECT COUNT(*) FROM ({' UNION ALL '.join([joined] * 30)}) x"
    exact, less = (Catalog([replace(CATALOG.table("visits"), foreign_keys=(), rows_after_joins=n)]) for n in (810, 809))
    assert split(sql, exact).blocks
    with pytest.raises(QueryRefused, match="at most 809 rows of one person, and together 810 are possible"):
        split(sql, less)


def test_many_rows_of_a_table_without_a_join_are_no_reason_to_refuse() -> None:
    large = Catalog([replace(t, rows_per_unit=2**20) if t.unit else t for t in CATALOG])
    for sql in (
        "SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits JOIN sites USING (ward)",
        "SELECT COUNT(*) FROM visits JOIN (SELECT patient_id FROM visits GROUP BY patient_id) USING (patient_id)",
        "SELECT COUNT(*) FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits) t",
        "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT name FROM wards)",
    ):
        assert split(sql, large, count_alike=COUNT_ALIKE).blocks


def test_where_nobody_can_count_public_rows_they_are_not_joined() -> None:
    with pytest.raises(QueryRefused, match="must be known before they are joined"):
        split(BY_FLOOR, CATALOG)


# Answers that were given before are found again.

UNTOUCHED = {
    "SELECT ward, COUNT(*), SUM(cost) FROM visits WHERE age > 3 GROUP BY ward": "c3960d8dc78f1dac",
    "SELECT s.region, COUNT(*) FROM visits v JOIN sites s ON v.ward = s.ward GROUP BY s.region": "c24407c93370d593",
    "SELECT COUNT(*) FROM visits LEFT JOIN (SELECT ward, upper(region) AS r FROM sites WHERE rate > 0) AS s"
    " USING (ward) WHERE r = 'NORTH'": "874925b9f43b7846",
    "SELECT COUNT(*), SUM(visits.age) FROM visits JOIN (SELECT patient_id, MAX(cost) AS top FROM visits"
    " GROUP BY patient_id) AS t USING (patient_id) WHERE cost = top": "b50ab781aa2b7c75",
    "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT name FROM wards)": "bc9080e52f35c865",
    "SELECT COUNT(*), SUM(age) FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits) AS t": "1bd26994895f19c7",
    "SELECT COUNT(*), SUM(s.age) FROM survey AS s JOIN wards AS w ON s.age = w.floor": "0347c7dabe85516a",
}


@pytest.mark.parametrize("query", UNTOUCHED)
def test_what_joins_do_not_multiply_is_planned_as_before_they_were_bounded(query: str) -> None:
    question = prepare(query, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE)
    assert question.fingerprint({"visits": "1"}).startswith(UNTOUCHED[query])


# The price.

VISITS_OF = "(SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)"
SEX_OF = "(SELECT id, MAX(sex) AS sex, MAX(born) AS born FROM patients GROUP BY id)"


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (f"SELECT COUNT(*) FROM {VISITS_OF} v JOIN {SEX_OF} p ON v.patient_id = p.id", 1),
        (f"SELECT COUNT(*) FROM {VISITS_OF} v FULL JOIN {SEX_OF} p ON v.patient_id = p.id AND v.n = 2", 2),
        (f"SELECT COUNT(*) FROM {VISITS_OF} v JOIN patients p ON v.patient_id = p.id", 1),
        (f"SELECT COUNT(*) FROM {SEX_OF} p JOIN wards w ON p.sex = w.name", 1),
        ("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.id", 3),
    ],
)
def test_a_join_counts_the_rows_that_a_person_can_have_in_it(query: str, rows: int) -> None:
    """One row of each side makes one, and not as many as the policies count of the tables below."""
    patients = replace(CATALOG.table("patients"), rows_per_unit=1)
    catalog = CATALOG.with_table(patients)
    (plan,) = prepare(query, catalog, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE).plans
    assert (plan.rows_per_unit, plan.parts[0].max_contribution) == (rows, rows)


def test_whoever_has_more_rows_counts_as_that_many() -> None:
    """A person with eleven visits and six rows of their own: the bound is kept by weights, and not believed."""
    patients = replace(CATALOG.table("patients"), rows_per_unit=1)
    query = f"SELECT COUNT(*) FROM {VISITS_OF} v JOIN patients p ON v.patient_id = p.id"
    (plan,) = prepare(query, CATALOG.with_table(patients), Pure(1), count_alike=COUNT_ALIKE).plans
    here, there = (exact_sums(plan, public_groups(plan), world_of(who).run) for who in ({0: HEAVY}, {}))
    moved = int(abs(here[0][0][0] - there[0][0][0]))
    assert 0 < moved <= plan.parts[0].l1_sensitivity
