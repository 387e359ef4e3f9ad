"""Tables that grow: periods close, questions are asked about closed ones, each period pays for itself."""

from __future__ import annotations

import datetime as days
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.closes import NewAccount
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InvalidValue,
    LedgerError,
    QueryRefused,
    RequestConflict,
    StoreError,
)
from discreet.privacy.loss import Pure
from tests.curator.clinic import close

FIRST = days.date(2026, 1, 5)
WEEKLY = "SELECT date_trunc('week', admitted) AS week, ward, COUNT(*) AS n FROM visits GROUP BY 1, 2 ORDER BY 1, 2"
SCHEMA = pa.schema({"person": pa.int64(), "ward": pa.string(), "admitted": pa.date32(), "age": pa.int64()})
EXACT = 2000
"""So much ε that noise rounds to nothing."""


def visits(unit: str | None = None, **stated: Any) -> Table:
    columns = (
        Column("person", "integer"),
        Column("ward", "text", keys=("A", "B")),
        Column("admitted", "date"),
        Column("age", "integer", lower=0, upper=110),
    )
    time = {"column": "admitted", "every": "week", "from": str(FIRST)}
    return Table("visits", columns, unit=unit, **{"time": time, "budget": 2, **stated})


def by_person_and_week(**stated: Any) -> Table:
    budget = stated.pop("budget", {"epsilon": 2, "per": "week"})
    return visits("person", unit_per="week", budget=budget, rows_per_unit=3, **stated)


def rows(week: int, count: int = 20) -> pa.Table:
    """People 0 to 9, twice each, in two wards; from Monday on."""
    first = FIRST + days.timedelta(weeks=week)
    return pa.table(
        {
            "person": [k % 10 for k in range(count)],
            "ward": ["AB"[k % 2] for k in range(count)],
            "admitted": [first + days.timedelta(days=k % 7) for k in range(count)],
            "age": [20 + k for k in range(count)],
        },
        schema=SCHEMA,
    )


def opened(folder: Path, table: Table, weeks: int) -> Curator:
    """A curator with so many closed weeks."""
    curator = Curator(folder)
    curator.protect(rows(0), table)
    for week in range(1, weeks):
        curator.append("visits", rows(week), id=str(week))
    if weeks:
        curator.close("visits", through=f"2026-W{weeks + 1:02d}")
    return curator


def spent(curator: Curator) -> list[Fraction]:
    return [one.spent.epsilon for one in curator.periods("visits") if isinstance(one.spent, Pure)]


@pytest.mark.parametrize("table", [visits(), by_person_and_week()], ids=["row", "person and week"])
def test_a_weekly_question_is_answered_every_week_for_one_budget(tmp_path: Path, table: Table) -> None:
    curator = opened(tmp_path, table, 1)
    for week in range(1, 6):
        answer = curator.ask(WEEKLY, epsilon=2)
        assert answer.charged
        assert answer.table.num_rows == 2 * week
        assert not curator.ask(WEEKLY, epsilon=2).charged
        curator.append("visits", rows(week), id=str(week))
        curator.close("visits", through=f"2026-W{week + 2:02d}")
    assert spent(curator) == [2, 2, 2, 2, 2, 0]
    with pytest.raises(BudgetExceeded, match="visits in 2026-W02"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert spent(curator) == [2, 2, 2, 2, 2, 0]


def test_a_person_and_week_costs_the_person_once_for_every_week(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(budget={"epsilon": 2, "per": "week", "lifetime": 7}), 3)
    curator.ask(WEEKLY, epsilon=1)
    people = curator.ledger.accounts()["/visits.person"]
    assert people.was_spent == Pure(3)
    curator.ask("SELECT COUNT(*) FROM visits WHERE admitted < '2026-01-19'", epsilon=1)
    assert curator.ledger.accounts()["/visits.person"].was_spent == Pure(5)
    with pytest.raises(BudgetExceeded, match="what is left for the people of visits"):
        curator.ask("SELECT AVG(age) FROM visits", epsilon=1)


def test_a_lifetime_can_be_lowered_and_the_policy_says_so(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(budget={"epsilon": 2, "per": "week", "lifetime": 7}), 1)
    curator.lower("visits.person", 3)
    assert curator.catalog.table("visits").lifetime == Budget(3)
    assert Curator(tmp_path).ledger.accounts()["/visits.person"].granted == Pure(3)


def test_without_a_lifetime_what_a_person_loses_is_counted_and_said(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(), 2)
    curator.ask(WEEKLY, epsilon=2)
    budget = str(curator.budget())
    assert "counted" in budget
    assert "What one of the people of visits.person loses over all periods is counted without a limit." in budget


@pytest.mark.parametrize("before", [None, 30])
def test_a_lifetime_that_the_ledger_does_not_hold_is_refused(tmp_path: Path, before: int | None) -> None:
    first: dict[str, Any] = {"epsilon": 2, "per": "week"} | ({} if before is None else {"lifetime": before})
    curator = opened(tmp_path, by_person_and_week(budget=first), 1)
    lower = by_person_and_week(budget={"epsilon": 2, "per": "week", "lifetime": 3})
    with pytest.raises(InvalidValue, match="counted without a limit" if before is None else "counted up to ε 30"):
        curator.protect(rows(0), lower)
    with pytest.raises(InvalidValue, match="the lifetime must say no less"):
        curator.write_policy(lower)
    with pytest.raises(InvalidValue, match="the lifetime must say no less"):
        Curator(tmp_path)


def test_a_lifetime_below_what_a_table_of_the_same_people_has_is_refused(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    people = pa.table({"id": [1, 2]})
    curator.protect(people, table="patients", unit={"name": "patient", "column": "id"}, budget=20)
    table = by_person_and_week(unit_name="patient", budget={"epsilon": 2, "per": "week", "lifetime": 3})
    with pytest.raises(InvalidValue, match="counted up to ε 20"):
        curator.protect(rows(0), table)


def test_a_range_pays_for_its_weeks_alone_and_shares_them_with_other_ranges(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 4)
    some = WEEKLY.replace("GROUP", "WHERE admitted >= '2026-01-12' AND admitted < '2026-01-26' GROUP")
    assert curator.ask(some, epsilon=1).table.num_rows == 4
    assert spent(curator) == [0, 1, 1, 0]
    assert "2 of them are new: 2026-W02, 2026-W05" in " ".join(curator.explain(WEEKLY, epsilon=1).notes)
    curator.ask(WEEKLY, epsilon=1)
    assert spent(curator) == [1, 1, 1, 1]


def test_a_week_that_a_range_cuts_is_asked_about_for_itself(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(budget=2 * EXACT), 2)
    cut = WEEKLY.replace("GROUP", "WHERE admitted >= '2026-01-08' GROUP")
    answer = curator.ask(cut, epsilon=EXACT)
    assert [row["n"] for row in answer.to_rows()] == [5, 6, 10, 10]
    assert [row["n"] for row in curator.ask(WEEKLY, epsilon=EXACT).to_rows()] == [10, 10, 10, 10]
    assert spent(curator) == [2 * EXACT, EXACT]


QUESTIONS = [
    WEEKLY,
    "SELECT admitted, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT date_trunc('day', admitted) AS d, SUM(age) AS s FROM visits WHERE ward = 'A' GROUP BY 1 ORDER BY 1",
    "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits WHERE admitted BETWEEN '2026-01-07' AND '2026-01-14'",
    "SELECT date_trunc('month', admitted) AS m, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT ward, SUM(n) AS n FROM (SELECT admitted, ward, COUNT(*) AS n FROM visits GROUP BY 1, 2) GROUP BY 1 ORDER BY 1",  # noqa: E501
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("table", [visits, by_person_and_week], ids=["row", "person and week"])
def test_an_answer_is_what_plain_sql_says(tmp_path: Path, table: Any, question: str) -> None:
    is_row = table is visits
    curator = opened(tmp_path, table(budget=EXACT if is_row else {"epsilon": EXACT, "per": "week"}), 3)
    with duckdb.connect() as database:
        database.register("visits", pa.concat_tables([rows(0), rows(1), rows(2)]))
        expected = database.sql(question).to_arrow_table().to_pylist()
    found = curator.ask(question, epsilon=EXACT).to_rows()
    assert len(found) == len(expected)
    for row, truth in zip(found, expected, strict=True):
        assert all(is_near(row[name], truth[name]) for name in truth)


def is_near(value: Any, truth: Any) -> bool:
    """Equal but for what is left of noise; days are days, whether SQL calls them moments or not."""
    if isinstance(truth, days.date):
        return str(value)[:10] == str(truth)[:10]
    return bool(value == truth if isinstance(truth, str) else float(value) == pytest.approx(float(truth), abs=4))


def test_people_are_counted_within_a_week(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(budget={"epsilon": EXACT, "per": "week"}), 2)
    question = "SELECT date_trunc('week', admitted) AS week, COUNT(DISTINCT person) AS n FROM visits GROUP BY 1"
    assert [row["n"] for row in curator.ask(question, epsilon=1000).to_rows()] == [10, 10]
    each = (
        "SELECT week, AVG(n) AS mean FROM (SELECT person, date_trunc('week', admitted) AS week, COUNT(*) AS n"
        " FROM visits GROUP BY 1, 2) GROUP BY week"
    )
    assert [row["mean"] for row in curator.ask(each, epsilon=500).to_rows()] == [pytest.approx(2, abs=0.1)] * 2


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("SELECT COUNT(DISTINCT person) FROM visits", "people are counted within one period"),
        (
            "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
            "a row of one person over several weeks",
        ),
        ("SELECT COUNT(*) FROM visits v JOIN visits w ON v.person = w.person", "meet within one period"),
    ],
)
def test_what_would_make_several_units_of_a_person_is_refused(tmp_path: Path, question: str, rule: str) -> None:
    curator = opened(tmp_path, by_person_and_week(), 2)
    with pytest.raises(QueryRefused, match=rule):
        curator.explain(question, epsilon=1)


def test_bounds_that_follow_the_period_are_refused_before_the_charge(tmp_path: Path) -> None:
    table = visits(time={"column": "admitted", "every": "week", "from": "2025-12-22"})
    open_age = tuple(Column(one.name, one.type, keys=one.keys) if one.name == "age" else one for one in table.columns)
    curator = opened(tmp_path, Table(**{**vars(table), "columns": open_age}), 0)
    curator.close("visits", through="2026-W02")
    question = (
        "SELECT date_trunc('week', admitted) AS week, SUM(age) AS s FROM visits"
        " WHERE age BETWEEN 0 AND extract(year FROM admitted) GROUP BY 1"
    )
    with pytest.raises(QueryRefused, match="values must have the same bounds in every period"):
        curator.ask(question, epsilon=1)
    assert spent(curator) == [0, 0, 0]


def test_within_one_week_a_person_is_one_unit(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(), 2)
    first = "FROM visits WHERE admitted < '2026-01-12'"
    curator.explain(f"SELECT COUNT(DISTINCT person) {first}", epsilon=1)
    curator.explain(f"SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n {first} GROUP BY person)", epsilon=1)


def test_open_periods_are_not_read_and_the_refusal_says_which_are(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 0)
    with pytest.raises(QueryRefused, match=r"none is; the first is 2026-W02; it is due on 2026-01-12"):
        curator.ask(WEEKLY, epsilon=1)
    curator.close("visits", through="2026-W02")
    curator.append("visits", rows(1), id="1")
    with pytest.raises(QueryRefused, match=r"2026-W02 to 2026-W02 are closed; look at the conditions on admitted"):
        curator.ask(WEEKLY.replace("GROUP", "WHERE admitted > '2026-01-13' GROUP"), epsilon=1)
    assert curator.ask(WEEKLY, epsilon=1).table.num_rows == 2


def test_current_date_is_the_end_of_the_last_closed_period(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 3)
    question = "SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted >= CURRENT_DATE - 7 GROUP BY 1 ORDER BY 1"
    answer = curator.ask(question, epsilon=1)
    assert answer.to_rows()[0]["admitted"] == days.date(2026, 1, 19)
    assert "CURRENT_DATE is 2026-01-26, the end of the last closed period." in answer.notes
    assert spent(curator) == [0, 0, 1]


def test_a_dashboard_of_days_that_is_loaded_often_pays_for_each_week_once(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 5)
    question = "SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted >= CURRENT_DATE - 28 GROUP BY 1"
    for _ in range(5):
        curator.ask(question, epsilon=1)
    curator.append("visits", rows(5), id="5")
    curator.close("visits", through="2026-W07")
    for _ in range(5):
        curator.ask(question, epsilon=1)
    assert spent(curator) == [0, 1, 1, 1, 1, 1]


def test_all_periods_are_charged_or_none(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 3)
    curator.ask("SELECT COUNT(*) FROM visits WHERE admitted >= '2026-01-19'", epsilon=2)
    with pytest.raises(BudgetExceeded, match="2026-W04"):
        curator.ask(WEEKLY, epsilon=1)
    assert spent(curator) == [0, 0, 2]


def test_a_request_id_stands_for_all_its_periods(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    first = curator.ask(WEEKLY, epsilon=1, request="r1")
    again = curator.ask(WEEKLY, epsilon=1, request="r1")
    assert again.table.equals(first.table)
    assert not again.charged
    assert spent(curator) == [1, 1]


def test_a_request_id_stands_for_one_question_in_whatever_periods(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    curator.ask(WEEKLY.replace("GROUP", "WHERE admitted < '2026-01-12' GROUP"), epsilon=1, request="r1")
    for other in (WEEKLY.replace("GROUP", "WHERE admitted >= '2026-01-12' GROUP"), "SELECT COUNT(*) FROM visits"):
        with pytest.raises(RequestConflict, match="a request id must stand for one question"):
            curator.ask(other, epsilon=1, request="r1")
    assert spent(curator) == [1, 0]


def test_a_request_that_is_repeated_after_a_close_is_the_same_answer_and_no_charge(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    lately = WEEKLY.replace("GROUP", "WHERE admitted >= CURRENT_DATE - 7 GROUP")
    first = curator.ask(WEEKLY, epsilon=1, request="r1")
    curator.ask(lately, epsilon=1, request="r2")
    curator.append("visits", rows(2), id="2")
    curator.close("visits", through="2026-W04")
    again = curator.ask(WEEKLY, epsilon=1, request="r1")
    assert again.table.equals(first.table)
    assert not again.charged
    with pytest.raises(RequestConflict, match="the periods that it stands for"):
        curator.ask(lately, epsilon=1, request="r2")
    assert spent(curator) == [1, 1, 0]
    assert curator.ask(WEEKLY, epsilon=1, request="r3").table.num_rows == 6


def test_a_request_that_could_not_be_paid_stands_for_nothing(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    with pytest.raises(BudgetExceeded):
        curator.ask(WEEKLY, epsilon=3, request="r1")
    assert curator.ask(WEEKLY, epsilon=1, request="r1").charged


def test_a_batch_reads_its_periods_together(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    answers = curator.ask_all([WEEKLY, "SELECT COUNT(*) FROM visits"], epsilon=1)
    assert [one.table.num_rows for one in answers] == [4, 1]
    assert spent(curator) == [1, 1]


def test_a_rehearsal_has_every_period(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    assert curator.rehearse(WEEKLY, epsilon=1).table.num_rows == 4
    assert spent(curator) == [0, 0]


def test_certificates_say_what_every_period_was_charged(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    facts = curator.ask(WEEKLY, epsilon=1).certificate
    assert list(facts["periods"]) == ["2026-W02", "2026-W03"]
    assert set(facts["charged"]["prices"]) == {"visits//2026-W02", "visits//2026-W03"}


def test_an_analyst_has_a_cap_of_their_own_in_every_period(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(analysts={"ann": 1}), 2)
    curator.ask(WEEKLY, epsilon=1, analyst="ann")
    with pytest.raises(BudgetExceeded, match="visits/ann"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1, analyst="ann")
    curator.allow("visits", "bob", "0.5")
    with pytest.raises(BudgetExceeded, match="visits/bob"):
        curator.ask("SELECT AVG(age) FROM visits", epsilon=1, analyst="bob")
    curator.ask("SELECT AVG(age) FROM visits", epsilon="0.5", analyst="bob")


def test_two_tables_about_one_person_and_week_share_the_budget_of_that_week(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(unit_name="patient"), 1)
    other = by_person_and_week(unit_name="patient")
    curator.protect(rows(0), Table(**{**vars(other), "name": "labs"}))
    curator.close("labs", through="2026-W02")
    curator.ask("SELECT COUNT(*) FROM visits", epsilon=2)
    with pytest.raises(BudgetExceeded, match="the people of labs in 2026-W02, ε 0"):
        curator.ask("SELECT COUNT(*) FROM labs", epsilon=1)


def test_a_table_that_grows_and_one_that_does_not_share_the_budget_of_their_people(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits("person", unit_name="patient", rows_per_unit=3, budget=2), 1)
    whole = visits("person", unit_name="patient", rows_per_unit=3, budget=2, time=None)
    curator.protect(rows(0), Table(**{**vars(whole), "name": "patients"}))
    curator.ask("SELECT COUNT(*) FROM patients", epsilon=2)
    with pytest.raises(BudgetExceeded, match="the people of visits, ε 0"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)


def test_what_people_are_granted_in_all_holds_where_their_table_grows(tmp_path: Path) -> None:
    people = visits("person", unit_name="patient", unit_budget=1, rows_per_unit=3, budget=1)
    assert "/patient" in opened(tmp_path, people, 1).ledger.accounts()


def test_people_of_a_table_for_good_hold_a_table_by_weeks_to_what_they_have(tmp_path: Path) -> None:
    whole = visits("person", unit_name="patient", rows_per_unit=3, budget=2, time=None)
    curator = Curator(tmp_path)
    curator.protect(rows(0), Table(**{**vars(whole), "name": "patients"}))
    curator.ask("SELECT COUNT(*) FROM patients", epsilon="1.5")
    curator.protect(rows(0), by_person_and_week(unit_name="patient"))
    curator.close("visits", through="2026-W02")
    with pytest.raises(BudgetExceeded, match=r"the people of visits.*ε 0\.5"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    curator.ask("SELECT COUNT(*) FROM visits", epsilon="0.5")
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT AVG(age) FROM patients", epsilon="0.1")


def test_a_close_that_was_cut_off_is_finished_by_whoever_opens_next(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 1)
    curator.append("visits", rows(1), id="1")
    table, second = curator.catalog.table("visits"), visits().time.named("2026-W03")  # type: ignore[union-attr]
    root = curator.engine.prepare_close(table, second, catalog=curator.catalog)
    assert [one.state for one in Curator(tmp_path).periods("visits")][:2] == ["closed", "due"]
    base = curator.ledger.accounts()["visits"]
    accounts = {"visits//2026-W03": NewAccount(base.allowance, base.places)}
    curator.ledger.close_period("visits", second, root, accounts)
    again = Curator(tmp_path)
    assert again.engine.closing("visits") is None
    assert again.ask(WEEKLY, epsilon=1).table.num_rows == 4


def test_an_older_store_is_not_read_with_a_newer_ledger(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 1)
    manifest = tmp_path / "store" / "manifest.json"
    before = manifest.read_bytes()
    curator.append("visits", rows(1), id="1")
    curator.close("visits", through="2026-W03")
    manifest.write_bytes(before)
    with pytest.raises(StoreError, match="must hold what was closed, up to 2026-W03"):
        Curator(tmp_path)
    with pytest.raises(DiscreetError):
        curator.ask(WEEKLY, epsilon=1)


@pytest.mark.parametrize(("was", "now"), [("every: week", "every: day"), ("from: '2026-01-05'", "from: '2026-01-12'")])
def test_a_policy_with_other_periods_than_those_that_closed_is_refused(tmp_path: Path, was: str, now: str) -> None:
    opened(tmp_path, visits(), 2)
    policy = tmp_path / "policies" / "visits.yaml"
    text = policy.read_text()
    policy.write_text(text.replace(was, now).replace(was.replace("'", ""), now.replace("'", "")))
    assert policy.read_text() != text
    with pytest.raises(LedgerError, match="time must stay as it was, with periods from 2026-W02 to 2026-W03"):
        Curator(tmp_path)


def test_a_policy_that_grows_no_more_is_refused(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    (line,) = [one for one in (tmp_path / "policies" / "visits.yaml").read_text().splitlines() if "time:" in one]
    policy = tmp_path / "policies" / "visits.yaml"
    policy.write_text(policy.read_text().replace(f"{line}\n", ""))
    with pytest.raises(LedgerError, match="time must stay as it was"):
        curator.ask(WEEKLY, epsilon=1)


def test_a_newer_store_is_not_read_with_a_ledger_from_before_its_first_close(tmp_path: Path) -> None:
    curator = opened(tmp_path / "kept", visits("person", rows_per_unit=3), 0)
    close(curator)
    shutil.copytree(tmp_path / "kept", tmp_path / "older")
    curator = Curator(tmp_path / "kept")
    curator.close("visits", through="2026-W02")
    close(curator)
    shutil.copytree(tmp_path / "kept" / "store", tmp_path / "older" / "store", dirs_exist_ok=True)
    with pytest.raises(StoreError, match="the ledger must know every period that the store has closed"):
        Curator(tmp_path / "older")


def test_a_table_that_grows_is_appended_to_and_not_taken_in_again(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 1)
    curator.protect(rows(0), visits())  # the same rows: nothing happens
    with pytest.raises(InvalidValue, match="an append of this id"):
        curator.protect(rows(1), visits())
    with pytest.raises(InvalidValue, match="grows by periods stays so"):
        curator.protect(rows(1), visits(time=None))


def test_who_was_forgotten_is_gone_after_the_next_close_and_what_was_asked_stays_free(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(budget={"epsilon": 2 * EXACT, "per": "week"}), 1)
    question = "SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n FROM visits GROUP BY 1"
    assert curator.ask(question, epsilon=EXACT).to_rows()[0]["n"] == 20
    curator.forget("visits", 3)
    curator.append("visits", rows(1), id="1")
    assert not curator.ask(question, epsilon=EXACT).charged
    curator.close("visits", through="2026-W03")
    found = curator.ask(question, epsilon=EXACT).to_rows()
    assert [row["n"] for row in found] == [20, 18]
    assert curator.ask(f"{question} HAVING COUNT(*) > 0", epsilon=EXACT).to_rows()[0]["n"] in (18, 20)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Curator:
    return opened(tmp_path_factory.mktemp("year"), visits(budget=1000), 8)


MOMENTS = st.dates(FIRST - days.timedelta(days=3), FIRST + days.timedelta(weeks=9))
CONDITIONS = st.recursive(
    st.builds(
        "{} {} DATE '{}'".format,
        st.sampled_from(["admitted", "date_trunc('week', admitted)", "date_trunc('month', admitted)"]),
        st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]),
        MOMENTS,
    )
    | st.builds("admitted BETWEEN '{}' AND '{}'".format, MOMENTS, MOMENTS)
    | st.builds("extract(week FROM admitted) = {}".format, st.integers(1, 11))
    | st.builds("admitted IN (DATE '{}', DATE '{}')".format, MOMENTS, MOMENTS)
    | st.just("ward = 'A'"),
    lambda inner: (
        st.builds("({} AND {})".format, inner, inner)
        | st.builds("({} OR {})".format, inner, inner)
        | st.builds("(NOT {})".format, inner)
    ),
    max_leaves=5,
)


@given(condition=CONDITIONS)
@settings(max_examples=60, deadline=None)
def test_every_row_that_meets_a_condition_is_in_a_period_that_is_read(year: Curator, condition: str) -> None:
    everything = pa.concat_tables([rows(week) for week in range(8)])
    with duckdb.connect() as database:
        database.register("visits", everything)
        by_week = f"SELECT date_trunc('week', admitted), COUNT(*) FROM visits WHERE {condition} GROUP BY 1"
        truth = dict(database.sql(by_week).fetchall())
        [(total,)] = database.sql(f"SELECT COUNT(*) FROM visits WHERE {condition}").fetchall()
    try:
        question = year._planner.question(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", 1)
    except QueryRefused:
        assert total == 0, "refused, as it reads no period"
        return
    read = {name for plan in question.plans for name in plan.periods}
    weekly = visits().time
    assert weekly is not None
    assert {weekly.period_of(moment).name for moment in truth} <= read
    divided = year._planner.question(WEEKLY.replace("GROUP", f"WHERE {condition} GROUP"), 1)
    asked = {name for piece in divided.asked for plan in piece.plans for name in plan.periods}
    assert asked == read
