"""Tables from files keep what the files say."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from discreet.anonymize.table import arrow_table
from discreet.errors import InvalidType, InvalidValue


def read(folder: Path, text: str, name: str = "t.csv") -> pa.Table:
    (folder / name).write_bytes(text.encode())
    return arrow_table(folder / name)


def test_codes_with_leading_zeros_stay_text(tmp_path: Path) -> None:
    table = read(tmp_path, "zip,n,x,d\n02139,1,0.5,2020-01-01\n10001,2,1e3,1999-12-31\n")
    assert table.to_pydict()["zip"] == ["02139", "10001"]
    assert [str(kind) for kind in table.schema.types] == ["string", "int64", "double", "date32[day]"]


@pytest.mark.parametrize("cell", ["007.5", "+5", "1,0", "0x10", "NA", "1_000", "-07", "12345678901234567890"])
def test_text_that_is_no_plain_number_stays_text(tmp_path: Path, cell: str) -> None:
    table = read(tmp_path, f'a;b\n"{cell}";1\n2;2\n')
    assert table.to_pydict()["a"] == [cell, "2"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(tmp_path: Path, delimiter: str) -> None:
    table = read(tmp_path, f"\ufeffa{delimiter}b\n1{delimiter}x\n".encode().decode())
    assert table.to_pydict() == {"a": [1], "b": ["x"]}


def test_empty_cells_are_missing(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n,x\n1,\n").to_pydict() == {"a": [None, 1], "b": ["x", None]}


def test_one_column_of_missing_cells_is_kept(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n,x\n,y\n").to_pydict()["a"] == [None, None]


def test_quoted_line_breaks_and_delimiters_belong_to_a_cell(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n"x\ny",1\n"p,q",2\n').to_pydict()["a"] == ["x\ny", "p,q"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,a\n1,2\n", "name of its own"),
        ("a,b\n1\n", "must have the same columns"),
        ("", "must have a header"),
    ],
)
def test_files_that_are_no_table_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidValue, match=problem):
        read(tmp_path, text)


def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    (tmp_path / "t.xlsx").write_bytes(b"")
    for name, problem in [
        ("bad.csv", "UTF-8"),
        ("bad.parquet", "readable as Parquet"),
        ("t.xlsx", "must be a .csv, .tsv or .parquet file"),
        ("none.csv", "must be there"),
    ]:
        with pytest.raises(InvalidValue, match=problem):
            arrow_table(tmp_path / name)
    with pytest.raises(InvalidType, match="must be something that holds rows, got <list>"):
        arrow_table([1, 2])
