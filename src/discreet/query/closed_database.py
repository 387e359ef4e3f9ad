"""An empty database that can reach no file, no network, no setting and no variable of the program around it."""

from __future__ import annotations

import os
from functools import lru_cache
from threading import get_ident

import duckdb

__all__ = ["closed_database"]

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # or names could find variables of the Python program
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "threads": "1",
    "memory_limit": "1GB",
}


def closed_database() -> duckdb.DuckDBPyConnection:
    """The one of this thread, kept because opening one takes longer than most of what is done in it.

    Whoever registers a table in it takes the table out again.
    """
    return _database(os.getpid(), get_ident())


@lru_cache(maxsize=64)
def _database(process: int, thread: int) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(":memory:", config=_CONFIG)
    database.execute("SET lock_configuration = true")
    return database
