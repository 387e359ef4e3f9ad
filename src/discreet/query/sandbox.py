"""Post-processing: the part of a query above its aggregates, in a database that holds nothing private.

It sees the blocks' noisy tables and the public tables it names. It can reach no file, no network and no setting.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import get_ident

import duckdb
import pyarrow as pa
from sqlglot import exp

from discreet.errors import QueryRefused

__all__ = ["check_above", "post_process"]

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # or names could find variables of the Python program
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "threads": "1",
    "memory_limit": "1GB",
}


def post_process(query: exp.Query, tables: Mapping[str, pa.Table]) -> pa.Table:
    """The result of ``query`` over these tables alone."""
    with _sandbox(tables, "the noisy values are stored: ask again") as database:
        return _told_apart(database.sql(query.sql(dialect="duckdb", comments=False)).to_arrow_table())


def check_above(query: exp.Query, tables: Mapping[str, pa.Table]) -> None:
    """Refuse what can be seen to fail from the names and types of these tables alone; nothing is computed."""
    with _sandbox(tables, "correct it: nothing was spent") as database:
        database.sql("DESCRIBE " + query.sql(dialect="duckdb", comments=False)).fetchall()


@contextmanager
def _sandbox(tables: Mapping[str, pa.Table], remedy: str) -> Iterator[duckdb.DuckDBPyConnection]:
    database = _database(os.getpid(), get_ident())
    try:
        for name, table in tables.items():
            database.register(name, table)
        yield database
    except duckdb.Error as error:
        # What it complains about was computed from public and noisy values alone.
        rule = "the part of the query above the aggregates failed"
        raise QueryRefused(rule, str(error).split("\n")[0][:120], remedy) from None
    finally:
        for name in tables:
            database.unregister(name)


@lru_cache(maxsize=64)
def _database(process: int, thread: int) -> duckdb.DuckDBPyConnection:
    """An empty database for this thread of this process; opening one takes longer than most post-processing."""
    database = duckdb.connect(":memory:", config=_CONFIG)
    database.execute("SET lock_configuration = true")
    return database


def _told_apart(table: pa.Table) -> pa.Table:
    """Columns of one name get a number, so that each can be named."""
    names: list[str] = []
    for name in table.column_names:
        tries = (name if count == 0 else f"{name}_{count}" for count in itertools.count())
        names.append(next(fresh for fresh in tries if fresh not in names))
    return table.rename_columns(names)
