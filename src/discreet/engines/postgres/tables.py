"""What a server says of a table when it is protected, and what it must not say.

Owners write names as PostgreSQL does, public.visits or "My Schema"."T", and they are folded as it folds them.

>>> split_name('Public."My Table"')
['public', 'My Table']

Views must give the same rows whenever they are read. A statement may read its rows twice: once to count those of each
person, once to add them up by what was counted. Within one transaction a table is the same both times, and so is a view
that joins, filters and computes. A view is not, where it draws at random, or takes the first rows of an order that the
server is free to choose. Then a person could have few rows while they are counted and many while they are added up; so
such views are refused, also when a view became one after it was protected. Rows of all other views are read once and
kept until the statement is over: also of equal values the first may be shown, and 1.0 is not spelled like 1.00.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

from discreet.engines.postgres.columns import ENUMERATION
from discreet.errors import DiscreetError, InvalidValue, StoreError

__all__ = [
    "REMEDY",
    "RULE",
    "check_role",
    "find_relation",
    "is_plain",
    "quote_name",
    "read_columns",
    "refusals",
    "split_name",
    "unsteady",
]


_PART = r'"(?:[^"\x00]|"")+"|[^\W\d][\w$]*'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")


def split_name(name: str) -> list[str]:
    """The schema, where there is one, and the table."""
    found = _NAME.fullmatch(name.strip())
    if found is None:
        rule = "a table of PostgreSQL is named schema.table, with quotes around what is no plain name"
        raise InvalidValue(rule, name, 'write public.visits or "My Schema"."T"')
    return [_fold(part) for part in found.groups() if part is not None]


def _fold(part: str) -> str:
    if part.startswith('"'):
        return part[1:-1].replace('""', '"')
    return "".join(letter.lower() if letter.isascii() else letter for letter in part)


def quote_name(name: str) -> str:
    """A name between double quotes."""
    return '"' + name.replace('"', '""') + '"'


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


def find_relation(connection: Connection[Any], name: str) -> tuple[str, bool]:
    """The full name of a table or view, between quotes, and whether its rows have an address."""
    wanted = ".".join(quote_name(part) for part in split_name(name))
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
    return f"{quote_name(row[0])}.{quote_name(row[1])}", _WITH_ROWS[row[2]]


def read_columns(connection: Connection[Any], place: str) -> Mapping[str, str]:
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


RULE = "a view must give the same rows whenever it is read"
REMEDY = "keep its rows in a table or a materialized view, and protect a view of that"

_PARTS = {
    "LIMIT or OFFSET": r":limit(Offset|Count) \{",
    "a window function": ":hasWindowFuncs true",
    "DISTINCT ON": ":hasDistinctOn true",
    "TABLESAMPLE": r"\{TABLESAMPLECLAUSE ",
}
"""By what the server keeps of a view; names and texts stand there with their blanks escaped, or as numbers."""
_VIEW_PART = " ".join(f"WHEN w.ev_action::text ~ '{pattern}' THEN '{words}'" for words, pattern in _PARTS.items())
_REACHED = """
WITH RECURSIVE reached AS (
  SELECT to_regclass($1)::oid AS oid
  UNION
  SELECT n.oid FROM reached r, LATERAL (
    SELECT d.refobjid AS oid FROM pg_class c JOIN pg_rewrite w ON w.ev_class = c.oid JOIN pg_depend d
    ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
    WHERE c.oid = r.oid AND c.relkind = 'v'
    UNION SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = r.oid
  ) n
), rules AS (
  SELECT w.ev_action FROM reached r JOIN pg_class c USING (oid) JOIN pg_rewrite w ON w.ev_class = c.oid
  WHERE c.relkind = 'v'
)
"""
"""The views and tables that a view is made of, and what the server keeps of the views."""
_DRAWN = "p.provolatile = 'v'"
_UNKNOWN = "p.pronamespace <> 'pg_catalog'::regnamespace AND (p.prokind = 'a' OR p.provolatile <> 'i')"
"""What somebody wrote may take whichever rows come first; one that is declared IMMUTABLE is believed to read none."""
_ORDERED = (
    "p.prokind = 'a' AND (p.proname ~ '_agg|^xmlagg$|^any_value$'"
    " OR p.proname NOT IN ('min', 'max', 'count') AND ARRAY[700, 701]::oid[] && p.proargtypes::oid[])"
)
"""Lists are in the order in which rows came, and sums of broken numbers end in other digits in another order."""
_FUNCTIONS = r"':(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)'"
_UNSTEADY = f"""{_REACHED}
SELECT 'the foreign table ' || c.relname FROM reached r JOIN pg_class c USING (oid) WHERE c.relkind = 'f'
UNION ALL SELECT CASE {_VIEW_PART} END FROM rules w WHERE CASE {_VIEW_PART} END IS NOT NULL
UNION ALL SELECT 'the function ' || p.proname FROM rules w, regexp_matches(w.ev_action::text, {_FUNCTIONS}, 'g') f(id)
JOIN pg_proc p ON p.oid = f.id[1]::oid WHERE {_DRAWN} OR {_UNKNOWN} OR {_ORDERED}
LIMIT 1
"""
_MIXED = (
    r":has(Aggs|SubLinks|TargetSRFs|Recursive) true|:(distinct|group|sort)Clause \(|:setOperations \{|:rtekind [346789]"
)
"""What may bring rows together, or call something that does; joins, filters and values of one row are not among it."""
_PLAIN = f"""{_REACHED}
SELECT NOT EXISTS (SELECT FROM rules w WHERE w.ev_action::text ~ '{_MIXED}')
AND NOT EXISTS (SELECT FROM rules w, regexp_matches(w.ev_action::text, {_FUNCTIONS}, 'g') f(id)
  JOIN pg_proc p ON p.oid = f.id[1]::oid WHERE p.provolatile <> 'i')
"""


def is_plain(connection: Connection[Any], place: str) -> bool:
    """Whether this is a table, or a view that only joins, filters and computes, so that it can be read twice."""
    found = connection.execute(_PLAIN, (place,)).fetchone()
    return found is not None and bool(found[0])


def unsteady(connection: Connection[Any], place: str) -> str | None:
    """What keeps a table or view from being the same in a second reading; None where nothing does."""
    found = connection.execute(_UNSTEADY, (place,)).fetchone()
    return None if found is None else str(found[0])
