"""Every kind of source gives the identical stored table, and what is wrong with one is said in a sentence."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import dataset, parquet

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.engines.duckdb.sources import CSVFiles, DuckDBTable
from discreet.errors import DiscreetError, InvalidType, InvalidValue, StoreError

VISITS = Table(
    "visits",
    (
        Column("patient", ColumnType.INTEGER),
        Column("Größe", ColumnType.REAL),
        Column('the "ward"', ColumnType.TEXT),
        Column("urgent", ColumnType.BOOLEAN),
        Column("day", ColumnType.DATE),
        Column("at", ColumnType.TIMESTAMP),
    ),
    unit="patient",
    budget=Budget(1),
)
ROWS = pa.table(
    {
        "secret": ["not declared"] * 5,
        "at": [
            datetime(2024, 1, 1, 12),
            None,
            datetime(1999, 12, 31, 23, 59, 59),
            datetime(2024, 1, 1),
            datetime(2000, 1, 1),
        ],
        "patient": [30, 10, 30, 20, 10],
        'the "ward"': ["it's", "two\nlines", 'q"q', None, "Ж, ü"],
        "Größe": [1.5, None, -0.25, 1e300, 3.0],
        "urgent": [True, False, None, True, False],
        "day": [date(2024, 2, 29), date(1970, 1, 1), None, date(1, 1, 1), date(9999, 12, 31)],
    }
)
SMALL = Table("small", (Column("name", ColumnType.TEXT), Column("x", ColumnType.INTEGER)), budget=Budget(1))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path / "curator", threads=2) as engine:
        yield engine


def stored(engine: DuckDBEngine, table: str) -> list[dict[str, Any]]:
    rows = engine.run(f"SELECT * FROM {table}").to_pylist()
    return sorted(rows, key=repr)


def as_csv(folder: Path) -> Path:
    arrow_csv.write_csv(ROWS, folder / "rows.csv")
    return folder / "rows.csv"


def as_csv_of_pandas(folder: Path) -> Path:
    ROWS.to_pandas().to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def as_semicolons_with_bom(folder: Path) -> Path:
    ROWS.to_pandas().to_csv(folder / "rows.txt", index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
    return folder / "rows.txt"


def as_tsv(folder: Path) -> str:
    ROWS.to_pandas().to_csv(folder / "rows.tsv", index=True, sep="\t")
    return str(folder / "rows.tsv")


def as_gzipped_csv(folder: Path) -> Path:
    (folder / "rows.csv.gz").write_bytes(gzip.compress(as_csv(folder).read_bytes()))
    return folder / "rows.csv.gz"


def as_stated_delimiter(folder: Path) -> CSVFiles:
    ROWS.to_pandas().to_csv(folder / "rows.csv", index=False, sep="^")
    return CSVFiles(folder / "rows.csv", "^")


def as_parquet(folder: Path) -> Path:
    parquet.write_table(ROWS, folder / "it's [1] *.parquet")
    return folder / "it's [1] *.parquet"


def as_folder_of_different_shapes(folder: Path) -> Path:
    """Other orders, other spellings, other types: one table all the same."""
    place = folder / "rows"
    place.mkdir()
    parquet.write_table(ROWS.slice(0, 2), place / "a.parquet")
    turned = ROWS.slice(2, 1).select(list(reversed(ROWS.column_names)))
    parquet.write_table(turned.rename_columns([name.upper() for name in turned.column_names]), place / "b.parquet")
    text = ROWS.slice(3).cast(pa.schema([(name, pa.string()) for name in ROWS.column_names]))
    parquet.write_table(text, place / "c.parquet")
    return place


def as_pattern(folder: Path) -> str:
    for number in range(5):
        parquet.write_table(ROWS.slice(number, 1), folder / f"part-{number}.parquet")
    return str(folder / "part-*.parquet")


def as_reader(folder: Path) -> pa.RecordBatchReader:
    return ROWS.to_reader(max_chunksize=2)


def as_generator(folder: Path) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(ROWS.schema, (batch for batch in ROWS.to_batches(max_chunksize=1)))


def as_dataset(folder: Path) -> Any:
    return dataset.dataset(ROWS)


def as_dictionaries(folder: Path) -> pa.Table:
    place = ROWS.column_names.index('the "ward"')
    return ROWS.set_column(place, 'the "ward"', ROWS['the "ward"'].dictionary_encode())


def as_zoned(folder: Path) -> pa.Table:
    place = ROWS.column_names.index("at")
    return ROWS.set_column(place, "at", ROWS["at"].cast(pa.timestamp("us", tz="UTC")))


def as_pandas(folder: Path) -> pd.DataFrame:
    return ROWS.to_pandas()


def as_pandas_objects(folder: Path) -> pd.DataFrame:
    frame = ROWS.to_pandas()
    frame["patient"] = pd.Series(["30", 10, 30, "20", 10], dtype=object)
    return frame.set_index("secret")


def as_polars(folder: Path) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(ROWS))


def as_lazy_polars(folder: Path) -> pl.LazyFrame:
    frame = as_polars(folder).with_columns(pl.lit(2**100, pl.Int128).alias("wide"), pl.col("patient").cast(pl.Int128))
    return frame.lazy()


def as_duckdb(folder: Path) -> DuckDBTable:
    with duckdb.connect(str(folder / "other.duckdb")) as connection:
        connection.register("given", ROWS)
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.rows AS FROM given")
    return DuckDBTable(folder / "other.duckdb", "clinic.rows")


def as_relation(folder: Path) -> Any:
    connection = duckdb.connect()
    connection.register("given", ROWS)
    return connection.sql("FROM given")


SOURCES: list[Callable[[Path], Any]] = [
    as_csv, as_csv_of_pandas, as_semicolons_with_bom, as_tsv, as_gzipped_csv, as_stated_delimiter,
    as_parquet, as_folder_of_different_shapes, as_pattern,
    as_reader, as_generator, as_dataset, as_dictionaries, as_zoned, as_relation,
    as_pandas, as_pandas_objects, as_polars, as_lazy_polars, as_duckdb,
]  # fmt: skip


@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
@pytest.mark.some(8)
def test_every_source_gives_the_identical_table(
    tmp_path: Path, engine: DuckDBEngine, make: Callable[[Path], Any]
) -> None:
    ingest(engine, VISITS, make(tmp_path))
    unit = {10: 1, 20: 2, 30: 3}
    names = [column.name for column in VISITS.columns]
    rows = ROWS.to_pylist()
    many = Counter(row["patient"] for row in rows)
    wanted = [
        {"_unit": unit[row["patient"]], "_n": many[row["patient"]], **{name: row[name] for name in names}}
        for row in rows
    ]
    found = stored(engine, "visits")
    salts = {(row["patient"], row.pop("_salt")) for row in found}
    assert len(salts) == len(unit)  # a person has one order of keys
    assert found == sorted(wanted, key=repr)


def as_table_that_takes_small_for_large(folder: Path) -> DuckDBTable:
    with duckdb.connect(str(folder / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE rows (name VARCHAR COLLATE NOCASE.NOACCENT, x BIGINT)")
        connection.execute("INSERT INTO rows VALUES ('Ann', 1), ('ann', 2), ('ANN', 3), ('Änn', 4), ('ann', 5)")
    return DuckDBTable(folder / "other.duckdb", "rows")


def as_relation_that_takes_small_for_large(folder: Path) -> Any:
    return duckdb.connect(str(as_table_that_takes_small_for_large(folder).path)).sql("FROM rows")


@pytest.mark.parametrize("make", [as_table_that_takes_small_for_large, as_relation_that_takes_small_for_large])
def test_every_letter_counts_whatever_the_source_takes_for_the_same(
    make: Callable[[Path], Any], tmp_path: Path, engine: DuckDBEngine
) -> None:
    """Else the first spelling would name a group, and one person say what it is; and people would share a weight."""
    ingest(engine, replace(SMALL, unit="name"), make(tmp_path))
    found = engine.run(
        "SELECT name, COUNT(*) AS n, COUNT(DISTINCT _unit) AS people FROM small GROUP BY name"
    ).to_pylist()
    assert {row["name"]: row["n"] for row in found} == {"Ann": 1, "ann": 2, "ANN": 1, "Änn": 1}
    assert [row["people"] for row in found] == [1] * 4
    assert engine.run("SELECT COUNT(DISTINCT _unit) AS people FROM small").to_pylist() == [{"people": 4}]
    assert engine.run("SELECT COUNT(*) AS n FROM small WHERE name = $1", ["ann"]).to_pylist() == [{"n": 2}]


def test_undeclared_columns_are_never_stored(tmp_path: Path, engine: DuckDBEngine) -> None:
    ingest(engine, VISITS, ROWS)
    files = b"".join(file.read_bytes() for file in engine.store.root.rglob("*") if file.is_file())
    assert b"not declared" not in files


# CSV in the wild --------------------------------------------------------------------------------------------------


def small(tmp_path: Path, engine: DuckDBEngine, body: bytes) -> list[tuple[Any, Any]]:
    (tmp_path / "small.csv").write_bytes(body)
    ingest(engine, SMALL, tmp_path / "small.csv")
    rows = engine.run("SELECT name, x FROM small ORDER BY _unit").to_pylist()
    return sorted(((row["name"], row["x"]) for row in rows), key=repr)


def test_cells_that_cannot_be_cast_are_missing(tmp_path: Path, engine: DuckDBEngine) -> None:
    found = small(tmp_path, engine, b"name,x\na,1\nb,one\nc,\nd,1e99\ne,9223372036854775808\nf,-3\n")
    assert found == [("a", 1), ("b", None), ("c", None), ("d", None), ("e", None), ("f", -3)]


def test_quotes_newlines_and_a_byte_order_mark_are_read(tmp_path: Path, engine: DuckDBEngine) -> None:
    body = '\ufeff"name","x"\r\n"a\r\nb",1\r\n"say ""hi"", now",2\r\n'.encode()
    assert small(tmp_path, engine, body) == [("a\r\nb", 1), ('say "hi", now', 2)]


def test_an_empty_cell_is_missing_and_a_quoted_one_is_empty_text(tmp_path: Path, engine: DuckDBEngine) -> None:
    assert small(tmp_path, engine, b'name,x\n,1\n"",2\n') == [("", 2), (None, 1)]


def test_a_row_that_looks_like_a_comment_is_a_row(tmp_path: Path, engine: DuckDBEngine) -> None:
    assert small(tmp_path, engine, b"name,x\n#a,1\n//b,2\n") == [("#a", 1), ("//b", 2)]


def test_rows_with_too_few_fields_have_missing_values_also_beside_quoted_newlines(
    tmp_path: Path, engine: DuckDBEngine
) -> None:
    assert small(tmp_path, engine, b'name,x\na\n"b\nc",2\n') == [("a", None), ("b\nc", 2)]


@pytest.mark.parametrize(
    "body",
    [b'name,x\na,1\n"b,2\nc,3\nd,4\n', b'name,x\na\n"b,2\nc,3\nd,4\n', b'name,x\n"b""c,2\nd\ne,4\n'],
    ids=["alone", "after a row with too few fields", "escaped quotes come in pairs"],
)
def test_a_quote_that_is_not_closed_is_refused_instead_of_swallowing_the_rows_after_it(
    tmp_path: Path, engine: DuckDBEngine, body: bytes
) -> None:
    with pytest.raises(StoreError, match="quotes closed"):
        small(tmp_path, engine, body)


def test_text_that_looks_like_nothing_stays(tmp_path: Path, engine: DuckDBEngine) -> None:
    found = small(tmp_path, engine, b"name,x\nNULL,1\nNaN,2\nN/A,3\n a ,4\n")
    assert found == [(" a ", 4), ("N/A", 3), ("NULL", 1), ("NaN", 2)]


@pytest.mark.parametrize("body", [b"name,x\n", b"name,x", b"\xef\xbb\xbfname,x\r\n"])
def test_a_header_alone_is_an_empty_table(tmp_path: Path, engine: DuckDBEngine, body: bytes) -> None:
    assert small(tmp_path, engine, body) == []


def test_the_order_and_case_of_the_header_do_not_matter(tmp_path: Path, engine: DuckDBEngine) -> None:
    assert small(tmp_path, engine, b"X,other, NAME \n1,,a\n") == [("a", 1)]


def test_unnamed_columns_beside_the_declared_ones_are_ignored(tmp_path: Path, engine: DuckDBEngine) -> None:
    assert small(tmp_path, engine, b",name,x,,\n1,a,2,,\n") == [("a", 2)]


@pytest.mark.parametrize("body", [b"", b"\n", b"a,1\nb,2\n", b"nam,x\na,1\n"])
def test_a_file_without_the_declared_columns_is_refused(tmp_path: Path, engine: DuckDBEngine, body: bytes) -> None:
    with pytest.raises(InvalidValue, match="the source must have the declared columns, got 'name'"):
        small(tmp_path, engine, body)


def test_a_missing_column_is_refused_with_a_suggestion(tmp_path: Path, engine: DuckDBEngine) -> None:
    with pytest.raises(InvalidValue, match="did you mean 'nam'"):
        small(tmp_path, engine, b"nam,x\na,1\n")


def test_a_broken_row_is_refused_with_its_line_and_without_its_words(tmp_path: Path, engine: DuckDBEngine) -> None:
    heard: list[str] = []
    engine.owner_log = heard.append
    with pytest.raises(StoreError, match="<line 3>") as caught:
        small(tmp_path, engine, b"name,x\na,1\ncanary,2,3\n")
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None
    assert any("canary" in words for words in heard)


@pytest.mark.parametrize("body", ["name,x\nJosé,1\n".encode("latin-1"), "name,x\na,1\n".encode("utf-16")])
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, engine: DuckDBEngine, body: bytes) -> None:
    with pytest.raises(StoreError, match="UTF-8"):
        small(tmp_path, engine, body)


# Other sources in the wild ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [as_csv, as_parquet, as_reader, as_pandas, as_polars, as_duckdb])
@pytest.mark.some(2)
def test_a_source_without_rows_is_an_empty_table(
    tmp_path: Path, engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Any]
) -> None:
    monkeypatch.setattr(f"{__name__}.ROWS", ROWS.slice(0, 0))
    ingest(engine, VISITS, make(tmp_path))
    assert stored(engine, "visits") == []


def test_nan_and_infinity_are_missing(engine: DuckDBEngine) -> None:
    table = Table("t", (Column("x", ColumnType.REAL),), budget=Budget(1))
    for source in (
        pa.table({"x": [1.0, float("nan"), float("inf"), -float("inf")]}),
        pd.DataFrame({"x": ["1", "nan", "inf", None]}),
    ):
        ingest(engine, table, source)
        assert sorted((row["x"] for row in engine.run("SELECT x FROM t").to_pylist()), key=repr) == [
            1.0,
            None,
            None,
            None,
        ]


def test_integers_past_64_bits_are_missing(engine: DuckDBEngine) -> None:
    table = Table("t", (Column("x", ColumnType.INTEGER),), budget=Budget(1))
    wide = [
        pa.table({"x": pa.array([2**64 - 1, 5], pa.uint64())}),
        pa.table({"x": pa.array([Decimal(2**100), Decimal(5)], pa.decimal256(60, 0))}),
        pd.DataFrame({"x": [2**100, 5]}, dtype=object),
        pl.DataFrame({"x": pl.Series([2**100, 5], dtype=pl.Int128)}),
    ]
    for source in wide:
        ingest(engine, table, source)
        assert engine.run("SELECT x FROM t ORDER BY x").to_pylist() == [{"x": 5}, {"x": None}]


def test_a_name_that_occurs_twice_is_refused_when_it_is_declared(tmp_path: Path, engine: DuckDBEngine) -> None:
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([2])], names=["name", "x", "X"])
    parquet.write_table(twice, tmp_path / "twice.parquet")
    (tmp_path / "twice.csv").write_text("name,x,x\na,1,2\n")
    frame = pd.DataFrame([["a", 1, 2]], columns=["name", "x", "x"])
    for source in (twice, tmp_path / "twice.parquet", tmp_path / "twice.csv", frame):
        with pytest.raises(InvalidValue, match="once"):
            ingest(engine, SMALL, source)


def test_a_name_that_occurs_twice_does_not_shift_the_others(tmp_path: Path, engine: DuckDBEngine) -> None:
    """DuckDB calls the second ``y`` ``Y_1``, which must not be taken for the declared column of that name."""
    table = Table("t", (Column("y_1", ColumnType.INTEGER),), budget=Budget(1))
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["y", "Y", "y_1"])
    parquet.write_table(twice, tmp_path / "twice.parquet")
    (tmp_path / "twice.csv").write_text("y,Y,y_1\n1,2,3\n")
    for source in (twice, tmp_path / "twice.parquet", tmp_path / "twice.csv"):
        ingest(engine, table, source)
        assert engine.run("SELECT y_1 FROM t").to_pylist() == [{"y_1": 3}]


def test_a_type_without_a_meaning_is_refused_unless_nobody_declares_it(engine: DuckDBEngine) -> None:
    odd = pa.table({"name": ["a"], "x": pa.array([[1]]), "half": pa.array([1.5], pa.float16()), "raw": [b"x"]})
    with pytest.raises(InvalidType, match=r"small.x: the source must hold what can be read as integer"):
        ingest(engine, SMALL, odd)
    ingest(engine, SMALL, odd.set_column(1, "x", pa.array([1])))
    assert engine.run("SELECT name, x FROM small").to_pylist() == [{"name": "a", "x": 1}]


def test_brackets_in_the_name_of_a_file_are_not_a_pattern(tmp_path: Path, engine: DuckDBEngine) -> None:
    for name, x in (("rows[1]", 1), ("rows1", 2)):
        parquet.write_table(pa.table({"name": ["a"], "x": [x]}), tmp_path / f"{name}.parquet")
        (tmp_path / f"{name}.csv").write_text(f"name,x\na,{x}\n")
    for suffix in ("parquet", "csv"):
        ingest(engine, SMALL, tmp_path / f"rows[1].{suffix}")
        assert engine.run("SELECT x FROM small").to_pylist() == [{"x": 1}]


def test_columns_may_come_from_the_names_of_folders(tmp_path: Path, engine: DuckDBEngine) -> None:
    for name in ("a", "b"):
        (tmp_path / "parts" / f"name={name}").mkdir(parents=True)
        parquet.write_table(pa.table({"x": [1]}), tmp_path / "parts" / f"name={name}" / "0.parquet")
    ingest(engine, SMALL, tmp_path / "parts")
    assert engine.run("SELECT name FROM small ORDER BY name").to_pylist() == [{"name": "a"}, {"name": "b"}]


def test_one_file_without_a_declared_column_is_refused_and_not_read_as_missing(
    tmp_path: Path, engine: DuckDBEngine
) -> None:
    parquet.write_table(pa.table({"name": ["a"], "x": [1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"name": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(InvalidValue, match="declared columns, got 'x'"):
        ingest(engine, SMALL, str(tmp_path / "*.parquet"))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere.csv", "must be there"),
        ("nowhere/*.parquet", "must be there"),
        (DuckDBTable("nowhere.duckdb", "t"), "must be there"),
        (42, "holds rows"),
        (None, "holds rows"),
        ([{"name": "a"}], "holds rows"),
        (CSVFiles("nowhere.csv", ",,"), "one character"),
        (pa.table({}), "declared columns"),
        (pd.DataFrame(), "declared columns"),
        (pl.DataFrame(), "declared columns"),
    ],
)
def test_what_is_not_a_source_is_refused(engine: DuckDBEngine, source: Any, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        ingest(engine, SMALL, source)


def test_a_file_of_another_kind_is_refused(tmp_path: Path, engine: DuckDBEngine) -> None:
    for name in ("a.parquet", "a.xlsx", "a.duckdb", "a"):
        (tmp_path / name).write_bytes(b"nonsense")
        with pytest.raises(DiscreetError, match=r"a source must be|an Excel file needs"):
            ingest(engine, SMALL, tmp_path / name)
    with pytest.raises(StoreError, match="DuckDB file"):
        ingest(engine, SMALL, DuckDBTable(tmp_path / "a.duckdb", "t"))


def test_a_table_that_another_database_does_not_have_is_refused(tmp_path: Path, engine: DuckDBEngine) -> None:
    source = as_duckdb(tmp_path)
    with pytest.raises(InvalidValue, match="table of the DuckDB file"):
        ingest(engine, SMALL, DuckDBTable(source.path, "nothing"))
