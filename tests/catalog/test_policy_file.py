"""What a policy file says is what the table is, and what is written reads back as the same table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy import read as policy_file
from discreet.catalog.policy import yaml as yaml_tree
from discreet.catalog.policy.read import dumps, loads, read, read_folder, write
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.errors import PolicyError
from discreet.privacy.neighbours import Neighbours
from tests.catalog.strategies import tables
from tests.thoroughness import many

VISITS = """\
table: visits
description: one row per visit
unit: patient_id            # or: unit: row
neighbours: replace-one
budget: {epsilon: 0.3, delta: 1e-6, delta_for_keys: 1/3000000}
rows_per_unit: 5
groups_per_unit: 3
analysts:
  ann: {epsilon: 0.1, delta: 1e-7}
  bob: all                 # up to the table's budget
foreign_keys:
  - {column: order_id, table: orders, other_column: id}
columns:
  patient_id: {type: integer}
  order_id: {type: integer, nullable: false}
  ward: {type: text, keys: [cardiology, no, 007, 'null', ~x], constant_per_unit: true}
  age: {type: integer, lower: 0, upper: 110, default: 40}
  cost: {type: real, lower: -0.1, upper: 2e4, description: in euros}
  born: {type: date, lower: 1900-01-01, upper: '2024-12-31'}
  seen: {type: timestamp, lower: 2024-01-01, upper: '2024-12-31T23:59:59.5+02:00'}
  smokes: {type: boolean, keys: [true, false]}
"""
BARE = "table: t\nunit: row\nbudget: {epsilon: 1}\ncolumns: {x: {type: integer}}\n"


@pytest.fixture(params=["C", "Python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    loader = yaml.CSafeLoader if request.param == "C" else yaml.SafeLoader
    monkeypatch.setattr(yaml_tree, "_LOADER", loader)
    return request.param


@pytest.mark.usefixtures("parser")
def test_a_file_reads_as_the_table_it_describes() -> None:
    columns = (
        Column("patient_id", ColumnType.INTEGER),
        Column("order_id", ColumnType.INTEGER, nullable=False),
        Column("ward", ColumnType.TEXT, keys=("cardiology", "no", "007", "null", "~x"), constant_per_unit=True),
        Column("age", ColumnType.INTEGER, 0, 110, default=40),
        Column("cost", ColumnType.REAL, Fraction(-1, 10), Fraction(20000), description="in euros"),
        Column("born", ColumnType.DATE, date(1900, 1, 1), date(2024, 12, 31)),
        Column("seen", ColumnType.TIMESTAMP, datetime(2024, 1, 1), datetime(2024, 12, 31, 21, 59, 59, 500_000)),
        Column("smokes", ColumnType.BOOLEAN, keys=(True, False)),
    )
    assert loads(VISITS) == Table(
        "visits",
        columns,
        unit="patient_id",
        neighbours=Neighbours.REPLACE_ONE,
        budget=Budget(Fraction(3, 10), Fraction(1, 10**6), Fraction(1, 3 * 10**6)),
        analysts={"ann": Budget(Fraction(1, 10), Fraction(1, 10**7)), "bob": None},
        rows_per_unit=5,
        groups_per_unit=3,
        foreign_keys=(ForeignKey("order_id", "orders", "id"),),
        description="one row per visit",
    )


@pytest.mark.parametrize("text", ["0.1", "'0.1'", "1/10", "1e-1", ".1", "0.10"])
def test_a_number_is_exactly_what_is_written(text: str) -> None:
    budget = loads(BARE.replace("epsilon: 1", f"epsilon: {text}")).budget
    assert budget is not None
    assert budget.epsilon == Fraction(1, 10)


def test_what_is_not_stated_takes_the_careful_default() -> None:
    table = loads(BARE)
    assert (table.unit, table.neighbours, table.rows_per_unit) == (None, Neighbours.ADD_REMOVE_ONE, 1)
    assert table.analysts == {}
    assert table.columns[0].may_be_missing
    assert not table.columns[0].lists_missing


def test_a_public_table_needs_neither_unit_nor_budget() -> None:
    table = loads("table: wards\npublic: true\ncolumns: {name: {type: text}}\n")
    assert table.public
    assert table.budget is None
    assert loads(dumps(table)) == table


def test_public_false_is_a_protected_table() -> None:
    assert not loads(BARE + "public: false\n").public


def test_a_foreign_key_can_take_the_place_of_a_unit() -> None:
    table = loads(BARE.replace("unit: row", "foreign_keys: [{column: x, table: people, other_column: id}]"))
    assert table.unit is None
    assert loads(dumps(table)) == table


@pytest.mark.parametrize(("unit", "expected"), [("{column: row}", "row"), ("{each: row}", None)])
def test_a_column_of_the_name_row_is_told_from_each_row(unit: str, expected: str | None) -> None:
    table = loads(BARE.replace("unit: row", f"unit: {unit}").replace("x:", "row:"))
    assert table.unit == expected
    assert loads(dumps(table)) == table


@pytest.mark.parametrize(
    "change", [lambda s: s.replace("\n", "\r\n"), lambda s: "\ufeff" + s, lambda s: s.rstrip("\n")]
)
@pytest.mark.usefixtures("parser")
def test_line_ends_and_byte_order_marks_change_nothing(change: object) -> None:
    assert loads(change(VISITS)) == loads(VISITS)  # type: ignore[operator]


def test_json_is_a_policy_too() -> None:
    text = '{"table": "t", "unit": "row", "budget": {"epsilon": 1}, "columns": {"x": {"type": "integer"}}}'
    assert loads(text) == loads(BARE)


@given(tables())
@settings(max_examples=many(40, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_written_table_reads_back_as_itself(table: Table) -> None:
    assert loads(dumps(table)) == table
    assert dumps(loads(dumps(table))) == dumps(table)


@given(tables())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_both_parsers_read_the_same_table(table: Table) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_tree, "_LOADER", yaml.SafeLoader)
        assert loads(dumps(table)) == table


def test_the_written_text_is_readable() -> None:
    assert dumps(loads(VISITS)) == VISITS_WRITTEN


VISITS_WRITTEN = """\
table: visits
description: one row per visit
unit: patient_id
neighbours: replace-one
budget: {epsilon: 0.3, delta: 1e-6, delta_for_keys: 1/3000000}
rows_per_unit: 5
groups_per_unit: 3
analysts:
  ann: {epsilon: 0.1, delta: 1e-7}
  bob: all
foreign_keys:
- {column: order_id, table: orders, other_column: id}
columns:
  patient_id: {type: integer}
  order_id: {type: integer, nullable: false}
  ward: {type: text, keys: [cardiology, 'no', '007', 'null', ~x], constant_per_unit: true}
  age: {type: integer, lower: 0, upper: 110, default: 40}
  cost: {type: real, lower: -0.1, upper: 20000, description: in euros}
  born: {type: date, lower: 1900-01-01, upper: 2024-12-31}
  seen: {type: timestamp, lower: '2024-01-01T00:00:00Z', upper: '2024-12-31T21:59:59.500000Z'}
  smokes: {type: boolean, keys: [true, false]}
"""


# Files and folders ------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "visits.yaml"
    path.write_text("old")
    write(loads(VISITS), path)
    assert read(path) == loads(VISITS)
    assert [file.name for file in tmp_path.iterdir()] == ["visits.yaml"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "visits.yaml"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(policy_file.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(loads(VISITS), path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_reads_as_a_catalog(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(BARE)
    (tmp_path / "u.yml").write_text(BARE.replace("table: t", "table: u"))
    (tmp_path / "notes.txt").write_text("not a policy")
    (tmp_path / ".t.yaml").write_text("half written")
    assert [table.name for table in read_folder(tmp_path)] == ["t", "u"]


def test_problems_of_all_files_of_a_folder_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BARE.replace("epsilon: 1", "epsilon: 0"))
    (tmp_path / "b.yaml").write_text("")
    with pytest.raises(PolicyError) as refused:
        read_folder(tmp_path)
    assert [(problem.file, problem.line) for problem in refused.value.problems] == [("a.yaml", 3), ("b.yaml", 1)]


def test_a_problem_between_two_files_points_into_the_file_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BARE + "foreign_keys:\n- {column: x, table: peopel, other_column: id}\n")
    (tmp_path / "people.yaml").write_text(BARE.replace("table: t", "table: people"))
    with pytest.raises(PolicyError, match=r"^a.yaml, line 6, column 22: .* got 'peopel'; did you mean 'people'\?$"):
        read_folder(tmp_path)
