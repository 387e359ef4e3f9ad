"""Which letter is the large or the small form of another: as in the language of plans, whatever the server's locale.

Servers know case by their operating system, by ICU or by tables of their own, and each differs from the others in some
letters. So plain letters are turned by the server, and all others by a list that is sent along.
"""

from __future__ import annotations

from functools import cache

import duckdb

__all__ = ["lowered", "raised"]

_LAST, _SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)


@cache
def _pairs(function: str) -> tuple[str, str]:
    """Letters, and what they are turned into."""
    with duckdb.connect(":memory:", config={"threads": "1", "enable_external_access": "false"}) as database:
        query = (
            f"SELECT chr(k::INTEGER), {function}(chr(k::INTEGER)) FROM range(128, {_LAST + 1}) t(k)"
            f" WHERE k NOT BETWEEN {_SURROGATES[0]} AND {_SURROGATES[1]}"
            f" AND {function}(chr(k::INTEGER)) <> chr(k::INTEGER) ORDER BY k"
        )
        found = [pair for pair in database.execute(query).fetchall() if len(pair[1]) == 1]
    return "".join(one for one, _ in found), "".join(other for _, other in found)


def raised(text: str) -> str:
    """A text in large letters."""
    return _turned("upper", text)


def lowered(text: str) -> str:
    """A text in small letters."""
    return _turned("lower", text)


def _turned(function: str, text: str) -> str:
    letters, others = _pairs(function)
    plain = f'{function}({text} COLLATE "C")'
    return (
        f"CASE WHEN octet_length({text}) = length({text}) THEN {plain}"
        f" ELSE translate({plain}, '{letters}', '{others}') END"
    )
