"""Attacks on the promise and on the budget that worked once, each with the defence that stopped it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import write
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import InvalidInput, InvalidValue, LedgerError, StoreError
from discreet.privacy.neighbours import Neighbours
from discreet.query.run.contribution_bounds import write_statements
from discreet.query.run.measure import exact_sums, public_groups

INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT

VISITS = Table(
    "visits",
    (
        Column("person", INTEGER),
        Column("ward", TEXT, keys=("A", "B"), constant_per_unit=True),
        Column("cost", REAL, lower=0, upper=1000),
    ),
    unit="person",
    budget=Budget(10),
)
SURVEY = Table(
    "survey", (Column("cost", REAL, lower=0, upper=1000), Column("age", INTEGER, lower=0, upper=100)), budget=Budget(10)
)


def rows(*each: tuple[Any, ...], names: tuple[str, ...] = ("person", "ward", "cost")) -> pa.Table:
    return pa.table({name: [row[place] for row in each] for place, name in enumerate(names)})


def opened(folder: Path, table: Table, data: pa.Table) -> Curator:
    curator = Curator(folder)
    curator.protect(data, table)
    return curator


def with_old_policies(curator: Curator) -> Curator:
    """One that asks between the moment when others replaced the rows and the moment when they write the policy."""
    stamp = curator._policies.stamp()
    curator._policies.stamp = lambda: stamp  # type: ignore[method-assign]
    return curator


def spent(curator: Curator, name: str) -> Any:
    return curator.budget()[name]["spent"]


def integers(curator: Curator, sql: str) -> tuple[int, list[int]]:
    """What is said about how far a unit moves the only part of a question, and its integers before noise."""
    [plan] = curator._planner.question(sql, 1).plans
    [priced] = plan.parts
    [sums] = exact_sums(plan, public_groups(plan), curator.engine.snapshot().run)
    return priced.l1_sensitivity, [int(number) for found in sums for number in found]


# Sensitivity.


@pytest.mark.parametrize("condition", ["a.person = b.person AND a.n = b.n + 1", "a.person = b.person"])
def test_a_full_join_that_keeps_both_rows_of_a_person_apart_counts_the_person_once(
    condition: str, tmp_path: Path
) -> None:
    one_each = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person)"
    curator = opened(tmp_path, VISITS, rows((1, "A", 1.0), (2, "A", 2.0), (3, "B", 3.0)))
    moves, [count] = integers(curator, f"SELECT COUNT(*) FROM {one_each} a FULL JOIN {one_each} b ON {condition}")
    assert count <= 3 * moves


def test_squares_of_single_rows_never_leave_their_type(tmp_path: Path) -> None:
    curator = opened(tmp_path, SURVEY, pa.table({"cost": [1000.0, 0.0, 999.7], "age": [1, 2, 3]}))
    moves, parts = integers(curator, "SELECT VAR_POP(cost) FROM survey")
    assert sum(parts) == 3 * moves


def test_rows_of_equal_keys_are_one_whichever_zero_they_were_spelled_with(tmp_path: Path) -> None:
    table = replace(VISITS, budget=Budget(10, "1e-6", "5e-7"))
    curator = opened(tmp_path, table, rows((1, "A", 5.0), (1, "A", 3.0)))
    signed = "CASE WHEN cost = 5 THEN -1.0 * (cost - 5) ELSE cost - cost END"  # -0.0 and 0.0
    plan = curator._planner.question(f"SELECT {signed} AS zero, COUNT(DISTINCT person) FROM visits GROUP BY zero", 1)
    [statement] = write_statements(plan.plans[0])
    text, parameters = statement
    spelled = f"SELECT CAST(k0 AS VARCHAR) AS zero FROM ({text})"
    assert curator.engine.run(spelled, parameters)["zero"].to_pylist() == ["0.0"]


# Parallel composition: nobody is charged as somebody else.


def test_another_process_cannot_take_away_what_keeps_people_apart(tmp_path: Path) -> None:
    first = with_old_policies(opened(tmp_path, VISITS, rows((1, "A", 1.0), (2, "B", 1.0))))
    changing = [replace(column, constant_per_unit=False) for column in VISITS.columns]
    Curator(tmp_path).protect(rows((1, "A", 1.0), (1, "B", 1.0)), replace(VISITS, columns=tuple(changing)))
    first.is_pinned = True  # as if it had planned before that
    with pytest.raises(StoreError, match="constant_per_unit of ward"):
        first.ask("SELECT COUNT(*) FROM visits WHERE ward = 'A'", 1)
    first.ask("SELECT COUNT(*) FROM visits", 1)
    assert str(spent(first, "visits").epsilon) == "1"


def test_moving_values_elsewhere_makes_no_new_people(tmp_path: Path) -> None:
    curator = opened(tmp_path, SURVEY, pa.table({"cost": [1.0], "age": [150]}))
    curator.ask("SELECT COUNT(*) FROM survey WHERE age = 100", 1)  # 150 was moved to 100
    cost, age = SURVEY.columns
    write(replace(SURVEY, columns=(cost, replace(age, upper=200))), tmp_path / "policies" / "survey.yaml")
    later = Curator(tmp_path)
    later.ask("SELECT COUNT(*) FROM survey WHERE age = 150", 1)
    assert spent(later, "survey").epsilon == 2


def test_replacing_a_person_within_the_keys_of_one_question_is_paid_once(tmp_path: Path) -> None:
    table = replace(VISITS, neighbours=Neighbours.REPLACE_ONE)
    curator = opened(tmp_path, table, rows((1, "A", 1.0), (2, "B", 1.0)))
    curator.ask("SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'B')", 1)
    assert spent(curator, "visits").epsilon == 1
    curator.ask("SELECT COUNT(*) FROM visits WHERE ward = 'A'", 1)
    curator.ask("SELECT COUNT(*) FROM visits WHERE ward = 'B'", 1)
    assert spent(curator, "visits").epsilon == 3
    several = ["SELECT SUM(cost) FROM visits WHERE ward = 'A'", "SELECT SUM(cost) FROM visits WHERE ward = 'B'"]
    curator.ask_all([*several, "SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'C')"], 1)
    assert spent(curator, "visits").epsilon == 4


# Whose rows they are, and in which terms they are paid for.


def test_foreign_keys_cannot_give_rows_to_other_people(tmp_path: Path) -> None:
    people = Table("people", (Column("id", INTEGER),), unit="id", budget=Budget(10))
    notes = Table("notes", (Column("person", INTEGER), Column("x", INTEGER, lower=0, upper=1)), budget=Budget(10))
    curator = opened(tmp_path, people, pa.table({"id": [1, 2]}))
    curator.protect(pa.table({"person": [1, 1], "x": [1, 1]}), notes)
    led = replace(notes, foreign_keys=(ForeignKey("person", "people", "id"),))
    with pytest.raises(InvalidValue, match="whose rows they are"):
        curator.protect(pa.table({"person": [1, 1], "x": [1, 1]}), led)


def test_rows_of_other_people_than_the_policy_says_are_not_measured(tmp_path: Path) -> None:
    people = Table("people", (Column("id", INTEGER),), unit="id", budget=Budget(10))
    notes = Table("notes", (Column("person", INTEGER), Column("x", INTEGER, lower=0, upper=1)), budget=Budget(10))
    first = opened(tmp_path, people, pa.table({"id": [1, 2]}))
    first.protect(pa.table({"person": [1, 1], "x": [1, 1]}), notes)
    with_old_policies(first)
    (tmp_path / "policies" / "notes.yaml").unlink()
    led, other = replace(notes, foreign_keys=(ForeignKey("person", "people", "id"),)), Curator(tmp_path)
    data = pa.table({"person": [1, 1], "x": [1, 1]})
    with pytest.raises(InvalidInput, match="whose rows they are must stay as it was, rows of notes"):
        other.protect(data, led)
    other.engine.take_in(led, data, catalog=other.catalog.with_table(led))
    first.is_pinned = True  # as if it had planned before that
    with pytest.raises(StoreError, match="the unit differs"):
        first.ask("SELECT COUNT(*) FROM notes", 1)


@pytest.mark.parametrize("sql", ["SELECT * FROM visits", "SELECT ward, COUNT(*) FROM visits GROUP BY ward"])
def test_rows_that_were_public_once_are_not_shown_when_they_are_somebodys_now(sql: str, tmp_path: Path) -> None:
    data = rows((1, "A", 1.0))
    first = with_old_policies(opened(tmp_path, Table("visits", VISITS.columns, public=True), data))
    (tmp_path / "policies" / "visits.yaml").unlink()
    Curator(tmp_path).protect(data, VISITS)
    first.is_pinned = True  # as if it had planned before that
    with pytest.raises(StoreError, match="public differs"):
        first.ask(sql, 1)


@pytest.mark.parametrize("is_edited", [False, True])
def test_an_account_of_one_kind_pays_no_prices_of_another(is_edited: bool, tmp_path: Path) -> None:
    opened(tmp_path, VISITS, rows((1, "A", 1.0)))
    policy, other = tmp_path / "policies" / "visits.yaml", replace(VISITS, budget=Budget(10, "1e-6"))
    policy.unlink()
    if is_edited:
        write(other, policy)
    with pytest.raises(LedgerError, match="of the kind that the ledger knows"):
        Curator(tmp_path).protect(rows((1, "A", 1.0)), other)


def test_an_account_that_counts_in_other_terms_than_it_was_opened_in_is_not_believed(tmp_path: Path) -> None:
    opened(tmp_path, VISITS, rows((1, "A", 1.0))).ledger.close()
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as file, file:
        (made,) = file.execute("SELECT sql FROM sqlite_master WHERE name = 'accounts_stay'").fetchone()
        file.execute("DROP TRIGGER accounts_stay")
        file.execute("UPDATE account_2 SET measure = 'concentrated'")
        file.execute(made)
    assert verify(tmp_path).problems == ["account visits is not what the records say"]


# Nothing is charged for an answer that cannot come.


def test_rows_per_person_may_be_grouped_by_what_is_computed_with_constants(tmp_path: Path) -> None:
    curator = opened(tmp_path, VISITS, rows((1, "A", 1.0), (1, "A", 9.0), (2, "B", 3.0)))
    dear = "CASE WHEN cost > 2 THEN 'dear' ELSE 'cheap' END"
    each = f"SELECT person, {dear} AS kind, COUNT(*) AS n FROM visits GROUP BY person, {dear}"
    assert integers(curator, f"SELECT COUNT(*) FROM ({each}) p") == (2**16, [2 * 2**16])


# Stored answers.


def test_an_answer_over_an_older_public_table_is_not_served_again(tmp_path: Path) -> None:
    public = Table("floors", (Column("ward", TEXT), Column("floor", TEXT, keys=("low", "high"))), public=True)
    curator = opened(tmp_path, public, pa.table({"ward": ["A", "B"], "floor": ["low", "high"]}))
    curator.protect(rows(*((k, "A", 1.0) for k in range(500))), VISITS)
    sql = "SELECT floor, COUNT(*) AS n FROM visits JOIN floors ON visits.ward = floors.ward GROUP BY floor"

    def counted() -> Mapping[str, float]:
        return {row["floor"]: row["n"] for row in curator.ask(sql, 5).to_rows()}

    assert counted()["low"] > 400
    curator.protect(pa.table({"ward": ["A", "B"], "floor": ["high", "low"]}), public)
    assert counted()["high"] > 400
