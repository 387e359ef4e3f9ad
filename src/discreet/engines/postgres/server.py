"""What a server says of a table when it is protected, and what it must not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

from discreet.engines.postgres.naming import parts_of, quoted
from discreet.engines.postgres.reading import ENUMERATION
from discreet.errors import DiscreetError, InvalidValue, StoreError

__all__ = ["check_role", "columns_of", "found", "refusals"]

_OLDEST = 140_000
_WITH_ROWS = {"r": True, "p": True, "v": False}
"""Kinds of relations that can be held against changes while they are read, and whether their rows have an address."""
_MATERIALIZED = "m"
_WRITING = "INSERT, UPDATE, DELETE, TRUNCATE"
_COLUMNS = f"""
SELECT a.attname::text, CASE WHEN t.typtype = 'e' THEN '{ENUMERATION}' ELSE format_type(t.oid, NULL) END
FROM pg_attribute a
JOIN pg_type d ON d.oid = a.atttypid
JOIN pg_type t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""


def found(connection: Connection[Any], name: str) -> tuple[str, bool]:
    """The full name of a table or view, between quotes, and whether its rows have an address."""
    wanted = ".".join(quoted(part) for part in parts_of(name))
    row = connection.execute(
        "SELECT n.nspname::text, c.relname::text, c.relkind::text FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)",
        (wanted,),
    ).fetchone()
    if row is None:
        raise InvalidValue("the server must have the table", name, "name one that the role may see")
    if row[2] not in _WITH_ROWS:
        kept = "keep its rows in a materialized view, and protect a view of that"
        remedy = "protect a view of it" if row[2] == _MATERIALIZED else kept
        raise InvalidValue("only tables and views are protected", name, remedy)
    return f"{quoted(row[0])}.{quoted(row[1])}", _WITH_ROWS[row[2]]


def columns_of(connection: Connection[Any], place: str) -> Mapping[str, str]:
    """The columns of a table and their types, in the server's words; a domain is what it is made of."""
    return dict(connection.execute(_COLUMNS, (place,)).fetchall())


def check_role(connection: Connection[Any], place: str) -> None:
    """Refuse a role that could change rows, or that does not see all of them."""
    row = connection.execute(
        "SELECT current_setting('server_version_num')::int4, current_setting('server_encoding'), r.rolsuper,"
        f" has_table_privilege(c.oid, '{_WRITING}') OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'),"
        " has_table_privilege(c.oid, 'SELECT'), row_security_active(c.oid)"
        " FROM pg_roles r, pg_class c WHERE r.rolname = current_user AND c.oid = to_regclass($1)",
        (place,),
    ).fetchone()
    if row is None:
        raise InvalidValue("the server must have the table", place, "name one that the role may see")
    version, encoding, is_superuser, may_write, may_read, is_filtered = row
    if version < _OLDEST:
        raise StoreError("PostgreSQL must be version 14 or newer", str(version // 10_000), "upgrade the server")
    if encoding != "UTF8":
        raise StoreError("the database must hold its text in UTF8", encoding, "protect a copy in UTF8")
    if is_superuser or may_write:
        rule = "the curator's role on the server must be one that can only read"
        raise InvalidValue(rule, "<a superuser>" if is_superuser else f"<one that may write {place}>", _REMEDY)
    if not may_read:
        raise InvalidValue("the curator's role must be allowed to read the table", place, f"GRANT SELECT ON {place}")
    if is_filtered:
        rule = "row level security must not hide rows from the curator's role"
        raise InvalidValue(rule, place, "give the role BYPASSRLS, or protect a view")


_REMEDY = "CREATE ROLE reader LOGIN, and GRANT SELECT on what it protects and nothing else"


@contextmanager
def refusals() -> Iterator[None]:
    """Faults of the server while an owner protects a table, in words that name neither hosts nor passwords."""
    try:
        yield
    except DiscreetError:
        raise
    except psycopg.Error as fault:
        rule, value, remedy = _words(fault)
        raise StoreError(rule, value, remedy) from None


def _state_of_connection(words: str) -> str:
    """A connection that is refused comes without a state."""
    if "password" in words or "authentication" in words or ("role " in words and "does not exist" in words):
        return "28000"
    return "3D000" if "database " in words and "does not exist" in words else ""


def _words(fault: psycopg.Error) -> tuple[str, str, str]:
    state = fault.sqlstate or _state_of_connection(str(fault))
    known = {
        "28": ("the server must take the user and the password", "<it does not>", "check the address and PGPASSWORD"),
        "3D": ("the server must have the database", "<it has not>", "check the address"),
        "42": ("the role must be allowed to read the table", "<it is not>", "GRANT SELECT on it"),
        "57": ("the server must be ready", "<it is starting or stopping>", "try again"),
    }
    unreachable = ("the server must be reachable", "<it is not>", "check the address, and that the server runs")
    return known.get(
        state[:2], unreachable if not state else ("the server must answer", f"<state {state}>", "see its log")
    )
