"""A policy stated in the call that takes the data in."""

from __future__ import annotations

import dataclasses
import inspect
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.curator.policies import StatedColumn, stated_policy
from discreet.errors import DiscreetError, InvalidValue
from discreet.privacy.loss import Pure
from tests.catalog.policy_page import ELSEWHERE

ROWS = {"patient_id": [1, 1, 2, 3], "ward": ["a", "b", "a", "a"], "age": [30, 31, 50, 70]}
FACTS: dict[str, Any] = {
    "unit": "patient_id",
    "budget": Budget(3),
    "rows_per_unit": 2,
    "columns": {"ward": {"keys": ["a", "b"]}, "age": {"lower": 0, "upper": 110}},
}


def _sources(folder: Path) -> list[Any]:
    table = pa.table(ROWS)
    pq.write_table(table, folder / "visits.parquet")
    return [folder / "visits.parquet", str(folder / "visits.parquet"), table, pd.DataFrame(ROWS), pl.DataFrame(ROWS)]


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.some(2)
def test_every_source_with_types_can_be_protected_in_one_call(tmp_path: Path, kind: int) -> None:
    source = _sources(tmp_path)[kind]
    curator = Curator(tmp_path / "curator")
    more = {} if kind < 2 else {"table": "visits"}
    table = curator.protect(source, **FACTS, **more)
    assert [column.type for column in table.columns] == [ColumnType.INTEGER, ColumnType.TEXT, ColumnType.INTEGER]
    assert curator.ask("SELECT ward, AVG(age) AS a FROM visits GROUP BY ward", epsilon=1).table.num_rows == 2
    assert Curator(tmp_path / "curator").catalog.table("visits") == table


def test_the_plain_way_to_say_it_is_taken(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "visits.parquet")
    curator = Curator(tmp_path / "curator")
    made = curator.protect(
        tmp_path / "visits.parquet",
        unit="patient_id",
        budget=3,
        columns={"age": (0, np.int64(110))},
        analysts={"ann": 1},
    )
    assert made.column("age").bounds == (0, 110)
    assert (made.budget, made.analysts) == (Budget(3), {"ann": Budget(1)})
    assert curator.allow("visits", "bob", 2).analysts["bob"] == Budget(2)
    assert curator.allow("visits", "bob", {"epsilon": "5/2"}).analysts["bob"] == Budget("5/2")


@pytest.mark.parametrize(
    "facts",
    [
        {"budget": 10_000},
        {"budget": {"epsilon": 6_399, "delta": "1e-6"}},
        {"unit": {"column": "patient_id", "name": "patient", "budget": "1e6"}},
    ],
)
def test_a_budget_that_accounts_cannot_count_is_refused_and_never_cut(facts: dict[str, Any], tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    with pytest.raises(InvalidValue, match=r"at most 6,398, .* got <[0-9,e+]+>; state a lower one"):
        curator.protect(pa.table(ROWS), table="visits", **(FACTS | facts))
    assert not list(curator.catalog)
    assert not curator.ledger.accounts()
    curator.protect(pa.table(ROWS), table="visits", **(FACTS | {"budget": 6_398}))
    assert curator.ledger.accounts()["visits"].allowance.granted == Pure(6_398)


def test_a_policy_that_could_not_be_read_again_is_refused_before_it_is_written(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    many = {"ward": {"keys": [f"ward {k:06d}" for k in range(80_000)]}}
    with pytest.raises(InvalidValue, match=r"at most 1 MiB, got <.* keys_from: "):
        curator.protect(pa.table(ROWS), table="visits", **(FACTS | {"columns": many}))
    assert not list(Curator(tmp_path).catalog)


def test_dates_may_be_written_as_text_and_foreign_keys_as_their_fields(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    days = pa.table({"person": [1], "day": [date(2024, 5, 1)]})
    made = curator.protect(days, table="days", unit="person", budget=1, columns={"day": ("2024-01-01", "2024-12-31")})
    assert made.column("day").bounds == (date(2024, 1, 1), date(2024, 12, 31))
    key = {"column": "person", "table": "days", "other_column": "person"}
    orders = curator.protect(pa.table({"person": [1]}), table="orders", budget=1, foreign_keys=[key])
    assert orders.foreign_keys == (ForeignKey("person", "days", "person"),)


def test_a_column_of_the_name_row_must_be_told_from_each_row(tmp_path: Path) -> None:
    rows = pa.table({"row": [1, 1]})
    with pytest.raises(DiscreetError, match="there is a column of the name row too"):
        Curator(tmp_path).protect(rows, table="t", unit="row", budget=1)
    assert stated_policy(rows, table="t", unit={"column": "row"}, budget=1).unit == "row"
    assert stated_policy(rows, table="t", unit={"each": "row"}, budget=1).unit is None


def test_editors_and_type_checkers_see_every_field_of_a_policy() -> None:
    seen = inspect.signature(Curator.protect).parameters
    fields = {"table" if field.name == "name" else field.name for field in dataclasses.fields(Table)}
    assert fields - ELSEWHERE <= set(seen)
    assert not [name for name, one in seen.items() if one.kind is one.VAR_KEYWORD]
    facts = {field.name for field in dataclasses.fields(Column)} - {"name"}
    assert facts == set(StatedColumn.__annotations__)
    with pytest.raises(TypeError, match="rows_per_units"):
        Curator.protect(None, None, rows_per_units=3)  # type: ignore[call-arg]


def test_bounds_of_a_csv_column_need_its_type(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("id,age\n1,2\n")
    with pytest.raises(DiscreetError, match=r'a CSV file states no types.*write {"type": "integer", "lower": 0'):
        Curator(tmp_path).protect(tmp_path / "visits.csv", unit="id", budget=1, columns={"age": (0, 110)})


def test_a_csv_states_no_types_so_the_owner_does(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    columns = {"patient_id": "integer", "age": {"type": "integer", "lower": 0, "upper": 110}}
    table = Curator(tmp_path / "curator").protect(path, unit="row", budget=Budget(1), columns=columns)
    assert table.unit is None
    assert [column.type for column in table.columns] == [ColumnType.INTEGER, ColumnType.TEXT, ColumnType.INTEGER]


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"unit": None}, "whose privacy is protected must be said"),
        ({"columns": {"agee": {"lower": 0}}}, "there is no such column, got 'agee'; did you mean 'age'"),
        ({"columns": {"age": {"lwer": 0}}}, "a column has no such fact, got 'lwer'; did you mean 'lower'"),
        ({"columns": {"age": [0, 110]}}, r"must be clear, got \[0, 110\]; write \(0, 110\) for bounds"),
        ({"columns": {"age": (0, 50, 110)}}, "what is public about a column must be clear"),
        ({"columns": {"age": 110}}, "visits.age: what is public about a column must be clear, got 110; write"),
        ({"columns": {"ward": {"keys": "ab"}}}, "keys must be a list of values, got 'ab'; write"),
        ({"columns": {"ward": {"keys": 5}}}, "keys must be a list of values, got 5"),
        ({"columns": {"ward": ("a", "b")}}, "only numbers, dates and timestamps have bounds"),
        ({"columns": {"age": "number"}}, "type must be one of"),
        ({"columns": ["age"]}, r"columns must be names with what is public about them, got \['age'\]; write"),
        ({"unit": 4.5}, "the unit must be the name of a column, got 4.5; write"),
        ({"unit": {"columm": "ward"}}, 'unit must be {"column": NAME} or {"each": "row"}'),
        ({"budget": Pure(1)}, r"a budget must be ε, or ε and δ, got Pure\(ε=1\); write 3"),
        ({"budget": [1]}, r"a budget must be ε, or ε and δ, got \[1\]"),
        ({"analysts": "ann"}, "analysts must be names with their caps, got 'ann'; write"),
        ({"foreign_keys": [{"column": "ward"}]}, "a foreign key has the fields column, table and other_column"),
        ({"policy": 3}, "a policy must be a Table or the path of a policy file, got 3"),
        ({"budget": None}, "must have a budget"),
        ({"unit": "nobody"}, "the unit must be one of the columns"),
        ({"table": None}, "a table must have a name"),
    ],
)
@pytest.mark.some(6)
def test_what_is_missing_or_misspelled_is_refused_and_nothing_is_kept(
    tmp_path: Path, changed: dict[str, Any], rule: str
) -> None:
    curator = Curator(tmp_path / "curator")
    facts = {} if "policy" in changed else FACTS | {"table": "visits"}
    with pytest.raises(DiscreetError, match=rule):
        curator.protect(pa.table(ROWS), **(facts | changed))
    assert not list(curator.catalog)


def test_a_policy_and_stated_facts_do_not_mix(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "curator")
    table = curator.protect(pa.table(ROWS), table="visits", **FACTS)
    with pytest.raises(DiscreetError, match="passed whole or stated in words, not both"):
        curator.protect(pa.table(ROWS), table, rows_per_unit=3)
