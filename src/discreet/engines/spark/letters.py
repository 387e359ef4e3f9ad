"""Upper and lower case, letter by letter, as DuckDB has it.

Java turns ß into SS and İ into two letters; DuckDB takes each letter for itself. Which letters change, and into what,
is asked of DuckDB once, so the two cannot come apart.
"""

from __future__ import annotations

from functools import cache

import duckdb

__all__ = ["in_case"]

_LETTERS = 0x110000
_SURROGATES = range(0xD800, 0xE000)


def in_case(function: str, text: str) -> str:
    """``upper`` or ``lower`` of a text."""
    given, made = _table(function)
    return f"translate({text}, '{given}', '{made}')"


@cache
def _table(function: str) -> tuple[str, str]:
    """The letters that change, and what they become."""
    every = "".join(chr(code) for code in range(1, _LETTERS) if code not in _SURROGATES)
    with duckdb.connect(":memory:", config={"threads": "1"}) as database:
        changed = database.execute(f"SELECT {function}($1)", [every]).fetchall()[0][0]
    pairs = [(one, two) for one, two in zip(every, changed, strict=True) if one != two]
    return "".join(one for one, _ in pairs), "".join(two for _, two in pairs)
