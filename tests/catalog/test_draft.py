"""A draft depends on names and types alone, and is refused until its owner has filled it in."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.read import loads
from discreet.catalog.policy.write import (
    Schema,
    draft,
    find_type,
    read_schema,
    schema_of_arrow,
    schema_of_csv,
    schema_of_duckdb,
)
from discreet.errors import DiscreetError, InvalidInput, PolicyError
from tests.catalog.strategies import AWKWARD, LOOKALIKES
from tests.thoroughness import many

ONE = {"id": [1, 2, 3], "age": [33, 44, 55], "ward": ["a", "b", "c"]}
OTHER = {"id": [10**15], "age": [None], "ward": ["CANARY, \"quoted\"\nand 'more'"]}
BREAKS = ["a\u2028b", "a\x85b", "a\r b", "a\n#b", "'\n", "\ud800", "\ufeff", "a\u00a0b", "\u200e"]
TYPES = pa.schema([("id", pa.int64()), ("age", pa.int32()), ("ward", pa.string())])


def drafted(schema: Schema) -> str:
    return draft("visits", schema.columns, types_are_stated=schema.types_are_stated)


def csv_file(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["id,age,ward", *rows]) + "\n")
    return path


# Never from the values ----------------------------------------------------------------------------------------------


def test_two_csv_files_with_one_header_give_one_draft(tmp_path: Path) -> None:
    numbers = csv_file(tmp_path / "numbers.csv", ["1,2,3"] * 100)
    words = csv_file(tmp_path / "words.csv", ["x;y;z", '"CANARY,,,', "\x00\xff;", ""])
    empty = csv_file(tmp_path / "empty.csv", [])
    assert drafted(read_schema(numbers)) == drafted(read_schema(words)) == drafted(read_schema(empty))


def test_nothing_after_the_first_line_of_a_csv_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int | None] = []

    class Watched:
        def __init__(self, path: Path) -> None:
            self.file = path.open("rb")

        def __enter__(self) -> Watched:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def readline(self, size: int) -> bytes:
            read.append(size)
            return self.file.readline(size)

    path = csv_file(tmp_path / "visits.csv", ["1,2,3"])
    opened = Watched(path)
    monkeypatch.setattr(Path, "open", lambda *_: opened)
    schema_of_csv(path)
    assert len(read) == 1


@pytest.mark.parametrize("kind", ["parquet", "arrow", "duckdb"])
def test_two_sources_with_one_schema_give_one_draft(kind: str, tmp_path: Path) -> None:
    texts = set()
    for number, rows in enumerate([ONE, OTHER, {"id": [], "age": [], "ward": []}]):
        held = pa.table(rows, schema=TYPES)
        texts.add(drafted(SOURCES[kind](held, tmp_path / f"{number}.parquet")))
    assert len(texts) == 1
    assert "CANARY" not in texts.pop()


def _parquet(held: pa.Table, path: Path) -> Schema:
    pq.write_table(held, path)
    return read_schema(path)


def _duckdb(held: pa.Table, _: Path) -> Schema:
    with duckdb.connect() as connection:
        connection.register("held", held)
        connection.execute("CREATE TABLE visits AS FROM held")
        return schema_of_duckdb(connection, "main.VISITS")


SOURCES: dict[str, Any] = {"parquet": _parquet, "arrow": lambda held, _: schema_of_arrow(held), "duckdb": _duckdb}


def test_an_arrow_stream_is_not_consumed() -> None:
    reader = pa.table(ONE, schema=TYPES).to_reader()
    read_schema(reader)
    assert reader.read_all().num_rows == 3


def test_a_damaged_row_group_changes_nothing_because_it_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"id": list(range(10_000))}), path, compression="none", use_dictionary=False)
    whole = drafted(read_schema(path))
    content = bytearray(path.read_bytes())
    content[4:40_000] = random.Random(1).randbytes(40_000 - 4)
    path.write_bytes(content)
    assert drafted(read_schema(path)) == whole


def test_the_values_of_an_enum_are_not_shown() -> None:
    text = draft("visits", {"ward": "ENUM('CANARY')", "wards": "ENUM('CANARY')[]", "s": "STRUCT(x ENUM('CANARY'))"})
    assert "CANARY" not in text


# Types --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            ColumnType.INTEGER,
            "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT int",
        ),
        (ColumnType.REAL, "DECIMAL(18,3) DECIMAL FLOAT DOUBLE real numeric(4)"),
        (ColumnType.TEXT, "VARCHAR UUID ENUM('a') text VARCHAR(20)"),
        (ColumnType.BOOLEAN, "BOOLEAN bool"),
        (ColumnType.DATE, "DATE"),
        (ColumnType.TIMESTAMP, "TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS TIMESTAMPTZ DATETIME"),
        (None, "TIME BLOB INTERVAL JSON BIT INTEGER[] INTEGER[3] STRUCT(a) MAP(a) UNION(a) BIGNUM NULL ''"),
    ],
)
def test_types_of_duckdb_have_a_type_here_or_none(kind: ColumnType | None, words: str) -> None:
    assert {find_type(word) for word in words.split()} == {kind}


def test_types_of_two_words_are_known() -> None:
    assert find_type("TIMESTAMP WITH TIME ZONE") is ColumnType.TIMESTAMP
    assert find_type("double precision") is ColumnType.REAL
    assert find_type("TIME WITH TIME ZONE") is None


def test_every_type_duckdb_has_is_drafted_or_left_out(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE everything AS SELECT * FROM test_all_types() LIMIT 0")
        schema = schema_of_duckdb(connection, "everything")
    text = draft("everything", schema.columns)
    assert all(f" {name}:" in text for name in schema.columns)


def test_columns_that_cannot_be_named_are_left_out_and_listed() -> None:
    text = draft("t", {"x": "BLOB", "_id": "BIGINT", "Age": "INTEGER", "AGE": "INTEGER", "a\nb": "INTEGER"})
    assert "columns:\n  Age: {type: integer}" in text
    assert "#   x: no column type stands for BLOB\n" in text
    assert "#   _id: a name must not start with an underscore\n" in text
    assert "#   AGE: another column has this name but for the case\n" in text
    assert '#   "a\\nb": a name must not hold control characters\n' in text


# A draft is a list of what to fill in -------------------------------------------------------------------------------


def test_a_draft_is_refused_until_unit_and_budget_are_filled_in() -> None:
    text = draft("visits", {"id": "BIGINT", "age": "INTEGER"})
    with pytest.raises(PolicyError) as refused:
        loads(text)
    lines = text.splitlines()
    assert [lines[(problem.line or 0) - 1] for problem in refused.value.problems] == ["unit:", "budget:"]
    table = loads(text.replace("unit:", "unit: id", 1).replace("\nbudget:", "\nbudget: {epsilon: 1}"))
    assert [column.type for column in table.columns] == [ColumnType.INTEGER] * 2


def test_a_draft_of_nothing_says_so() -> None:
    text = draft("t", {}).replace("unit:", "unit: row", 1).replace("\nbudget:", "\nbudget: {epsilon: 1}")
    with pytest.raises(PolicyError, match="a table must have at least one column"):
        loads(text)


@given(
    st.lists(st.one_of(st.sampled_from(LOOKALIKES + AWKWARD + BREAKS), st.text(max_size=30)), unique=True, max_size=6)
)
@settings(max_examples=many(40, 100), deadline=None)
def test_any_names_give_a_draft_that_becomes_a_policy(names: list[str]) -> None:
    text = draft("t", {"kept": "INTEGER"} | dict.fromkeys(names, "VARCHAR") | {"odd\n": "BLOB"})
    filled = text.replace("\nunit:", "\nunit: {column: kept}", 1).replace("\nbudget:", "\nbudget: {epsilon: 1}")
    assert {column.name for column in loads(filled).columns} <= {"kept", *names}


@given(st.text(max_size=20))
@settings(max_examples=many(40, 100), deadline=None)
def test_any_name_of_a_table_is_drafted_or_refused(name: str) -> None:
    try:
        text = draft(name, {"x": "INTEGER"})
    except InvalidInput:
        return
    filled = text.replace("\nunit:", "\nunit: {each: row}", 1).replace("\nbudget:", "\nbudget: {epsilon: 1}")
    assert loads(filled).name == name


# Sources that are refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "at least one"),
        (b"1,33,surgery\n", "must start with the names of its columns"),
        (b"id,,ward\n", "a value in place 2"),
        (b"id,12.5,ward\n", "a value in place 2"),
        (b"id,id\n", "different names"),
        (b'id,"age\n33,44', "with their quotes closed"),
        (b"id,\xff\n", "text in UTF-8"),
        (b"x" * 2**20, "shorter than 1 MiB"),
    ],
)
def test_a_first_line_that_is_no_header_is_refused_without_being_shown(
    content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(content)
    with pytest.raises(DiscreetError, match=said) as refused:
        read_schema(path)
    assert "surgery" not in str(refused.value)


@pytest.mark.parametrize(
    ("header", "mark"), [("a;b,c;d", ";"), ("a\tb", "\t"), ("a|b", "|"), ("a", ","), ('"x,y",b', ",")]
)
def test_the_header_alone_says_what_separates_names(header: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(header + "\r\n", newline="")
    assert len(read_schema(path).columns) == (2 if '"' in header else header.count(mark) + 1)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("\ufeffid,age\n")
    assert list(read_schema(path).columns) == ["id", "age"]


@pytest.mark.parametrize("source", ["visits.xlsx", 5, None])
def test_other_sources_are_refused(source: Any) -> None:
    with pytest.raises(InvalidInput, match="a source must be"):
        read_schema(source)


def test_a_parquet_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    path.write_text("not parquet")
    with pytest.raises(InvalidInput, match="a source must be there"):
        read_schema(path)


def test_a_name_in_a_database_never_reads_a_file_or_a_variable(tmp_path: Path) -> None:
    held = pa.table(ONE)
    path = csv_file(tmp_path / "visits.csv", ["1,2,3"])
    with duckdb.connect() as connection:
        for name in ("held", str(path), "visits"):
            with pytest.raises(InvalidInput, match="a table of the database"):
                schema_of_duckdb(connection, name)
    assert held.num_rows == 3
