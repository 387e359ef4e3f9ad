"""Keys that nobody listed: each unit makes its first few visible, in an order of its own.

A question by keys that are not public keeps, of each unit, the rows of its first few keys in the unit's order. For a
question about a whole table by one of its columns, that depends on the rows,
the column and the number of keys alone. An ingest therefore writes one number beside each row, per column that can be
such a key:

- 0 where the key is not among the first few of its unit;
- n where it is, the unit keeps n rows in all, and this row stands for the unit among the holders of the key;
- -n where it is, and another row of the unit with the same key stands for it.

Where the policy says how many rows of a unit count in one group by a column, listed or not, an ingest also writes how
many rows of the unit have the same key.

Values and rows are taken in the unit's order, too, where not all of them can count. One order for everybody would leave
out nearly all people of the keys that come late in it, and spare the early ones. So a unit has a salt, and the place of
a key is salt times number modulo a prime, where

- the salt is a hash of what names the unit: the text of its identifier; of its row, where every row is a unit;
- the number is a hash of the key, the value or the row that is put in order.

Both hash a secret of the folder before the text, so that nobody can choose a name or a key that always comes first.

Promise. The order depends on the secret, on what names the unit and on what is put in order: never on the dense number
of a unit, on the places of rows, or on who else is there. Of two things with different numbers, each comes first for
exactly half of all salts; equal numbers are told apart by the things themselves. The proof is in
``query/plan/sensitivity.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table

__all__ = [
    "PRIME",
    "find_counted_columns",
    "find_unlisted_columns",
    "spell_value",
    "turn_order",
    "write_number",
    "write_places",
    "write_salt",
]


_UNLISTED_TYPES = (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP)


def find_unlisted_columns(table: Table) -> list[int]:
    """The places of the columns by whose values, as they are, questions may group though nobody listed them."""
    if table.budget is None or not table.budget.delta_for_keys:
        return []
    return [place for place, column in enumerate(table.columns) if _is_unlisted(column)]


def _is_unlisted(column: Column) -> bool:
    stated = (column.keys, column.keys_from, column.bounds, column.default)
    is_stated = any(one is not None for one in stated)
    return column.type in _UNLISTED_TYPES and not is_stated


def find_counted_columns(table: Table) -> list[int]:
    """The places of the columns of which the policy says how many rows of a unit count in one group."""
    return [place for place, column in enumerate(table.columns) if column.rows_per_key is not None]


Integers = npt.NDArray[np.int64]

PRIME = 2**31 - 1
"""Salts and numbers are from 1 to one less, so that their products fit 64 bits and are never a multiple of it."""
_STEPS = float(2**20)
"""Real numbers are spelled in steps of one part in so many: engines write the digits of a number differently."""


def spell_value(value: str, kind: object) -> str:
    """A value of this type as the text that is hashed, the same on every engine; a missing one is an empty text."""
    text = f"TRY_CAST({value} * {_STEPS!r} AS BIGINT)" if kind is ColumnType.REAL else value
    return f"COALESCE(CAST({text} AS VARCHAR), '')"


def write_salt(texts: Sequence[str], secret: str) -> str:
    """The salt of the unit that these texts name; ``secret`` is the place where it is bound."""
    return _hash([f"{secret} || '@'", *texts])


def write_number(texts: Sequence[str], secret: str) -> str:
    """The number of what these texts spell."""
    return _hash([f"{secret} || '|'", *texts])


def _hash(texts: Sequence[str]) -> str:
    """From 1 to PRIME - 1, by the first 32 bits of a hash: each is as likely as any other, within one part in 2^30."""
    text = " || '|' || ".join(texts)
    return f"(1 + CAST('0x' || substr(md5({text}), 1, 8) AS BIGINT) % {PRIME - 1})"


def turn_order(salt: str, number: str) -> str:
    """The place of a number in the order that a salt makes."""
    return f"({salt} * {number} % {PRIME})"


def write_places(salts: Integers, numbers: Integers) -> Integers:
    """The same for arrays.

    >>> write_places(np.array([3, 5]), np.array([2**31 - 2, 7])).tolist()
    [2147483644, 35]
    """
    return salts.astype(np.int64) * numbers % PRIME
