"""What a policy may say of periods, in Python and in a file; each contradiction is refused in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.period import Every, TimeColumn
from discreet.catalog.policy.read import dumps, loads
from discreet.catalog.policy.write import draft
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.policies import stated_policy
from discreet.errors import PolicyError

FULL = """\
table: visits
time: {column: admitted, every: month, from: 2026-01-01, zone: Europe/Berlin, grace: 3 days}
unit: {name: patient, column: patient_id, per: month}
neighbours: add-remove-one
budget: {epsilon: 1, delta: 1e-6, per: month, lifetime: {epsilon: 8, delta: 1e-5}}
rows_per_unit: 3
columns:
  patient_id: {type: integer}
  admitted: {type: date}
  ward: {type: text, keys: [cardiology, surgery]}
"""
COLUMNS = (
    Column("patient_id", ColumnType.INTEGER),
    Column("admitted", ColumnType.DATE),
    Column("ward", ColumnType.TEXT, keys=("cardiology", "surgery")),
)
MONTHLY = TimeColumn("admitted", Every.MONTH, date(2026, 1, 1), "Europe/Berlin", 3)
TIME = {"column": "admitted", "every": "month", "from": "2026-01-01"}


def table(**facts: Any) -> Table:
    """A table by months, whose unit is a person in one of them."""
    per = {"unit": "patient_id", "unit_per": "month", "budget": {"epsilon": 1, "per": "month"}}
    return Table("visits", **({"columns": COLUMNS, "time": TIME} | per | facts))  # type: ignore[arg-type]


def by_row(**facts: Any) -> Table:
    return table(**({"unit": None, "unit_per": None, "budget": 1} | facts))


def by_person(**facts: Any) -> Table:
    return table(**({"unit_per": None, "budget": 1} | facts))


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(PolicyError) as refused:
        make()
    (problem,) = refused.value.problems
    return str(problem)


# What is said -------------------------------------------------------------------------------------------------------


def test_a_file_says_how_a_table_grows() -> None:
    assert loads(FULL) == Table(
        "visits",
        COLUMNS,
        unit="patient_id",
        unit_name="patient",
        unit_per=Every.MONTH,
        time=MONTHLY,
        budget=Budget(1, "1e-6"),
        budget_per=Every.MONTH,
        lifetime=Budget(8, "1e-5"),
        rows_per_unit=3,
    )


def test_what_is_written_is_what_was_read() -> None:
    assert dumps(loads(FULL)) == FULL


@pytest.mark.parametrize("grace", [0, 1, 2])
@pytest.mark.parametrize("every", Every)
@pytest.mark.parametrize("make", [by_row, by_person])
def test_every_length_reads_back(make: Callable[..., Table], every: Every, grace: int) -> None:
    growing = make(time=TimeColumn("admitted", every, every.start(date(2026, 1, 5)), grace=grace))
    assert loads(dumps(growing)) == growing


def test_keywords_say_the_same_as_a_file() -> None:
    rows = pa.table({"patient_id": [1], "admitted": [date(2026, 1, 2)], "ward": ["surgery"]})
    stated = stated_policy(
        rows,
        table="visits",
        time={**TIME, "zone": "Europe/Berlin", "grace": "3 days"},
        unit={"name": "patient", "column": "patient_id", "per": "month"},
        budget={"epsilon": 1, "delta": "1e-6", "per": "month", "lifetime": {"epsilon": 8, "delta": "1e-5"}},
        rows_per_unit=3,
        columns={"ward": {"keys": ["cardiology", "surgery"]}},
    )
    assert stated == loads(FULL)
    assert stated_policy(rows, table="visits", time=MONTHLY, unit="row", budget=1).time == MONTHLY


@pytest.mark.parametrize(("make", "expected"), [(table, True), (by_row, True), (by_person, False)])
def test_a_unit_is_in_one_period_for_good_unless_it_is_a_whole_person(
    make: Callable[..., Table], expected: bool
) -> None:
    assert make().is_by_period is expected
    assert not replace(make(unit_per=None, budget=1), time=None).is_by_period


def test_closed_periods_are_not_part_of_what_a_file_says() -> None:
    growing = table()
    assert growing.time is not None
    closed = replace(growing, closed=tuple(growing.time.through("2026-03")))
    assert dumps(closed) == dumps(growing)


def test_a_draft_shows_how_to_say_time() -> None:
    text = draft("visits", {"patient_id": "BIGINT", "admitted": "DATE"}, unit="row", budget="1")
    line = next(row for row in text.splitlines() if row.startswith("# time: "))
    filled = line.removeprefix("# ").replace("…", "admitted")
    grown = loads(text.replace(line, filled))
    assert grown.time == TimeColumn("admitted", Every.WEEK, date(2026, 1, 5))
    assert loads(text).time is None


# What a table refuses -----------------------------------------------------------------------------------------------

BOUNDED = Column("admitted", ColumnType.DATE, date(2020, 1, 1), date(2030, 1, 1))
REFUSED: list[tuple[Callable[..., Table], dict[str, Any], str]] = [
    (table, {"time": {**TIME, "column": "admited"}}, "time must name one of the columns, got 'admited'; did you mean"),
    (table, {"time": {**TIME, "column": "patient_id"}}, "the time column must be a date or a timestamp, got 'integer'"),
    (by_row, {"columns": (COLUMNS[0], BOUNDED)}, "the time column has no bounds, keys or default"),
    (by_row, {"columns": (replace(COLUMNS[1], keys=(date(2026, 1, 1),)),)}, "the time column has no bounds, keys or"),
    (by_row, {"columns": (replace(COLUMNS[1], keys_from="days.day"),)}, "the time column has no bounds, keys or"),
    (by_row, {"columns": (replace(COLUMNS[1], default=date(2026, 1, 1), nullable=True),)}, "the time column has no"),
    (by_row, {"budget": None, "public": True}, "a public table is taken in whole, got <time>; drop time"),
    (by_person, {"columns": (*COLUMNS[:2], replace(COLUMNS[2], constant_per_unit=True))}, "not constant for a person"),
    (by_row, {"neighbours": "replace-one"}, "a row that is replaced by another could lie in another period"),
    (table, {"time": None}, "a unit per month needs a column of the person, and time, got 'month'"),
    (table, {"unit": None}, "a unit per month needs a column of the person, and time"),
    (table, {"unit_per": "week", "budget": {"epsilon": 1, "per": "week"}}, "a unit has the length of a period, month"),
    (table, {"budget": 1}, "the budget must say for which period it is, as the unit does: month, got <none>; write {"),
    (by_person, {"budget": {"epsilon": 1, "per": "month"}}, "as the unit does: none, got 'month'; drop per"),
    (by_row, {"budget": {"epsilon": 1, "per": "month"}}, "as the unit does: none, got 'month'; drop per"),
    (table, {"unit_budget": 3}, "what a person may lose over all periods is the lifetime of the budget"),
    (by_person, {"budget": {"epsilon": 1, "lifetime": 8}}, "a lifetime is for units per period"),
    (by_row, {"budget": {"epsilon": 1, "lifetime": 8}}, "a lifetime is for units per period"),
    (table, {"budget": {"epsilon": 1, "per": "month", "lifetime": "1/2"}}, "must be within that of all periods"),
    (table, {"budget": {"epsilon": 1, "delta": "1e-6", "per": "month", "lifetime": 8}}, "and pure when it is pure"),
    (table, {"unit_per": "fortnight"}, "a period is a day, week, month, quarter or year, got 'fortnight'"),
    (table, {"budget": {"epsilon": 1, "per": "mnth"}}, "a period is a day, week, month, quarter or year, got 'mnth'"),
    (table, {"budget": {"epsilon": 1, "per": "month", "lifetime": -8}}, "epsilon must be positive"),
    (table, {"time": 7}, "time must say a column"),
]


@pytest.mark.parametrize(("make", "facts", "said"), REFUSED, ids=[said[:60] for _, _, said in REFUSED])
def test_a_table_that_contradicts_itself_about_periods_is_refused(
    make: Callable[..., Table], facts: dict[str, Any], said: str
) -> None:
    assert make()
    assert said in refusal(lambda: make(**facts))


def test_what_is_constant_in_one_period_may_be_said_of_units_in_one() -> None:
    constant = (*COLUMNS[:2], replace(COLUMNS[2], constant_per_unit=True))
    assert table(columns=constant).columns == constant


def test_a_person_in_one_period_may_be_replaced_by_herself() -> None:
    assert table(neighbours="replace-one").time is not None


def test_seen_periods_give_the_time_column_its_bounds() -> None:
    growing = table()
    assert growing.time is not None
    seen = replace(growing, closed=tuple(growing.time.through("2026-01")), columns=(COLUMNS[0], BOUNDED))
    assert seen.columns[1].bounds == (date(2020, 1, 1), date(2030, 1, 1))


# What a file refuses, and where -------------------------------------------------------------------------------------

PLACED = [
    (
        "every: month",
        "every: moth",
        "moth",
        "a period is a day, week, month, quarter or year, got 'moth'; did you mean",
    ),
    ("column: admitted", "column: admited", "admited", "time must name one of the columns"),
    ("from: 2026-01-01", "from: 2026-01-02", "2026-01-02", "time must begin with a month"),
    ("from: 2026-01-01", "from: soon", "soon", "from must be a day of the calendar"),
    ("zone: Europe/Berlin", "zone: Mars", "Mars", "zone must be the name of a time zone"),
    ("grace: 3 days", "grace: long", "long", "grace must be a number of days"),
    ("grace: 3 days", "grace: ~", "~", "grace must be filled in"),
    ("grace: 3 days", "delay: 3 days", "delay", "time has no such field, got 'delay'"),
    ("from: 2026-01-01, ", "", "time", "time must have the field from; write {column: admitted"),
    ("{column: admitted, every: month", "{column: admitted, every: [month]", "every", "every must be one value"),
    ("id, per: month", "id, per: mnth", "mnth", "got 'mnth'; did you mean 'month'?"),
    ("id, per: month", "id, pre: month", "pre", "a unit has no such field, got 'pre'"),
    ("1e-6, per: month", "1e-6, per: mnth", "mnth", "got 'mnth'; did you mean 'month'?"),
    ("1e-6, per: month", "1e-6, pre: month", "pre", "a budget has no such field, got 'pre'"),
    ("lifetime: {epsilon: 8", "lifetime: {epsilon: -8", "-8", "epsilon must be positive"),
    ("lifetime: {epsilon: 8", "lifetime: {per: year, epsilon: 8", "per: year", "a budget has no such field, got 'per'"),
    ("lifetime: {epsilon: 8", "lifetime: {epsilon: 1/2", "lifetime", "must be within that of all periods"),
    ("lifetime: {epsilon: 8, delta: 1e-5}", "lifetime: long", "long", "lifetime must have fields of its own"),
    ("  admitted: {type: date}", "  admitted: {type: dat}", "dat}", "type must be one of integer"),
    ("  admitted: {type: date}", "  admitted: {type: integer}", "admitted", "the time column must be a date"),
]


@pytest.mark.parametrize(("old", "new", "at", "said"), PLACED, ids=[new for _, new, _, _ in PLACED])
def test_a_problem_about_periods_stands_where_it_was_written(old: str, new: str, at: str, said: str) -> None:
    assert FULL.count(old) == 1
    text = FULL.replace(old, new)
    with pytest.raises(PolicyError) as refused:
        loads(text)
    problem = next(one for one in refused.value.problems if said in str(one))
    row = text.splitlines()[(problem.line or 0) - 1]
    assert row[(problem.column or 0) - 1 :].startswith(at)
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize("shape", ["time: week", "time: [week]", "time:", "time: {}"])
def test_time_of_another_shape_is_refused_on_its_line(shape: str) -> None:
    text = FULL.replace(FULL.splitlines()[1], shape)
    with pytest.raises(PolicyError) as refused:
        loads(text)
    assert {problem.line for problem in refused.value.problems} == {2}


def test_a_public_file_has_no_time() -> None:
    text = (
        "table: wards\npublic: true\ntime: {column: day, every: week, from: 2026-01-05}\ncolumns: {day: {type: date}}\n"
    )
    assert "a public table has no time" in refusal(lambda: loads(text))


# Between tables -----------------------------------------------------------------------------------------------------

PATIENTS = Table("patients", (Column("id", ColumnType.INTEGER),), unit="id", budget=Budget(3))
TO_PATIENTS = (ForeignKey("patient_id", "patients", "id"),)
LABS = (*COLUMNS[:2], Column("value", ColumnType.REAL, 0, 1))


def test_a_person_in_one_period_is_another_kind_of_unit_than_the_person() -> None:
    catalog = Catalog([PATIENTS, table(foreign_keys=TO_PATIENTS)])
    assert catalog.unit_domain("visits") == "patients.id per month"
    assert catalog.person_domain("visits") == catalog.unit_domain("patients") == "patients.id"
    assert not catalog.same_unit("visits", "patients")


def test_a_table_that_grows_by_whole_people_is_about_the_same_people() -> None:
    catalog = Catalog([PATIENTS, by_person(foreign_keys=TO_PATIENTS)])
    assert catalog.same_unit("visits", "patients")


def test_a_table_that_grows_does_not_find_its_people_in_another() -> None:
    lost = by_row(foreign_keys=TO_PATIENTS)
    assert "a table that grows by periods names the person of a row itself" in refusal(
        lambda: Catalog([PATIENTS, lost])
    )


def test_a_table_that_grows_may_lead_to_a_public_one() -> None:
    wards = Table("wards", (Column("name", ColumnType.TEXT),), public=True)
    assert len(Catalog([wards, by_row(foreign_keys=(ForeignKey("ward", "wards", "name"),))])) == 2


def test_nobody_is_found_through_a_table_that_grows() -> None:
    visits = by_person(columns=(*COLUMNS, Column("number", ColumnType.INTEGER)))
    key = ForeignKey("visit", "visits", "number")
    items = Table("items", (Column("visit", ColumnType.INTEGER),), foreign_keys=(key,), budget=Budget(1))
    said = refusal(lambda: Catalog([visits, items]))
    assert "items: a foreign key must not lead to the person through a table that grows, got 'visits'" in said


@pytest.mark.parametrize("budget", [2, {"epsilon": 1, "delta": "1e-6"}])
def test_tables_of_one_person_and_period_grant_the_same(budget: Any) -> None:
    stated = budget if isinstance(budget, dict) else {"epsilon": budget}
    labs = replace(table(budget={**stated, "per": "month"}, columns=LABS, unit_name="patient"), name="labs")
    said = refusal(lambda: Catalog([table(unit_name="patient"), labs]))
    assert "labs: tables about the same people and periods must state one budget" in said


@pytest.mark.parametrize("every", ["month", "year"])
def test_what_a_person_may_lose_over_all_periods_is_said_once(every: str) -> None:
    def stated(name: str, lifetime: Any, every: str) -> Table:
        facts: dict[str, Any] = {"time": {**TIME, "every": every}, "unit_per": every, "unit_name": "patient"}
        more = {} if lifetime is None else {"lifetime": lifetime}
        return replace(table(budget={"epsilon": 1, "per": every, **more}, **facts), name=name)

    first = stated("visits", 8, "month")
    assert len(Catalog([first, stated("labs", 8, every), stated("scans", None, every)])) == 3
    said = refusal(lambda: Catalog([first, stated("labs", 9, every)]))
    assert "labs: what a person may lose over all periods must be the same in every table" in said
    assert "visits says Pure(ε=8)" in said
