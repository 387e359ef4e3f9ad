"""The groups of an answer are those that rows can be in: what WHERE and public tables exclude is not listed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from itertools import product

import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import dumps, loads
from discreet.catalog.table import Budget, Table
from discreet.errors import PolicyError, QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.bind import relation
from discreet.query.bind.public_tables import PublicEnds, PublicMultiplicity, PublicValues
from discreet.query.plan import coarse_tests
from discreet.query.plan import list_groups as listing
from discreet.query.question import prepare
from discreet.query.run.measure import exact_sums, public_groups
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG, COUNT_ALIKE, World, prepared

ROW = ("a", 50, 1000.0, 1.0, 1, date(2020, 3, 1), None, True, "tea", "x")
A_KIND = "(ward = 'a' AND kind = 'x')"

NARROWED = {
    "SELECT ward, COUNT(*) FROM visits WHERE ward = 'a' GROUP BY ward": [("a",)],
    "SELECT ward, COUNT(*) FROM visits WHERE ward IN ('b', 'zz') GROUP BY ward": [("b",)],
    "SELECT ward, COUNT(*) FROM visits WHERE ward IS NULL GROUP BY ward": [(None,)],
    "SELECT ward, COUNT(*) FROM visits WHERE NOT (ward <> 'a') GROUP BY ward": [("a",)],
    "SELECT ward, kind, COUNT(*) FROM visits WHERE (ward = 'a' AND kind = 'x') OR (ward = 'b' AND kind = 'y')"
    " GROUP BY ward, kind": [("a", "x"), ("b", "y")],
    "SELECT w, COUNT(*) FROM (SELECT ward AS w FROM visits WHERE ward > 'b') t GROUP BY w": [("it's",), ("Ω",)],
    "SELECT age // 10 AS d, COUNT(*) FROM visits WHERE age BETWEEN 20 AND 39 GROUP BY 1": [(2,), (3,)],
    "SELECT year(day) AS y, COUNT(*) FROM visits WHERE day >= DATE '2021-06-01' GROUP BY 1": [(2021,)],
    "SELECT flag, COUNT(*) FROM visits WHERE flag GROUP BY flag": [(True,)],
    "SELECT s.region, COUNT(*) FROM visits v JOIN sites s ON v.ward = s.ward WHERE s.opened < DATE '2000-01-01'"
    " GROUP BY s.region": [("north",)],
    "SELECT s.ward, s.region, COUNT(*) FROM visits v JOIN sites s ON v.ward = s.ward GROUP BY s.ward, s.region": [
        ("a", "north"), ("b", "south"), ("it's", None), ("zz", "north"),
    ],
    "SELECT v.ward, s.region, COUNT(*) FROM visits v JOIN sites s ON v.ward = s.ward GROUP BY v.ward, s.region": [
        ("a", "north"), ("b", "south"), ("it's", None),
    ],
    "SELECT v.ward, s.region, COUNT(*) FROM visits v LEFT JOIN sites s ON v.ward = s.ward WHERE v.ward = 'a'"
    " GROUP BY v.ward, s.region": [("a", "north"), ("a", None)],
    "SELECT ward, upper(ward) AS u, COUNT(*) FROM visits WHERE ward < 'c' GROUP BY ward, u": [("a", "A"), ("b", "B")],
    "SELECT ward, COUNT(*) FROM visits WHERE ward IN (SELECT name FROM wards WHERE floor = 2) GROUP BY ward": [
        ("b",), ("it's",),
    ],
    "SELECT date_trunc('month', met) AS m, COUNT(*) FROM visits WHERE met < '2021-02-01' GROUP BY m": [
        (datetime(2021, 1, 1),), (None,),
    ],
    "SELECT CAST(met AS DATE) AS d, COUNT(*) FROM visits WHERE met >= '2021-03-30 08:00:00' GROUP BY d": [
        (date(2021, 3, 30),), (date(2021, 3, 31),), (None,),
    ],
    "SELECT date_trunc('month', met) AS m, COUNT(*) FROM visits WHERE NOT (met < '2021-02-01' OR met > '2021-02-28')"
    " GROUP BY m": [(datetime(2021, 2, 1),), (None,)],
    "SELECT date_trunc('month', CAST(met AS DATE)) AS m, COUNT(*) FROM visits WHERE met BETWEEN '2021-01-31' AND"
    " '2021-02-01' GROUP BY m": [(date(2021, 1, 1),), (date(2021, 2, 1),), (None,)],
    "SELECT date_trunc('day', met) AS d, COUNT(*) FROM visits WHERE met IN ('2021-01-05 07:00:00', '2021-01-09')"
    " GROUP BY d": [(datetime(2021, 1, 5),), (datetime(2021, 1, 9),), (None,)],
    "SELECT FLOOR(cost / 100) AS c, COUNT(*) FROM visits WHERE cost > 850.5 GROUP BY c": [(8,), (9,), (10,), (None,)],
    "SELECT FLOOR((cost - 5) / 100) * 2 AS c, COUNT(*) FROM visits WHERE 250 >= cost GROUP BY c": [
        (-2,), (0,), (2,), (4,), (None,),
    ],
    "SELECT CASE WHEN cost < 10 THEN 1 WHEN cost < 50 THEN 2 ELSE 3 END AS c, COUNT(*) FROM visits WHERE cost >= 10"
    " GROUP BY c": [(2,), (3,)],
}  # fmt: skip
UNITED = (
    "SELECT {} FROM (SELECT s.ward, s.region FROM visits v JOIN sites s ON v.ward = s.ward UNION ALL"
    " SELECT s.ward, t.region FROM visits v JOIN sites s ON v.ward = s.ward JOIN sites t ON v.note = t.ward) u"
    " GROUP BY {}"
)
ALL_WARDS = [("a",), ("b",), ("it's",), ("Ω",), (None,)]
NOT_NARROWED = {
    "SELECT ward, COUNT(*) FROM visits WHERE note = 'x' GROUP BY ward": ALL_WARDS,
    "SELECT ward, COUNT(*) FROM visits WHERE ward = 'a' OR note = 'x' GROUP BY ward": ALL_WARDS,
    "SELECT ward, COUNT(*) FROM visits WHERE NOT (ward = 'a' AND note = 'x') GROUP BY ward": ALL_WARDS,
    "SELECT CASE WHEN ward = 'a' THEN 1 ELSE 2 END AS c, COUNT(*) FROM visits WHERE ward = 'zz' GROUP BY c": [
        (1,), (2,),
    ],
    "SELECT FLOOR(cost / 500) AS c, COUNT(*) FROM visits WHERE cost > 600 OR note = 'x' GROUP BY c": [
        (0,), (1,), (2,), (None,),
    ],
    "SELECT FLOOR(cost / -500) AS c, COUNT(*) FROM visits WHERE cost > 600 GROUP BY c": [(-2,), (-1,), (0,), (None,)],
    "SELECT FLOOR(cost / 500) AS c, COUNT(*) FROM visits WHERE cost > age * 100 GROUP BY c": [
        (0,), (1,), (2,), (None,),
    ],
    "SELECT FLOOR(cost / 500) AS c, COUNT(*) FROM visits WHERE NOT (cost = 600) GROUP BY c": [
        (0,), (1,), (2,), (None,),
    ],
    "SELECT v.ward, COUNT(*) FROM visits v LEFT JOIN (SELECT * FROM sites WHERE ward = 'a') s ON v.ward = s.ward"
    " GROUP BY v.ward": ALL_WARDS,
}  # fmt: skip


def _listed(text: str) -> list[tuple[object, ...]]:
    (plan,) = prepared(text, Pure(1)).plans
    return [tuple(key) for key in plan.groups]


def test_groups_that_conditions_and_public_tables_exclude_are_not_listed() -> None:
    wrong = {text: found for text, groups in NARROWED.items() if (found := _listed(text)) != groups}
    assert wrong == {}


def test_a_group_that_can_have_rows_is_listed_whatever_else_a_condition_says() -> None:
    assert {text: found for text, groups in NOT_NARROWED.items() if (found := _listed(text)) != groups} == {}


BINS = {
    "met": [
        "date_trunc('day', {})",
        "date_trunc('month', {})",
        "CAST({} AS DATE)",
        "CAST({} AS DATE) < '2021-02-01'",
        "year({})",
        "extract(decade FROM {})",
        "extract(isoyear FROM date_trunc('month', {}))",
    ],
    "cost": ["FLOOR({} / 100)", "CEIL({} * 0.03)", "ROUND(({} - 5) / 70)", "CAST({} / 100 AS INT)", "{} < 20"],
}
ENDS = {
    "met": ["TIMESTAMP '2021-02-01'", "TIMESTAMP '2021-02-01 09:30:00'", "TIMESTAMP '2021-02-01 23:59:59.999999'"],
    "cost": ["20", "100", "299.99999999999997", "300.5", "333.33333333333331"],
}
SHIFTS = {
    "met": ["", "- INTERVAL 1 MICROSECOND", "+ INTERVAL 1 MICROSECOND", "- INTERVAL 1 MONTH", "+ INTERVAL 1 MONTH"],
    "cost": ["* 1e0", "* 0.99999999999999989e0", "* 1.0000000000000002e0", "* 0.5e0", "* 0e0"],
}
TESTS = (
    *("{x} < {c}", "{x} <= {c}", "{c} < {x}", "{x} >= {c}", "{x} = {c}", "{x} IN ({c}, {c})", "NOT ({x} > {c})"),
    *("NOT ({x} < {c} OR note = 'x')", "{x} BETWEEN {c} AND {c}", "NOT ({x} BETWEEN {c} AND {c})"),
)


def _unlisted(column: str) -> list[str]:
    """The questions which leave out a group that somebody who meets the condition is in."""
    around = ", ".join(f"({end} {shift})" for end in ENDS[column] for shift in SHIFTS[column])
    rows, world, found = f"(SELECT unnest([{around}]) AS {column}, '' AS note)", World({}), []
    for turn, (bins, test) in enumerate(product(BINS[column], TESTS)):
        end = ENDS[column][turn % len(ENDS[column])]
        tail = f"WHERE {test.format(x=column, c=end)} GROUP BY b"
        listed = _listed(f"SELECT {bins.format(column)} AS b, COUNT(*) FROM visits {tail}")
        there = world.plain(f"SELECT {bins.format(column)} AS b FROM {rows} {tail}")["b"].to_pylist()
        if not {(one,) for one in there} <= set(listed):
            found.append(f"{bins} {tail}: {set(there) - {one for (one,) in listed}}")
    return found


@pytest.mark.parametrize("column", BINS)
def test_whoever_meets_a_condition_is_in_a_listed_group(column: str) -> None:
    assert _unlisted(column) == []


@pytest.mark.parametrize("column", BINS)
def test_a_planted_bug_that_takes_groups_to_end_where_conditions_do_is_seen(
    column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse_tests, "_WEAKER", coarse_tests._STRICTER)
    listing._found.cache_clear()
    assert _unlisted(column)
    listing._found.cache_clear()


def test_years_that_conditions_on_moments_exclude_are_not_listed() -> None:
    met = replace(CATALOG.table("visits").column("met"), lower=datetime(2019, 1, 1), upper=datetime(2022, 1, 1))
    visits = CATALOG.table("visits")
    columns = tuple(met if column.name == "met" else column for column in visits.columns)
    longer = CATALOG.with_table(replace(visits, columns=columns))
    found = {
        test: [
            key
            for (key,) in prepare(
                f"SELECT year(met) AS y, COUNT(*) FROM visits WHERE {test} GROUP BY y", longer, Pure(1)
            )
            .plans[0]
            .groups
        ]
        for test in (
            "met < '2021-01-01'",
            "met <= '2021-01-01'",
            "met > '2020-12-31 23:59:59.999999'",
            "met = '2020-02-03'",
        )
    }
    assert list(found.values()) == [[2019, 2020, None], [2019, 2020, 2021, None], [2021, 2022, None], [2020, None]]


def test_no_key_at_all_is_one_group() -> None:
    assert _listed("SELECT SUM(age) FROM visits GROUP BY ()") == [()]
    assert _listed("SELECT ward, SUM(age) FROM visits GROUP BY ward, ()") == ALL_WARDS


def test_a_union_lists_what_public_columns_hold_and_takes_none_for_pairs() -> None:
    assert len(_listed(UNITED.format("region, COUNT(*)", "region"))) == 3
    assert len(_listed(UNITED.format("ward, region, COUNT(*)", "ward, region"))) == 4 * 3


def test_a_row_whose_key_is_listed_is_counted_though_its_column_has_a_value_that_is_not() -> None:
    """A ward that nobody listed is in the group of all other wards."""
    text = "SELECT CASE WHEN ward = 'a' THEN 1 ELSE 2 END AS c, COUNT(*) FROM visits WHERE ward = 'zz' GROUP BY c"
    (plan,) = prepared(text, Pure(1)).plans
    ((counts,),) = exact_sums(plan, public_groups(plan), world_of({0: Person([("zz", *ROW[1:])], [], (1, True))}).run)
    assert dict(zip(plan.groups, (counts * plan.parts[0].unit).tolist(), strict=True)) == {(1,): 0, (2,): 1}


def test_more_combinations_than_can_be_tried_leave_all_groups_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"SELECT ward, kind, COUNT(*) FROM visits WHERE {A_KIND} OR (ward = 'b' AND kind = 'y') GROUP BY ward, kind"
    monkeypatch.setattr(listing, "_MOST_ROWS", 8)
    listing._found.cache_clear()
    assert len(_listed(text)) == 10
    listing._found.cache_clear()


def test_the_refusal_of_too_many_groups_says_how_many_there_are_and_why() -> None:
    said = "at most 100,000 groups, and 5 of ward × 112 of age × 732 of day make 409,920"
    with pytest.raises(QueryRefused, match=said):
        prepared("SELECT ward, age, day, COUNT(*) FROM visits GROUP BY ward, age, day", Pure(1))
    (plan,) = prepared(
        "SELECT ward, age, day, COUNT(*) FROM visits WHERE age BETWEEN 30 AND 50 GROUP BY ward, age, day", Pure(1)
    ).plans
    assert len(plan.groups) == 5 * 21 * 732


def test_a_planted_bug_that_takes_outer_joins_for_inner_ones_lists_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT v.ward, COUNT(s.ward) FROM visits v LEFT JOIN sites s ON v.ward = s.ward GROUP BY v.ward"
    assert _listed(text) == ALL_WARDS
    monkeypatch.setattr(relation, "_conditions_of_pair", lambda left, right, kind, test: (*left.conditions, test))
    assert _listed(text) != ALL_WARDS


# What is missing.


def _without_nulls() -> Catalog:
    visits = CATALOG.table("visits")
    columns = tuple(replace(column, nullable=None) for column in visits.columns)
    return CATALOG.with_table(replace(visits, columns=columns))


def test_what_is_missing_is_a_group_where_the_policy_lists_it() -> None:
    silent = _without_nulls()
    listed = silent.with_table(
        replace(
            silent.table("visits"),
            columns=tuple(
                replace(one, keys=("a", None)) if one.name == "ward" else one for one in silent.table("visits").columns
            ),
        )
    )
    text = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    plans = [prepare(text, catalog, Pure(1)).plans[0] for catalog in (silent, listed, CATALOG)]
    assert [[key for (key,) in plan.groups] for plan in plans] == [
        ["a", "b", "it's", "Ω"],
        ["a", None],
        ["a", "b", "it's", "Ω", None],
    ]
    assert [plan.listing.without for plan in plans if plan.listing is not None] == [(0,), (), ()]


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("coalesce(ward, 'none')", ["a", "b", "it's", "none", "Ω"]),
        ("CASE WHEN ward = 'a' THEN 1 END", [1, None]),
        ("ward IS NULL", [False, True]),
        ("age > 50", [False, True]),
        ("month(seen)", list(range(1, 13))),
        ("nullif(kind, 'x')", ["y", None]),
    ],
)
def test_a_key_that_is_made_of_what_is_missing_is_listed(key: str, groups: list[object]) -> None:
    text = f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY k"
    (plan,) = prepare(text, _without_nulls(), Pure(1)).plans
    assert [one for (one,) in plan.groups] == groups


def test_what_is_missing_stays_listed_through_subqueries_and_unions() -> None:
    for rows in (
        "SELECT upper(ward) AS c FROM visits UNION ALL SELECT lower(ward) AS c FROM visits",
        "SELECT MAX(ward) AS c FROM visits GROUP BY patient_id",
    ):
        text = f"SELECT c = 'a' AS k, COUNT(*) FROM ({rows}) t GROUP BY k"
        assert _listed(text) == [(False,), (True,), (None,)]
        (plan,) = prepare(text, _without_nulls(), Pure(1)).plans
        assert plan.groups == [(False,), (True,)]


def test_an_outer_join_brings_its_missing_group() -> None:
    text = "SELECT p.sex, COUNT(*) FROM visits v LEFT JOIN patients p ON p.id = v.patient_id GROUP BY p.sex"
    patients = CATALOG.table("patients")
    columns = tuple(replace(one, keys=("f", "m")) if one.name == "sex" else one for one in patients.columns)
    (plan,) = prepare(text, CATALOG.with_table(replace(patients, columns=columns)), Pure(1)).plans
    assert plan.groups == [("f",), ("m",), (None,)]


def test_a_policy_keeps_what_it_says_about_missing_values() -> None:
    for column in (
        Column("ward", ColumnType.TEXT, keys=("a", "null", None)),
        Column("ward", ColumnType.TEXT, nullable=True),
        Column("ward", ColumnType.TEXT, nullable=False),
        Column("ward", ColumnType.TEXT),
    ):
        table = Table("t", (column,), budget=Budget(1))
        assert loads(dumps(table)) == table
    for wrong in ({"keys": (None,)}, {"keys": ("a", None), "nullable": False}, {"keys": ("a", None, None)}):
        with pytest.raises(PolicyError):
            Column("ward", ColumnType.TEXT, **wrong)  # type: ignore[arg-type]


# Keys and bounds from public tables.


def _with_list(keys_from: str = "sites.ward") -> Catalog:
    visits = CATALOG.table("visits")
    columns = tuple(
        replace(one, keys=None, keys_from=keys_from, nullable=None) if one.name == "ward" else one
        for one in visits.columns
    )
    return CATALOG.with_table(replace(visits, columns=columns))


def test_keys_can_be_the_values_of_a_public_table() -> None:
    catalog, world = _with_list(), World({})
    read = PublicValues(catalog, world.run, lambda _: "1")
    for text, groups in {
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward": ["a", "b", "it's", "zz"],
        "SELECT ward, COUNT(*) FROM visits WHERE ward <> 'zz' GROUP BY ward": ["a", "b", "it's"],
    }.items():
        (plan,) = prepare(text, catalog, Pure(1), public_values=read).plans
        assert [key for (key,) in plan.groups] == groups
    (plan,) = prepare("SELECT MODE(ward) FROM visits", catalog, Pure(1), public_values=read).plans
    assert plan.choices[0].points == 4
    table = catalog.table("visits")
    assert loads(dumps(table)) == table


def test_keys_come_from_a_column_of_the_same_type_of_a_public_table() -> None:
    for wrong, said in {
        "nowhere.ward": "keys_from must name a public table",
        "patients.sex": "keys_from must name a public table",
        "sites.wing": "keys_from must name a column of sites",
        "sites.rate": "keys_from must name a column of the same type",
        "ward": "keys_from must name a public table and its column",
    }.items():
        with pytest.raises(PolicyError, match=said):
            _with_list(wrong)


def test_bounds_follow_from_the_rows_of_a_public_table() -> None:
    prices = Table("prices", (Column("ward", ColumnType.TEXT), Column("price", ColumnType.REAL)), public=True)
    catalog, world = CATALOG.with_table(prices), World({})
    world.database.execute("CREATE TABLE prices AS SELECT * FROM (VALUES ('a', 2.5), ('b', 40.0)) p(ward, price)")
    ends = PublicEnds(catalog, world.run, lambda _: "1")
    count = PublicMultiplicity(catalog, world.run, lambda _: "1")
    text = "SELECT SUM(p.price) FROM visits v JOIN prices p ON p.ward = v.ward"
    with pytest.raises(QueryRefused, match="needs public bounds"):
        prepare(text, catalog, Pure(1), count_alike=count)
    (plan,) = prepare(text, catalog, Pure(1), count_alike=count, find_ends=ends).plans
    argument = plan.block.aggregates[0].argument
    assert argument is not None
    assert argument.interval.known == (2.5, 40)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t", (1, 3)),
        ("SELECT SUM(n * 2) FROM (SELECT patient_id, COUNT(age) AS n FROM visits GROUP BY patient_id) t", (0, 6)),
        (
            (
                "SELECT SUM(n) FROM (SELECT a.patient_id, COUNT(*) AS n FROM visits a JOIN visits b USING (patient_id)"
                " GROUP BY a.patient_id) t"
            ),
            (1, 9),
        ),
        ("SELECT AVG(s) FROM (SELECT patient_id, SUM(cost) AS s FROM visits GROUP BY 1) t WHERE s <= 50.5", (0, 50.5)),
    ],
)
def test_counts_and_sums_of_a_person_have_bounds(text: str, bounds: tuple[float, float]) -> None:
    (plan,) = prepare(text, CATALOG, Pure(1), count_alike=COUNT_ALIKE).plans
    argument = plan.block.aggregates[0].argument
    assert argument is not None
    assert argument.interval.known == bounds
