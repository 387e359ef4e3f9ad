"""The middle of the numbers that name people, as the server remembers it from when it last looked at the column.

It parts people into two halves of about the same size, each of which is one stretch of an index. Where the numbers have
changed since then the halves are less even; that changes how long a statement takes, and nothing that it says.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from psycopg import Connection
from psycopg.errors import InsufficientPrivilege

__all__ = ["middle_of"]

_LOOK_UP = """
SELECT s.ends[cardinality(s.ends) / 2 + 1]
FROM (SELECT p.inherited, p.histogram_bounds::text::int8[] AS ends
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_stats p ON p.schemaname = n.nspname AND p.tablename = c.relname AND p.attname = $2
      WHERE c.oid = to_regclass($1) AND p.histogram_bounds IS NOT NULL) s
ORDER BY s.inherited DESC LIMIT 1
"""


def middle_of(connection: Connection[Any], place: str, column: str) -> int | None:
    """The middle of a column of whole numbers; None where the server knows none, or does not tell."""
    with suppress(InsufficientPrivilege), connection.transaction():  # what fails is not to end the whole transaction
        found = connection.execute(_LOOK_UP, (place, column)).fetchone()
        return None if found is None else int(found[0])
    return None
