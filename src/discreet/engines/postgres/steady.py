"""Views that give the same rows whenever they are read.

A statement may read its rows twice: once to count those of each person, once to add them up by what was counted. Within
one transaction a table is the same both times, and so is a view that joins, filters and computes. A view is not, where
it draws at random, or takes the first rows of an order that the server is free to choose. Then a person could have few
rows while they are counted and many while they are added up; so such views are refused, also when a view became one
after it was protected. Rows of all other views are read once and kept until the statement is over: also of equal values
the first may be shown, and 1.0 is not spelled like 1.00.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection

__all__ = ["REMEDY", "RULE", "is_plain", "unsteady"]

RULE = "a view must give the same rows whenever it is read"
REMEDY = "keep its rows in a table or a materialized view, and protect a view of that"

_PARTS = {
    "LIMIT or OFFSET": r":limit(Offset|Count) \{",
    "a window function": ":hasWindowFuncs true",
    "DISTINCT ON": ":hasDistinctOn true",
    "TABLESAMPLE": r"\{TABLESAMPLECLAUSE ",
}
"""By what the server keeps of a view; names and texts stand there with their blanks escaped, or as numbers."""
_PART = " ".join(f"WHEN w.ev_action::text ~ '{pattern}' THEN '{words}'" for words, pattern in _PARTS.items())
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
UNION ALL SELECT CASE {_PART} END FROM rules w WHERE CASE {_PART} END IS NOT NULL
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
