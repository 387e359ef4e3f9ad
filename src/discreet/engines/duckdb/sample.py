"""Types and formats guessed from a sample that its owner says is public or made up, by the casts of an ingest.

A guess depends on values, so it is never made from protected rows. What fits two ways, such as 03/04/2024, is left as
text and named, for the owner to say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.write import read_schema
from discreet.engines.casts import total_cast
from discreet.engines.duckdb.sources import SourcePart, read_parts
from discreet.engines.parameters import DUCKDB_TYPES, quote, quote_text

__all__ = ["Guess", "guess"]


_NULL_WORDS = ("NA", "N/A", "n/a", "NULL", "null", "None", "-", "?", ".")
_NUMBERS = (
    CSVFormat(),
    CSVFormat(decimal=","),
    CSVFormat(decimal=",", thousands="."),
    CSVFormat(thousands=","),
    CSVFormat(decimal=",", thousands=" "),
    CSVFormat(thousands="'"),
)
_DATES = (None, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y%m%d")
_FLAGS = ("true", "false", "t", "f", "yes", "no", "y", "n")


@dataclass(frozen=True)
class Guess:
    """What a sample looks like."""

    types: Mapping[str, str]
    """DuckDB's word for the type of each column."""
    csv: CSVFormat | None
    """How its values are spelled, where that is not as programs spell them."""
    unclear: tuple[str, ...] = ()
    """Columns whose dates can be read in two orders, or whose commas mean decimals or thousands; they are text."""


def guess(sample: str | os.PathLike[str], stated: CSVFormat | None = None) -> Guess:
    """The types of a sample's columns, and for a CSV file how it spells values; ``stated`` is known already."""
    schema = read_schema(sample, stated)
    if schema.types_are_stated:
        return Guess(schema.columns, None)
    wanted = frozenset(name.casefold() for name in schema.columns)
    with TemporaryDirectory(prefix="discreet-sample-") as folder, duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        [part] = read_parts(os.fspath(sample), wanted, connection, spelled=stated, scratch=Path(folder))
        return _Sample(part, connection, stated or CSVFormat()).guessed()


class _Sample:
    """The columns of a CSV file, all text."""

    def __init__(self, part: SourcePart, connection: duckdb.DuckDBPyConnection, stated: CSVFormat) -> None:
        self._part, self._connection, self._stated = part, connection, stated
        self._labels = {given.name: quote(given.label) for given in part.columns}
        nulls = ", ".join(map(quote_text, _NULL_WORDS))
        self._values = {
            name: f"CASE WHEN trim({label}) NOT IN ('', {nulls}) THEN {label} END"
            for name, label in self._labels.items()
        }

    def guessed(self) -> Guess:
        filled = {name for name, count in self._counts("count({0})").items() if count}
        codes = {name for name in filled if self._hold(r"regexp_full_match(trim({0}), '0[0-9]+')")[name]}
        numbers, spelled, commas = self._numbers(filled - codes)
        clocks = {name for name in filled if self._hold("contains({0}, ':')")[name]}
        dates, form, orders = self._dates(filled - numbers - codes - clocks)
        flags = self._reads_all(filled - numbers - dates, _is_flag)
        kinds = dict.fromkeys(numbers, ColumnType.REAL) | dict.fromkeys(dates, ColumnType.DATE)
        whole = self._reads_all(numbers, lambda value: total_cast(value, "VARCHAR", ColumnType.INTEGER, spelled))
        moments = self._reads_all(filled - kinds.keys(), _as_timestamp)
        kinds |= dict.fromkeys(whole, ColumnType.INTEGER) | dict.fromkeys(flags, ColumnType.BOOLEAN)
        kinds |= dict.fromkeys(moments, ColumnType.TIMESTAMP)
        types = {name: DUCKDB_TYPES[kinds.get(name, ColumnType.TEXT)] for name in self._labels}
        found = replace(spelled, dates=form, nulls=self._nulls(kinds))
        found = replace(found, delimiter=self._stated.delimiter, encoding=self._stated.encoding)
        return Guess(types, None if found == CSVFormat() else found, tuple(sorted(orders | commas)))

    def _numbers(self, names: set[str]) -> tuple[set[str], CSVFormat, set[str]]:
        """The columns of numbers under the format that reads most, and those whose commas may mean two things."""

        def read(spelled: CSVFormat) -> set[str]:
            return self._reads_all(names, lambda value: total_cast(value, "VARCHAR", ColumnType.REAL, spelled))

        found = {spelled: read(spelled) for spelled in _NUMBERS}
        plain = found[_NUMBERS[0]]
        unclear = (found[CSVFormat(decimal=",")] & found[CSVFormat(thousands=",")]) - plain
        best = max(found, key=lambda spelled: len(found[spelled] - unclear))
        if found[best] - unclear == plain:
            return plain, _NUMBERS[0], unclear
        return found[best], best, set()  # another column says what a comma means

    def _dates(self, names: set[str]) -> tuple[set[str], str | None, set[str]]:
        """The columns of dates under the format that reads most of them, and those that two orders read."""
        found = {form: self._reads_all(names, _dated(form)) for form in _DATES}
        unclear = found["%d/%m/%Y"] & found["%m/%d/%Y"]
        best = max(found, key=lambda form: len(found[form] - unclear))
        return found[best] - unclear, best if found[best] - unclear else None, unclear

    def _nulls(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Words that stand for nothing in columns that have a type."""
        texts = [f"SELECT trim({self._labels[name]}) AS word FROM {self._part.relation}" for name in kinds]
        if not texts:
            return ()
        rows = self._connection.execute(f"SELECT DISTINCT word FROM ({' UNION ALL '.join(texts)})").fetchall()
        seen = {word for (word,) in rows}
        return tuple(word for word in _NULL_WORDS if word in seen)

    def _reads_all(self, names: set[str], cast: Any) -> set[str]:
        values = {name: self._values[name] for name in names}
        unread = self._hold_each({name: f"{one} IS NOT NULL AND {cast(one)} IS NULL" for name, one in values.items()})
        return {name for name, is_unread in unread.items() if not is_unread}

    def _hold(self, test: str) -> dict[str, bool]:
        return self._hold_each({name: test.format(value) for name, value in self._values.items()})

    def _hold_each(self, tests: Mapping[str, str]) -> dict[str, bool]:
        """Whether a test holds for any row."""
        if not tests:
            return {}
        columns = ", ".join(f"coalesce(bool_or({test}), false)" for test in tests.values())
        [found] = self._connection.execute(f"SELECT {columns} FROM {self._part.relation}").fetchall()
        return dict(zip(tests, found, strict=True))

    def _counts(self, form: str) -> dict[str, int]:
        columns = ", ".join(form.format(value) for value in self._values.values())
        [found] = self._connection.execute(f"SELECT {columns} FROM {self._part.relation}").fetchall()
        return dict(zip(self._values, found, strict=True))


def _dated(form: str | None) -> Any:
    spelled = None if form is None else CSVFormat(dates=form)
    return lambda value: total_cast(value, "VARCHAR", ColumnType.DATE, spelled)


def _as_timestamp(value: str) -> str | None:
    return total_cast(value, "VARCHAR", ColumnType.TIMESTAMP)


def _is_flag(value: str) -> str:
    return f"CASE WHEN lower(trim({value})) IN ({', '.join(map(quote_text, _FLAGS))}) THEN true END"
