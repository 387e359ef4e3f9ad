"""An order of its own for every unit: in which its keys, values and rows are taken where not all of them can count.

One order for everybody would leave out nearly all people of the keys that come late in it, and spare the early ones.
So a unit has a salt, and the place of a key is salt times number modulo a prime, where

- the salt is a hash of what names the unit: the text of its identifier; of its row, where every row is a unit;
- the number is a hash of the key, the value or the row that is put in order.

Both hash a secret of the folder before the text, so that nobody can choose a name or a key that always comes first.

Promise. The order depends on the secret, on what names the unit and on what is put in order: never on the dense number
of a unit, on the places of rows, or on who else is there. Of two things with different numbers, each comes first for
exactly half of all salts; equal numbers are told apart by the things themselves. The proof is in ``query/plan.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.catalog.column import ColumnType

__all__ = ["PRIME", "number_of", "places_of", "salt_of", "spelled", "turned"]

Integers = npt.NDArray[np.int64]

PRIME = 2**31 - 1
"""Salts and numbers are from 1 to one less, so that their products fit 64 bits and are never a multiple of it."""
_STEPS = float(2**20)
"""Real numbers are spelled in steps of one part in so many: engines write the digits of a number differently."""


def spelled(value: str, kind: object) -> str:
    """A value of this type as the text that is hashed, the same on every engine; a missing one is an empty text."""
    text = f"TRY_CAST({value} * {_STEPS!r} AS BIGINT)" if kind is ColumnType.REAL else value
    return f"COALESCE(CAST({text} AS VARCHAR), '')"


def salt_of(texts: Sequence[str], secret: str) -> str:
    """The salt of the unit that these texts name; ``secret`` is the place where it is bound."""
    return _hashed([f"{secret} || '@'", *texts])


def number_of(texts: Sequence[str], secret: str) -> str:
    """The number of what these texts spell."""
    return _hashed([f"{secret} || '|'", *texts])


def _hashed(texts: Sequence[str]) -> str:
    """From 1 to PRIME - 1, by the first 32 bits of a hash: each is as likely as any other, within one part in 2^30."""
    text = " || '|' || ".join(texts)
    return f"(1 + CAST('0x' || substr(md5({text}), 1, 8) AS BIGINT) % {PRIME - 1})"


def turned(salt: str, number: str) -> str:
    """The place of a number in the order that a salt makes."""
    return f"({salt} * {number} % {PRIME})"


def places_of(salts: Integers, numbers: Integers) -> Integers:
    """The same for arrays.

    >>> places_of(np.array([3, 5]), np.array([2**31 - 2, 7])).tolist()
    [2147483644, 35]
    """
    return salts.astype(np.int64) * numbers % PRIME
