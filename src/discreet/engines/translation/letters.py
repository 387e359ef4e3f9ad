"""Which letter is the large or the small form of another, as DuckDB has it.

Servers know case by their operating system, by ICU, by Java or by tables of their own, and each differs from the others
in some letters: ß becomes ẞ, SS or stays. DuckDB takes each letter for itself and is asked once, so that the list that
others are sent cannot come apart from it.
"""

from __future__ import annotations

from functools import cache

import duckdb

__all__ = ["changed_letters"]

_LETTERS = 0x110000
_SURROGATES = range(0xD800, 0xE000)


@cache
def changed_letters(function: str, first: int = 1) -> tuple[str, str]:
    """The letters from ``first`` on that ``upper`` or ``lower`` changes, and what they become."""
    every = "".join(chr(code) for code in range(first, _LETTERS) if code not in _SURROGATES)
    with duckdb.connect(":memory:", config={"threads": "1", "enable_external_access": "false"}) as database:
        turned = database.execute(f"SELECT {function}($1)", [every]).fetchall()[0][0]
    pairs = [(one, two) for one, two in zip(every, turned, strict=True) if one != two]
    return "".join(one for one, _ in pairs), "".join(two for _, two in pairs)
