"""Empty databases for what is public or noisy: they reach no file, no network, no setting and no Python variable."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb
import pyarrow as pa

__all__ = ["open_closed_database"]


_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # or names could find variables of the Python program
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "threads": "1",
    "memory_limit": "1GB",
}


@contextmanager
def open_closed_database(tables: Mapping[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """One that holds these tables alone and is nobody else's meanwhile.

    It is kept for the next who needs one, because opening takes longer than most of what is done in it.
    """
    idle = _IDLE[os.getpid()]
    try:
        database = idle.pop()
    except IndexError:
        database = _opened()
    try:
        for name, table in tables.items():
            database.register(name, table)
        yield database
    finally:
        for name in tables:
            database.unregister(name)
        idle.append(database)


_IDLE: defaultdict[int, list[duckdb.DuckDBPyConnection]] = defaultdict(list)
"""Per process, those that nobody uses: a forked child must not touch its parent's, whose threads it does not have."""


def _opened() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(":memory:", config=_CONFIG)
    database.execute("SET lock_configuration = true")
    return database
