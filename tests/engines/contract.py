"""What every engine must pass. To add one: subclass `EngineContract` and fill in the two methods and the words.

The canary tests put a value into a row and make the database fail over it. They also check, through the owner log, that
the database did speak the value, so that they cannot pass by accident.
"""

from __future__ import annotations

import pickle
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.engine import Engine
from discreet.errors import EngineFailure, InvalidInput

CANARY = "canary-Ann-Smith-1971"

PEOPLE = Table(
    "people",
    (
        Column("id", ColumnType.INTEGER),
        Column("name", ColumnType.TEXT),
        Column("amount", ColumnType.INTEGER),
        Column("weight", ColumnType.REAL),
        Column("is_member", ColumnType.BOOLEAN),
        Column("born", ColumnType.DATE),
        Column("seen", ColumnType.TIMESTAMP),
    ),
    unit="id",
    budget=Budget(1),
)
EMPTY = Table(
    "nobody", (Column("id", ColumnType.INTEGER), Column("x", ColumnType.INTEGER)), unit="id", budget=Budget(1)
)
ODD = Table(
    'Größe "of" it',
    (Column('a "b" c', ColumnType.INTEGER), Column("SELECT", ColumnType.TEXT), Column("Straße", ColumnType.REAL)),
    budget=Budget(1),
)
ROWS = pa.table(
    {
        "id": [1, 1, 2, 3],
        "name": ["O'Neil", CANARY, "Żółć\\n", None],
        "amount": [2**63 - 1, 2**63 - 1, 0, None],
        "weight": [0.5, 1e308, -2.25, None],
        "is_member": [True, False, True, None],
        "born": [date(1, 1, 1), date(1971, 2, 28), date(9999, 12, 31), None],
        "seen": [datetime(1970, 1, 1), datetime(2024, 2, 29, 23, 59, 59, 999999), datetime(1900, 1, 1), None],
    }
)
TEXTS = [
    "",
    "it's",
    '"',
    "\\",
    "\\'",
    "a\x00b",
    "é",
    "e\u0301",
    "🦆",
    "--",
    "/*",
    "$1",
    "?",
    ";",
    "%_",
    "\n\r\t",
    "x" * 70_000,
]


class EngineContract(ABC):
    types: ClassVar[dict[ColumnType, str]] = {
        ColumnType.INTEGER: "BIGINT",
        ColumnType.REAL: "DOUBLE",
        ColumnType.TEXT: "VARCHAR",
        ColumnType.BOOLEAN: "BOOLEAN",
        ColumnType.DATE: "DATE",
        ColumnType.TIMESTAMP: "TIMESTAMP",
    }
    """The engine's words for the types."""
    holds_nul: ClassVar[bool] = True
    """Whether text may hold the character NUL."""
    failures: ClassVar[dict[str, str]]
    """Statements that must fail, by why."""
    canary_failures: ClassVar[list[str]]
    """Statements over ``people`` whose native error shows the name in a row."""
    endless: ClassVar[str]
    """A statement that runs for hours."""

    @abstractmethod
    def open(self, folder: Path, **settings: Any) -> Engine:
        """An engine; settings are ``timeout`` and ``owner_log``."""

    @abstractmethod
    def load(self, folder: Path, table: Table, rows: pa.Table) -> None:
        """Make ``rows`` the data of ``table``."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        self.load(tmp_path, PEOPLE, ROWS)
        self.load(tmp_path, EMPTY, pa.table({"id": pa.array([], pa.int64()), "x": pa.array([], pa.int64())}))
        return tmp_path

    @pytest.fixture
    def engine(self, folder: Path) -> Iterator[Engine]:
        with self.open(folder) as engine:
            yield engine

    # Describing ---------------------------------------------------------------------------------------------------

    def test_describes_names_and_types_in_order(self, engine: Engine) -> None:
        assert list(engine.describe("people").items()) == [(column.name, column.type) for column in PEOPLE.columns]

    def test_describes_without_regard_to_case(self, engine: Engine) -> None:
        assert engine.describe("PEOPLE") == engine.describe("people")

    def test_a_description_does_not_depend_on_the_rows(self, tmp_path: Path) -> None:
        self.load(tmp_path, PEOPLE, ROWS.slice(0, 0))
        with self.open(tmp_path) as without:
            assert list(without.describe("people")) == PEOPLE_NAMES

    def test_suggests_a_table_when_there_is_none_of_that_name(self, engine: Engine) -> None:
        for ask in (engine.describe, engine.version):
            with pytest.raises(InvalidInput, match="people"):
                ask("poeple")

    def test_names_its_dialect(self, engine: Engine) -> None:
        import sqlglot

        assert sqlglot.Dialect.get(engine.dialect) is not None

    # Running ------------------------------------------------------------------------------------------------------

    def _echo(self, engine: Engine, value: object, kind: ColumnType) -> Any:
        return engine.run(f"SELECT CAST($1 AS {self.types[kind]}) AS x", [value])["x"].to_pylist()[0]

    @pytest.mark.parametrize("value", [0, -1, 5, 2**31, 2**63 - 1, -(2**63)])
    @pytest.mark.some(3)
    def test_binds_integers(self, engine: Engine, value: int) -> None:
        assert self._echo(engine, value, ColumnType.INTEGER) == value

    def test_small_integers_are_bound_wide_enough_to_add(self, engine: Engine) -> None:
        assert engine.run("SELECT $1 + $2 AS x", [5, 2**31 - 1])["x"].to_pylist() == [2**31 + 4]

    @pytest.mark.parametrize("value", [0.0, 0.1, -1e308, 5e-324, Fraction(1, 3), Fraction(7), Fraction(-1, 2**60)])
    @pytest.mark.some(3)
    def test_binds_real_numbers_as_the_nearest_double(self, engine: Engine, value: float | Fraction) -> None:
        assert self._echo(engine, value, ColumnType.REAL) == float(value)

    @pytest.mark.parametrize("value", TEXTS)
    @pytest.mark.some(4)
    def test_binds_text_as_it_is(self, engine: Engine, value: str) -> None:
        if "\x00" in value and not self.holds_nul:
            pytest.skip("this engine has no NUL in text")
        assert self._echo(engine, value, ColumnType.TEXT) == value

    def test_binds_truth_values_and_nothing(self, engine: Engine) -> None:
        assert [self._echo(engine, value, ColumnType.BOOLEAN) for value in (True, False, None)] == [True, False, None]

    @pytest.mark.parametrize("value", [date(1, 1, 1), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31)])
    @pytest.mark.some(2)
    def test_binds_dates(self, engine: Engine, value: date) -> None:
        assert self._echo(engine, value, ColumnType.DATE) == value

    @pytest.mark.parametrize("value", [datetime(1, 1, 1), datetime(2024, 2, 29, 23, 59, 59, 999999)])
    def test_binds_timestamps(self, engine: Engine, value: datetime) -> None:
        assert self._echo(engine, value, ColumnType.TIMESTAMP) == value

    def test_binds_timestamps_with_a_zone_in_utc(self, engine: Engine) -> None:
        value = datetime(2024, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
        assert self._echo(engine, value, ColumnType.TIMESTAMP) == value.astimezone(UTC).replace(tzinfo=None)

    def test_a_parameter_can_be_used_twice_and_in_any_order(self, engine: Engine) -> None:
        row = engine.run("SELECT $2 - $1 AS x, $1 + $1 AS y", [3, 10]).to_pylist()
        assert row == [{"x": 7, "y": 6}]

    @pytest.mark.parametrize(
        "value", [2**127, float("nan"), float("inf"), "\ud800", Fraction(10**400), b"x", [1], object()]
    )
    @pytest.mark.some(3)
    def test_refuses_what_cannot_be_bound_before_any_row_is_read(self, engine: Engine, value: object) -> None:
        with pytest.raises(InvalidInput):
            engine.run("SELECT CAST($1 AS VARCHAR)", [value])

    def test_gives_back_every_type_and_null(self, engine: Engine) -> None:
        rows = engine.run("SELECT id, name, amount, weight, is_member, born, seen FROM people ORDER BY id, name")
        wanted = ROWS.sort_by([("id", "ascending"), ("name", "ascending")]).to_pylist()
        assert sorted(rows.to_pylist(), key=repr) == sorted(wanted, key=repr)

    def test_an_empty_table_has_columns_and_no_rows(self, engine: Engine) -> None:
        found = engine.run("SELECT id, x FROM nobody")
        assert (found.num_rows, found.column_names) == (0, ["id", "x"])
        assert engine.run("SELECT count(*) AS n, sum(x) AS s FROM nobody").to_pylist() == [{"n": 0, "s": None}]

    def test_sums_are_exact_past_64_bits(self, engine: Engine) -> None:
        assert engine.capabilities.wide_integer_sums
        assert engine.run("SELECT sum(amount) AS s FROM people")["s"].to_pylist() == [Decimal(2 * (2**63 - 1))]
        negative = engine.run("SELECT sum(-amount - 1) AS s FROM people WHERE id = 1")["s"].to_pylist()
        assert negative == [Decimal(-(2**64))]

    def test_odd_names_are_quoted(self, tmp_path: Path) -> None:
        self.load(tmp_path, ODD, pa.table({'a "b" c': [1], "SELECT": ["x"], "Straße": [0.5]}))
        with self.open(tmp_path) as engine:
            found = engine.run('SELECT "a ""b"" c" AS a, "SELECT" AS b, "Straße" AS c FROM "Größe ""of"" it"')
        assert found.to_pylist() == [{"a": 1, "b": "x", "c": 0.5}]

    def test_every_protected_row_has_a_unit(self, engine: Engine) -> None:
        found = engine.run("SELECT id, count(DISTINCT _unit) AS n FROM people GROUP BY id ORDER BY id").to_pylist()
        assert found == [{"id": 1, "n": 1}, {"id": 2, "n": 1}, {"id": 3, "n": 1}]

    # Versions -----------------------------------------------------------------------------------------------------

    def test_the_version_changes_when_data_is_taken_in_also_equal_data(self, folder: Path, engine: Engine) -> None:
        first = engine.version("people")
        assert engine.version("PEOPLE") == first
        self.load(folder, PEOPLE, ROWS)
        assert engine.version("people") != first

    def test_a_snapshot_stays_with_its_version(self, folder: Path, engine: Engine) -> None:
        if not engine.capabilities.pinned_snapshots:
            pytest.skip("this engine does not pin its data")
        pinned = engine.snapshot()
        first = pinned.version("people")
        self.load(folder, PEOPLE, ROWS.slice(0, 1))
        count = "SELECT count(*) AS n FROM people"
        assert engine.run(count)["n"].to_pylist() == [1]
        assert (pinned.run(count)["n"].to_pylist(), pinned.version("people")) == ([4], first)

    # Failing ------------------------------------------------------------------------------------------------------

    def _failure(self, engine: Engine, statement: str, parameters: list[object] | None = None) -> EngineFailure:
        with pytest.raises(EngineFailure) as caught:
            engine.run(statement, parameters or [])
        return caught.value

    def test_every_failure_is_the_same_error(self, engine: Engine) -> None:
        found = {why: self._failure(engine, statement) for why, statement in self.failures.items()}
        found["too few parameters"] = self._failure(engine, "SELECT $1 + $2", [1])
        assert {(str(error), error.args) for error in found.values()} == {(str(EngineFailure()), EngineFailure().args)}
        assert all(error.__cause__ is None and error.__context__ is None for error in found.values())

    def test_the_error_survives_a_trip_between_processes(self) -> None:
        assert str(pickle.loads(pickle.dumps(EngineFailure()))) == str(EngineFailure())

    def test_a_timeout_is_the_same_error(self, folder: Path) -> None:
        with self.open(folder, timeout=0.3) as engine:
            assert engine.capabilities.statement_timeout
            assert str(self._failure(engine, self.endless)) == str(EngineFailure())
            assert engine.run("SELECT count(*) AS n FROM people")["n"].to_pylist() == [4]

    def test_works_after_a_failure(self, engine: Engine) -> None:
        for statement in self.failures.values():
            self._failure(engine, statement)
        assert engine.run("SELECT count(*) AS n FROM people")["n"].to_pylist() == [4]

    def test_a_value_of_a_row_is_in_no_error_log_or_output(
        self, folder: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        caplog.set_level(0)
        with self.open(folder) as engine:
            shown = [_everything_about(self._failure(engine, statement)) for statement in self.canary_failures]
        written = capfd.readouterr()
        assert not any(CANARY in text for text in [*shown, caplog.text, written.out, written.err])

    def test_the_owner_log_is_told_what_the_database_said(self, folder: Path) -> None:
        for statement in self.canary_failures:
            heard: list[str] = []
            with self.open(folder, owner_log=heard.append) as engine:
                self._failure(engine, statement)
            assert any(CANARY in words for words in heard), f"not a canary: {statement}"

    def test_an_owner_log_that_fails_changes_nothing(self, folder: Path) -> None:
        def full(words: str) -> None:
            raise OSError(28, words)

        with self.open(folder, owner_log=full) as engine:
            assert CANARY not in _everything_about(self._failure(engine, self.canary_failures[0]))


PEOPLE_NAMES = [column.name for column in PEOPLE.columns]


def _everything_about(error: BaseException) -> str:
    """The error as a careless program prints it: with its causes, its contexts and the variables of every frame."""
    pieces = [repr(error), repr(error.args), repr(vars(error)), repr(error.__cause__), repr(error.__context__)]
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "\n".join([*pieces, *trace.format()])
