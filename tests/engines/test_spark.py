"""Spark gives what DuckDB gives, on rows that stay where they are, and no row makes it raise."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Curator
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.engine import TableStore
from discreet.engines.open import open_engine
from discreet.engines.parameters import ParameterValue
from discreet.engines.spark import engine as spark_engine
from discreet.engines.spark import numbers
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.session import SETTINGS, quicken, quiet
from discreet.engines.spark.writer import SparkWriter
from discreet.errors import DiscreetError, EngineFailure, InvalidInput, InvalidValue, QueryRefused, StoreError
from discreet.query.bind.names import collect_names
from discreet.query.expressions.expression import Statement
from discreet.query.expressions.read import read
from tests.engines.contract import CANARY, EMPTY, ODD, PEOPLE, ROWS, TEXTS, _everything_about
from tests.engines.same_everywhere import Case, SameEverywhere, expressions, few_of_every_kind
from tests.query import test_totality
from tests.query.world import CATALOG
from tests.servers.spark import spark_session as spark_session  # noqa: PLC0414
from tests.thoroughness import many, some
from tests.threads import at_once

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
REGULAR, READ, TWICE, DIGITS = "regular expressions", "CAST of text to", "read twice", "CAST of real to text"
DECIMAL = "text read as decimal"
REFUSED = {
    "SELECT COUNT(*) FROM visits WHERE TRY_CAST(note AS INTEGER) IS NULL": READ,
    "SELECT SUM(CAST(note AS DECIMAL(6, 2))), SUM(CAST(score AS DECIMAL(6, 2))) FROM visits": DECIMAL,
    "SELECT SUM(least(50, greatest(0, strpos(note, 'a')))), COUNT_IF(regexp_matches(note, 'a|%')) FROM visits": REGULAR,
    "SELECT COUNT(*) FROM visits WHERE note ~ '^[ab]' OR REGEXP_CONTAINS(note, '7$')": REGULAR,
    "SELECT COUNT(*) FROM visits WHERE regexp_full_match(note, 'a.') OR note RLIKE 'B'": REGULAR,
    "SELECT CASE WHEN note ~ '^[a-z]' THEN 'word' ELSE 'other' END AS k, COUNT(*) FROM visits GROUP BY k": REGULAR,
    "SELECT COUNT(*), SUM(age) FROM (SELECT age FROM survey UNION ALL SELECT age FROM survey) AS t": TWICE,
}
REFUSED_EXPRESSIONS = {
    **{f"CAST({x} AS {t})": READ for x in ("note", "ward") for t in ("INTEGER", "DOUBLE", "DATE", "TIMESTAMP")},
    **{f"CAST(note AS DECIMAL({size}))": DECIMAL for size in ("4, 2", "38, 0", "12, 12")},
    **{f"CAST({x} AS VARCHAR)": DIGITS for x in ("cost", "score")},
    "concat(note, day, score)": DIGITS,
    "age::int::double::varchar || CAST(cost AS FLOAT64)": DIGITS,
    "note NOT LIKE 'a%' AND note NOT ILIKE 'A_' AND note ~ '^a' AND regexp_full_match(note, '[a-z]*')": REGULAR,
    "regexp_matches(ward, '\\x00|%$') OR note RLIKE '(a+)+$' OR note ~* 'A'": REGULAR,
    "replace(note, 'a', '') || replace(ward, '%', 'x') || reverse(note)": "REVERSE",
}


_INFINITE = "score * 1e300 * 1e300"
EDGES = (
    "big % (age - age - 1)",
    "big // (age - age)",
    "big % (age - age)",
    f"sign({_INFINITE} - {_INFINITE})",
    f"pow(1, {_INFINITE} - {_INFINITE})",
    f"pow(-1, {_INFINITE})",
    "make_date(2021, age, 31)",
    "make_date(2021, 2, age)",
    "make_date(big, 1, 1) IS NULL",
    "extract(century FROM day - INTERVAL 5000 YEAR)",
    "(seen + INTERVAL 290000 YEAR) IS NULL",
    "abs(-big)",
    "CAST(score * 1e18 AS BIGINT)",
)
"""Expressions over which guards are needed that no other of the corpus needs."""
LONG_AGO = 1_700_000_000
"""When files were written that are at rest."""


OF_DATES = "SELECT MIN(day), MAX(day), MEDIAN(day) FROM visits"
"""Subtracts dates, which is another thing than to subtract numbers."""


class InTurns(SparkEngine):
    """Every other statement is run without code made for it, which takes long for so few rows; bugs of both differ."""

    turn: ClassVar[int] = 0

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        InTurns.turn += 1
        is_made, settings = InTurns.turn % 2 == 0, self._session().conf
        settings.set("spark.sql.codegen.wholeStage", str(is_made).lower())
        settings.set("spark.sql.codegen.factoryMode", "FALLBACK" if is_made else "NO_CODEGEN")
        return super()._run(statement, values)


class TestSameOnSpark(SameEverywhere):
    refused = REFUSED
    refused_expressions = REFUSED_EXPRESSIONS
    at_once = 40
    most = 120

    session: ClassVar[Any]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def spark(cls, spark_session: Any) -> None:
        cls.session = spark_session

    @classmethod
    def corpus(cls) -> list[Case]:
        """Fewer than all, because Spark takes its time to plan each."""
        wanted = {*REFUSED, OF_DATES}
        found = few_of_every_kind(wanted, REFUSED_EXPRESSIONS, others=2)
        others = some((case for case in found if case.query not in wanted), 10, 25)
        return [*(case for case in found if case.query in wanted), *others]

    def test_expressions_at_the_edges_have_the_same_values(self, place: TableStore, reference: TableStore) -> None:
        rows, statement = expressions()[0], Statement()
        names = collect_names([("visits", rows)])
        texts = [read(test_totality._parsed("duckdb", text), names).write(statement) for text in EDGES]
        listed = ", ".join(f"{text} AS v{k}" for k, text in enumerate(texts))
        question = f"SELECT {listed} FROM ({rows.write(statement)}) r", statement.parameters
        found, wanted = place.run(*question), reference.run(*question)
        for text, mine, theirs in zip(EDGES, found.columns, wanted.columns, strict=True):
            assert sorted(map(str, mine.to_pylist())) == sorted(map(str, theirs.to_pylist())), text

    def opened(self, folder: Path, given: dict[str, pa.Table]) -> TableStore:
        place = InTurns(folder / "curator", session=self.session, owner_log=print)
        for table in CATALOG:
            file = folder / f"{table.name}.parquet"
            pq.write_table(given[table.name], file)
            os.utime(file, (LONG_AGO, LONG_AGO))
            place.take_in(table, str(file), catalog=CATALOG)
        return place


# One table, protected.


@pytest.fixture
def folder(tmp_path: Path, spark_session: Any) -> Path:
    pq.write_table(ROWS, tmp_path / "people.parquet")
    with SparkEngine(tmp_path / "curator", session=spark_session) as engine:
        engine.take_in(PEOPLE, str(tmp_path / "people.parquet"))
    return tmp_path


COUNT = 'SELECT COUNT(*) AS n FROM "people"'


def asked(engine: SparkEngine, statement: str = COUNT, parameters: tuple[object, ...] = ()) -> list[dict[str, Any]]:
    return engine.run(statement, parameters).to_pylist()


def test_values_come_back_as_they_went(folder: Path, spark_session: Any) -> None:
    values = [*TEXTS, 2**63 - 1, -(2**63), 0.1, -1e308, 5e-324, True, None, *ROWS["born"].to_pylist()[:3]]
    values += ROWS["seen"].to_pylist()[:3]
    with SparkEngine(folder / "curator", session=spark_session, owner_log=print) as engine:
        listed = ", ".join(f"${k} AS v{k}" for k in range(1, len(values) + 1))
        (row,) = asked(engine, f'SELECT {listed} FROM "people" WHERE "id" = 3', tuple(values))
    assert list(row.values()) == values


def test_a_session_of_the_owner_stays_as_it_is(folder: Path, spark_session: Any) -> None:
    before = {name: spark_session.conf.get(name, None) for name in SETTINGS}
    with SparkEngine(folder / "curator", session=spark_session) as engine:
        assert asked(engine) == [{"n": 4}]
        assert engine._session().conf.get("spark.sql.session.timeZone") == "UTC"
    assert {name: spark_session.conf.get(name, None) for name in SETTINGS} == before
    assert before["spark.sql.session.timeZone"] == "America/New_York"


def test_odd_names_and_empty_tables_and_tables_of_the_catalog(tmp_path: Path, spark_session: Any) -> None:
    pq.write_table(pa.table({'a "b" c': [1], "SELECT": ["x"], "Straße": [0.5]}), tmp_path / "odd.parquet")
    spark_session.sql("CREATE DATABASE IF NOT EXISTS clinic")
    spark_session.sql("CREATE TABLE clinic.nobody (id INT, x DECIMAL(20, 0)) USING parquet")
    with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
        engine.take_in(ODD, str(tmp_path / "odd.parquet"))
        engine.take_in(EMPTY, "clinic.nobody")
        assert asked(engine, 'SELECT "SELECT" AS b, "Straße" AS c FROM "Größe ""of"" it"') == [{"b": "x", "c": 0.5}]
        assert asked(engine, 'SELECT COUNT(*) AS n, SUM("x") AS s FROM "nobody"') == [{"n": 0, "s": None}]


def test_sums_are_exact_past_64_bits(folder: Path, spark_session: Any) -> None:
    with SparkEngine(folder / "curator", session=spark_session) as engine:
        (row,) = asked(engine, 'SELECT SUM("amount") AS s, SUM("id" - 5) AS t FROM "people"')
    assert (int(row["s"]), int(row["t"])) == (2 * (2**63 - 1), -13)


def test_without_the_guard_a_row_makes_it_raise(
    folder: Path, spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug: an overflow that is taken for impossible. The words of Spark reach the owner alone."""
    statement, heard = 'SELECT TRY("amount" * 3) AS x FROM "people" WHERE "id" = 1', list[str]()
    with SparkEngine(folder / "curator", session=spark_session, owner_log=heard.append) as engine:
        assert asked(engine, statement) == [{"x": None}, {"x": None}]
    monkeypatch.setattr(numbers, "_fits", lambda ends: True)
    monkeypatch.setattr(numbers, "_is_attempted", lambda node: False)
    with (
        SparkEngine(folder / "curator", session=spark_session, owner_log=heard.append) as engine,
        pytest.raises(EngineFailure) as caught,
    ):
        engine.run(statement)
    assert caught.value.__context__ is None
    assert any("ARITHMETIC_OVERFLOW" in words for words in heard)


def test_a_value_of_a_row_is_in_no_error_and_no_output(
    folder: Path, spark_session: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    heard: list[str] = []
    with pytest.raises(EngineFailure):
        _reading_names_as_numbers(folder, spark_session, heard.append).run('SELECT "id" AS x FROM "people"')
    assert any("Neil" in words or CANARY in words for words in heard), heard
    heard.clear()
    with pytest.raises(EngineFailure) as caught:
        _reading_names_as_numbers(folder, spark_session, None).run('SELECT "id" AS x FROM "people"')
    written = capfd.readouterr()
    for text in (_everything_about(caught.value), caplog.text, written.out, written.err):
        assert "Neil" not in text
        assert CANARY not in text


def _reading_names_as_numbers(folder: Path, session: Any, log: Callable[[str], None] | None) -> SparkEngine:
    """The planted bug: a cast that fails over the first row."""
    engine = SparkEngine(folder / "curator", session=session, owner_log=log)
    engine.cast = lambda *_: "CAST(`name` AS BIGINT)"  # type: ignore[method-assign]
    return engine


def looking_up_often(engine: SparkEngine) -> None:
    """A task that was told to end hears of it when it takes the next rows to join; by thousands, that is late."""
    engine._session().conf.set("spark.sql.parquet.columnarReaderBatchSize", "32")


def test_a_question_that_takes_too_long_or_is_interrupted_ends(folder: Path, spark_session: Any) -> None:
    pq.write_table(pa.table({"id": pa.array(range(300_000)), "x": pa.array(range(300_000))}), folder / "crowd.parquet")
    with SparkEngine(folder / "curator", session=spark_session) as engine:
        engine.take_in(EMPTY, str(folder / "crowd.parquet"))
    pair = '(SELECT "x" AS {0} FROM "nobody") {1}'
    endless = f"SELECT COUNT(*) AS n FROM {pair.format('c1', 'r1')} JOIN {pair.format('c2', 'r2')} ON c1 < c2 + c1 - c2"
    with SparkEngine(folder / "curator", session=spark_session, timeout=1.5) as engine:
        looking_up_often(engine)
        with pytest.raises(EngineFailure):
            engine.run(endless)
        assert asked(SparkEngine(folder / "curator", session=spark_session)) == [{"n": 4}]
    with SparkEngine(folder / "curator", session=spark_session) as engine:
        looking_up_often(engine)
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            engine.run(endless)
        assert asked(engine) == [{"n": 4}]


def test_files_that_change_are_read_anew_and_columns_that_change_are_not(folder: Path, spark_session: Any) -> None:
    heard: list[str] = []
    file = folder / "people.parquet"
    with SparkEngine(folder / "curator", session=spark_session, owner_log=heard.append) as engine:
        pq.write_table(ROWS.slice(0, 1), file)
        assert asked(engine) == [{"n": 1}]
        pq.write_table(ROWS.set_column(0, "id", pa.array(["a", "b", "c", "d"])), file)
        with pytest.raises(EngineFailure):
            engine.run(COUNT)
        file.unlink()
        with pytest.raises(EngineFailure):
            engine.run(COUNT)
    assert "protect people again" in heard[0]
    assert "PATH_NOT_FOUND" in heard[1]


# Refusals while a table is protected.


def policy(kind: ColumnType) -> Table:
    return Table("t", (Column("x", kind),), budget=Budget(1))


@pytest.mark.parametrize(
    ("table", "source", "words"),
    [
        (policy(ColumnType.TEXT), "nowhere.nothing", "Spark must have the table"),
        (policy(ColumnType.TEXT), "/nowhere/nothing.parquet", "Spark must have the table"),
        (policy(ColumnType.TEXT), "a b; DROP", "is named as in db.visits"),
        (policy(ColumnType.TEXT), "{people}", "must have the declared columns"),
        (Table("t", (Column("born", ColumnType.REAL),), budget=Budget(1)), "{people}", "must hold what can be read"),
        (Table("t", (Column("weight", ColumnType.TEXT),), budget=Budget(1)), "{people}", "must hold what can be read"),
        (policy(ColumnType.TEXT), 7, "is named, such as"),
    ],
)
def test_what_cannot_be_protected_is_refused_in_words(
    folder: Path, spark_session: Any, table: Table, source: Any, words: str
) -> None:
    engine = SparkEngine(folder / "c2", session=spark_session)
    with pytest.raises(InvalidInput, match=words):
        engine.take_in(table, source.format(people=folder / "people.parquet") if isinstance(source, str) else source)


def test_types_that_hold_no_values_of_ours_are_refused(tmp_path: Path, spark_session: Any) -> None:
    pq.write_table(pa.table({"x": pa.array([b"1"])}), tmp_path / "binary.parquet")
    with pytest.raises(InvalidInput, match="<binary>"):
        SparkEngine(tmp_path / "c", session=spark_session).take_in(
            policy(ColumnType.TEXT), str(tmp_path / "binary.parquet")
        )


COLUMNS: list[tuple[str, ColumnType, list[tuple[str, object]]]] = [
    ("string", ColumnType.INTEGER, [("' 12 '", 12), ("'5.0'", 5), ("'5.5'", None), ("'1e3'", None), ("'x'", None)]),
    ("string", ColumnType.INTEGER, [("'12.000'", None), ("'1234.000'", 1234), ("'0.000'", 0), ("'7.0000'", 7)]),
    ("string", ColumnType.INTEGER, [("'9223372036854775808'", None), ("'-7'", -7), ("''", None), ("'+'", None)]),
    ("string", ColumnType.REAL, [("'1e400'", None), ("'nan'", None), ("'1d'", None), ("' -1.5e3'", -1500.0)]),
    (
        "string",
        ColumnType.DATE,
        [("'2021-02-30'", None), ("'2021-02-03'", "2021-02-03"), ("'2021'", None), ("'04-03-24'", None)],
    ),
    ("string", ColumnType.TIMESTAMP, [("'2021-02-03 04:05:06+01:00'", "2021-02-03 03:05:06"), ("'epoch'", None)]),
    ("string", ColumnType.BOOLEAN, [("' Yes '", True), ("'F'", False), ("'2'", None)]),
    ("double", ColumnType.INTEGER, [("9.223372036854775807e18D", None), ("double('nan')", None), ("2.5D", None)]),
    ("double", ColumnType.REAL, [("double('inf')", None), ("-0.0D", 0.0), ("1D", 1.0)]),
    ("double", ColumnType.BOOLEAN, [("1D", True), ("0.5D", None), ("double('nan')", None)]),
    ("decimal(38,0)", ColumnType.INTEGER, [("99999999999999999999BD", None), ("7BD", 7)]),
    ("decimal(38,2)", ColumnType.INTEGER, [("7.50BD", None), ("7.00BD", 7), ("-1.00BD", -1)]),
    ("date", ColumnType.DATE, [("date_add(DATE'9999-12-31', 1)", None), ("DATE'0001-01-01'", "0001-01-01")]),
    ("timestamp_ntz", ColumnType.TIMESTAMP, [("TIMESTAMP_NTZ'2021-01-01 00:00:00'", "2021-01-01 00:00:00")]),
    ("boolean", ColumnType.INTEGER, [("TRUE", 1)]),
    ("date", ColumnType.TEXT, [("date_add(DATE'9999-12-31', 1)", "10000-01-01"), ("DATE'0001-01-01'", "0001-01-01")]),
]


def test_columns_of_every_type_are_read_by_casts_that_cannot_fail(tmp_path: Path, spark_session: Any) -> None:
    from discreet.engines.spark.columns import column_cast

    session = SparkEngine(tmp_path, session=spark_session)._session()
    chosen, wanted = [], []
    for native, kind, values in COLUMNS:
        for text, value in values:
            cast = column_cast(f"CAST({text} AS {native})", native, kind)
            assert cast is not None
            chosen.append(f"CAST({cast} AS STRING)" if isinstance(value, str) else cast)
            wanted.append(value)
    row = session.sql("SELECT " + ", ".join(f"{text} AS v{k}" for k, text in enumerate(chosen))).toArrow()
    assert [column.to_pylist()[0] for column in row.columns] == wanted


# The whole way.


def test_a_curator_asks_rows_that_stay_in_spark(folder: Path, spark_session: Any) -> None:
    engine = SparkEngine(folder / "c3", session=spark_session)
    curator = Curator(folder / "c3", engine=engine)
    curator.protect(str(folder / "people.parquet"), PEOPLE)
    query = "SELECT COUNT(*) AS n FROM people"
    assert "n" in str(curator.explain(query, epsilon=0.5))
    first = curator.ask(query, epsilon=0.5)
    left = curator.budget()
    again = curator.ask(query, epsilon=0.5)
    assert str(again).splitlines()[:2] == str(first).splitlines()[:2]
    assert "asked before, free now" in str(again)
    with pytest.raises(QueryRefused, match="regular expressions"):
        curator.ask("SELECT COUNT(*) FROM people WHERE name ~ '(a+)+$'", epsilon=0.1)
    assert curator.budget() == left


@pytest.mark.parametrize("mistake", ["LIMIT counting(1)", "LIMIT AND"])
def test_a_statement_that_spark_never_runs_is_refused_before_the_charge(
    folder: Path, spark_session: Any, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    curator = Curator(folder / "c4", engine=SparkEngine(folder / "c4", session=spark_session))
    curator.protect(str(folder / "people.parquet"), PEOPLE)
    before, write = curator.ledger.head(), SparkWriter.statement
    monkeypatch.setattr(SparkWriter, "statement", lambda self, text: f"{write(self, text)} {mistake}")
    with pytest.raises(QueryRefused, match="whatever the rows are"):
        curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.5)
    assert (curator.ledger.head(), curator.suspensions()) == (before, [])


def test_a_statement_is_tried_once_without_a_look_at_files(folder: Path, spark_session: Any) -> None:
    engine = SparkEngine(folder / "curator", session=spark_session)
    (folder / "people.parquet").unlink()
    for _ in range(2):
        engine.rehearse('SELECT COUNT(*) AS n FROM "people" WHERE CAST($1 AS BIGINT) > 3', (4,))
    assert len(engine._rehearsed) == 1
    assert [one.name for one in spark_session.catalog.listTables() if one.name.startswith("discreet_")] == []


def test_a_table_whose_rows_are_units_is_read_once(tmp_path: Path, spark_session: Any) -> None:
    """Read twice, a row would have two numbers, be two units, and weigh twice."""
    table = Table("t", (Column("x", ColumnType.INTEGER, lower=0, upper=5),), budget=Budget(1))
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "t.parquet")
    engine = SparkEngine(tmp_path / "c", session=spark_session)
    engine.take_in(table, str(tmp_path / "t.parquet"))
    once = 'SELECT COUNT(DISTINCT _unit) AS n FROM "t"'
    assert asked(engine, once) == [{"n": 3}]
    with pytest.raises(QueryRefused, match="read twice"):
        engine.check(
            'SELECT _unit FROM (SELECT _unit FROM "t") r1 UNION ALL SELECT _unit FROM (SELECT _unit FROM "t") r2'
        )
    repeated = (
        'WITH _rows AS (SELECT _unit FROM "t") SELECT r1._unit FROM _rows r1 JOIN _rows r2 ON r1._unit = r2._unit'
    )
    with pytest.raises(QueryRefused, match="read twice"):
        engine.check(repeated.replace("_rows r", "(SELECT * FROM _rows) r"))


# Rows that are read twice.

MOST, FULL = 10, 65536
LOTS = Table(
    "lots", (Column("person", ColumnType.INTEGER), Column("x", ColumnType.INTEGER)), unit="person", budget=Budget(1)
)
WEIGHTS = (
    'WITH _rows AS (SELECT _unit, "person" AS k0, 1 AS one FROM "lots"),'
    " _counted AS (SELECT _unit, COUNT(*) AS n FROM _rows GROUP BY _unit),"
    f" _weighted AS (SELECT _rows.*, CASE WHEN n <= {MOST} THEN {FULL} ELSE {MOST * FULL} // n END AS w"
    " FROM _rows JOIN _counted USING (_unit))"
    " SELECT k0, CAST(COALESCE(CAST(SUM(w) AS HUGEINT), 0) AS BIGINT) AS s FROM _weighted GROUP BY k0"
)
LIGHT_ROWS = (
    'WITH _all AS (SELECT _unit FROM "lots"),'
    f" _few AS (SELECT _unit, COUNT(*) AS n FROM _all GROUP BY _unit HAVING COUNT(*) <= {MOST})"
    " SELECT COUNT(*) AS s FROM _all JOIN _few ON _all._unit = _few._unit"
)


def lots(folder: Path, light: int, heavy: int, when: float) -> Path:
    """A file in which one person has 2 rows and another 200, put where it was with the time of writing ``when``."""
    people = [light] * 2 + [heavy] * 200
    pq.write_table(pa.table({"person": people, "x": list(range(202))}), folder / "new")
    os.utime(folder / "new", (when, when))
    return (folder / "new").replace(folder / "lots.parquet")


def test_few_heavy_units_are_found_apart_where_files_are_at_rest(tmp_path: Path, spark_session: Any) -> None:
    file, kinds = lots(tmp_path, 1, 2, LONG_AGO), list[str]()
    with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
        engine.take_in(LOTS, str(file))
        translated = engine.translated

        def watched(*args: Any) -> Any:
            kinds.extend(kind.__name__ for kind in args[2:])
            return translated(*args)

        engine.translated = watched  # type: ignore[method-assign]
        apart = asked(engine, WEIGHTS)
        os.utime(file)
        assert asked(engine, WEIGHTS) == apart
        assert sorted(row["s"] for row in apart) == [2 * FULL, 200 * (MOST * FULL // 200)]
        assert kinds == ["ApartWriter", "ApartWriter"]
        assert "OVER" not in translated(WEIGHTS, [], spark_engine.ApartWriter)[0]


def test_every_letter_counts_whatever_a_column_takes_for_the_same(tmp_path: Path, spark_session: Any) -> None:
    """Else the first spelling would name a group, and one person say what it is; and people would share a weight."""
    names = ("Ann", "ann", "ANN", "Änn", "ann", "yes", "YES")
    rows = pa.table({"person": names, "ward": names, "sick": names})
    pq.write_table(rows, tmp_path / "plain.parquet")
    spark_session.read.parquet(str(tmp_path / "plain.parquet")).selectExpr(
        *(f"{name} COLLATE UNICODE_CI_AI AS {name}" for name in rows.column_names)
    ).write.saveAsTable("letters")
    columns = (*(Column(name, ColumnType.TEXT) for name in ("person", "ward")), Column("sick", ColumnType.BOOLEAN))
    try:
        with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
            engine.take_in(Table("letters", columns, unit="person", budget=Budget(1)), "letters")
            groups = asked(engine, 'SELECT "ward" AS w, COUNT(*) AS n FROM "letters" GROUP BY "ward"')
            assert {row["w"]: row["n"] for row in groups} == Counter(names)
            assert asked(engine, 'SELECT COUNT(DISTINCT _unit) AS n FROM "letters"') == [{"n": 6}]
            assert asked(engine, 'SELECT COUNT(*) AS n FROM "letters" WHERE "ward" = $1', ("ann",)) == [{"n": 2}]
            assert asked(engine, 'SELECT COUNT(*) AS n FROM "letters" WHERE "sick"') == [{"n": 2}]
    finally:
        spark_session.sql("DROP TABLE letters")


def test_counts_are_the_same_when_units_have_no_room_in_the_small_table(tmp_path: Path, spark_session: Any) -> None:
    """A task counts the first units in a small table and all others in a large one; here there is room for 1,024."""
    rows = {person: 1 + person % 25 for person in range(6_000)}
    people = [person for person in rows for _ in range(rows[person])]
    pq.write_table(pa.table({"person": people, "x": list(range(len(people)))}), tmp_path / "lots.parquet")
    os.utime(tmp_path / "lots.parquet", (LONG_AGO, LONG_AGO))
    with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
        engine.take_in(LOTS, str(tmp_path / "lots.parquet"))
        engine._session().conf.set("spark.sql.codegen.aggregate.fastHashMap.capacityBit", "10")
        assert engine._session().conf.get("spark.sql.codegen.aggregate.map.twolevel.partialOnly") == "false"
        found = {row["k0"]: row["s"] for row in asked(engine, WEIGHTS)}
    assert found == {person: n * (FULL if n <= MOST else MOST * FULL // n) for person, n in rows.items()}


def test_rows_are_sent_around_in_few_parts_on_one_machine_unless_the_owner_says_how_many(spark_session: Any) -> None:
    parts, beside = "spark.sql.shuffle.partitions", spark_session.newSession()
    assert quicken(beside).conf.get(parts) == "2"
    beside.conf.set(parts, "200")
    assert quicken(beside).conf.get(parts) == "16"
    assert spark_session.conf.get(parts) == "2"


@contextmanager
def swapping(folder: Path) -> Iterator[None]:
    """Somebody gives the rows of one person to the other, and back, all the time."""
    done = threading.Event()

    def swap() -> None:
        for k in itertools.count(1):
            if done.wait(0.01):
                return
            lots(folder, 1 + k % 2, 2 - k % 2, LONG_AGO + k)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("is_table", [False, True])
@pytest.mark.some(1)
def test_rows_that_change_between_two_readings_give_nobody_more_weight(
    tmp_path: Path, spark_session: Any, is_table: bool
) -> None:
    """Without the second look at files, or the one reading of tables, most of the answers would be too large."""
    source = str(lots(tmp_path, 1, 2, LONG_AGO))
    if is_table:
        spark_session.sql("CREATE DATABASE IF NOT EXISTS clinic")
        spark_session.sql(f"CREATE TABLE clinic.swapped USING parquet LOCATION '{source}'")
        source = "clinic.swapped"
    found: dict[str, list[int]] = {WEIGHTS: [], LIGHT_ROWS: []}
    with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
        engine.take_in(LOTS, source)
        with swapping(tmp_path):
            for statement in (WEIGHTS, LIGHT_ROWS) * many(2, 4):
                with suppress(EngineFailure):  # a file that was taken away while it was read
                    found[statement] += [row["s"] for row in asked(engine, statement)]
    assert max(found[WEIGHTS]) <= MOST * FULL
    assert max(found[LIGHT_ROWS]) <= MOST


def test_a_view_that_draws_lots_is_read_once(tmp_path: Path, spark_session: Any) -> None:
    """Each reading makes up other people; what is counted and what is added up must be the same ones."""
    chance = "CAST(java_method('java.lang.Math', 'random') AS DOUBLE)"
    spark_session.sql("CREATE DATABASE IF NOT EXISTS clinic")
    spark_session.sql(
        f"CREATE OR REPLACE VIEW clinic.lots AS SELECT CAST({chance} * 20 AS BIGINT) AS person, id AS x FROM range(999)"
    )
    with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
        engine.take_in(LOTS, "clinic.lots")
        assert max(row["s"] for row in asked(engine, WEIGHTS)) <= MOST * FULL
        assert asked(engine, LIGHT_ROWS) == [{"s": 0}]
        assert not any(view.name.startswith("discreet") for view in engine._session().catalog.listTables())


def test_an_expression_that_grows_too_long_is_refused(folder: Path, spark_session: Any) -> None:
    text = '"weight"'
    for _ in range(12):
        text = f"round({text}, 2)"
    with pytest.raises(QueryRefused, match="so many parts"):
        SparkEngine(folder / "curator", session=spark_session).check(f'SELECT {text} AS x FROM "people"')


def test_servers_are_named_in_words(tmp_path: Path, spark_session: Any) -> None:
    assert isinstance(open_engine(tmp_path / "a", "spark"), SparkEngine)
    engine = open_engine(tmp_path / "b", "sc://127.0.0.1:1")
    with pytest.raises(StoreError, match="must be reachable"):
        engine.take_in(PEOPLE, "people")
    with pytest.raises(InvalidValue, match="by a server or by a session"):
        SparkEngine(tmp_path, "sc://127.0.0.1:1", session=spark_session)


def test_java_that_is_missing_or_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engines.spark.session import java_home

    for says in (None, 'openjdk version "11.0.2" 2019-01-15'):
        java = tmp_path / "bin" / "java"
        if says is not None:
            java.parent.mkdir()
            java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
            java.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(DiscreetError, match="install Java 17 or newer"):
            java_home()


def test_loggers_of_others_stay_what_they_are() -> None:
    from pyspark.logger import PySparkLogger

    with quiet():
        at_once(lambda: PySparkLogger.getLogger("one of Spark's own"), 20_000)
    assert logging.getLoggerClass() is logging.Logger
