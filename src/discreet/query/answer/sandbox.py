"""Post-processing: the part of a query above its aggregates, in a database that holds nothing private.

It sees the blocks' noisy tables and the public tables it names, in a `discreet.engines.duckdb.closed_database`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from functools import lru_cache
from threading import Timer

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import ErrorLevel, exp

from discreet.engines.duckdb.closed_database import open_closed_database
from discreet.query.answer.post_processing_errors import mistake_in, refuse_post_processing
from discreet.query.parse.places import refuse
from discreet.time_limits import POST_PROCESSING

__all__ = ["check_above", "post_process", "tell_apart"]


def post_process(query: exp.Query, tables: Mapping[str, pa.Table]) -> pa.Table:
    """The result of ``query`` over these tables alone."""
    with _sandbox(tables, query, "the noisy values are stored: ask again") as database, _ended_in_time(database):
        found = database.sql(_text(query)).to_arrow_table()
    return pa.table([_shown_dates(column) for column in found.columns], tell_apart(found.column_names))


def _shown_dates(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, where dates and timestamps outside the years 1 to 9999 are missing: few who read it know them."""
    kind = column.type
    if not pa.types.is_date32(kind) and (not pa.types.is_timestamp(kind) or kind.unit == "ns"):  # which is never so far
        return column
    first, last = (pa.scalar(end, pa.timestamp("us")).cast(kind, safe=False) for end in (datetime.min, datetime.max))
    is_shown = pc.and_(pc.greater_equal(column, first), pc.less_equal(column, last))
    return pc.if_else(is_shown, column, pa.scalar(None, kind))


def check_above(query: exp.Query, schemas: Mapping[str, pa.Schema]) -> None:
    """Refuse what fails on made-up rows: the query is run once where each of these tables has one."""
    shapes = tuple((name, schemas[name]) for name in sorted(schemas))

    def complaint(part: exp.Expr) -> str:
        try:
            _run_described(_text(part), shapes)
        except duckdb.Error as error:
            return str(error)
        return ""

    if said := complaint(query):
        raise refuse_post_processing(mistake_in(query, complaint), said, "correct it: nothing was spent")


@lru_cache(maxsize=256)
def _run_described(text: str, schemas: tuple[tuple[str, pa.Schema], ...]) -> None:
    """The same text over tables of the same shape is looked at once; what fails is looked at again.

    No clock runs: one row joined with one row is one row, however often.
    """
    with open_closed_database({name: _made_up(schema) for name, schema in schemas}) as database:
        database.execute(text).fetchall()


def _text(query: exp.Expr) -> str:
    return query.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE)


def _made_up(schema: pa.Schema) -> pa.Table:
    return pa.table([pa.array([_MADE_UP.get(field.type)], field.type) for field in schema], schema=schema)


_MADE_UP = {
    pa.int64(): 7,
    pa.float64(): 7.5,
    pa.string(): "a",
    pa.bool_(): True,
    pa.date32(): date(2020, 2, 29),
    pa.timestamp("us"): datetime(2020, 2, 29, 12, 30),
}
"""A value of each type that columns of noisy and public tables have; of any other the value is missing."""


@contextmanager
def _sandbox(tables: Mapping[str, pa.Table], query: exp.Query, remedy: str) -> Iterator[duckdb.DuckDBPyConnection]:
    try:
        with open_closed_database(tables) as database:
            yield database
    except duckdb.InterruptException:
        rule = f"the part of the query above the aggregates must take at most {POST_PROCESSING:g} seconds"
        raise refuse(query, rule, "join or group fewer of its rows; " + remedy) from None
    except duckdb.Error as error:
        # What it complains about was computed from public and noisy values alone.
        raise refuse_post_processing(query, str(error), remedy) from None


@contextmanager
def _ended_in_time(database: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A few noisy rows, crossed with themselves often enough, are more than any computer can count."""
    clock = Timer(POST_PROCESSING, database.interrupt)
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
        clock.join()  # or it could strike whoever uses the database next


def tell_apart(given: list[str]) -> list[str]:
    """Columns of one name get a number, so that each can be named."""
    names: list[str] = []
    for name in given:
        tries = (name if count == 0 else f"{name}_{count}" for count in itertools.count())
        names.append(next(fresh for fresh in tries if fresh not in names))
    return names
