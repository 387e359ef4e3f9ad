"""Upper and lower case, whatever the server's locale: plain letters by the server, all others by a list of DuckDB's."""

from __future__ import annotations

from discreet.engines.translation.letters import changed_letters

__all__ = ["lowered", "raised"]

_PLAIN = 128
"""The letters below are the same everywhere."""


def raised(text: str) -> str:
    """A text in large letters."""
    return _turned("upper", text)


def lowered(text: str) -> str:
    """A text in small letters."""
    return _turned("lower", text)


def _turned(function: str, text: str) -> str:
    letters, others = changed_letters(function, _PLAIN)
    plain = f'{function}({text} COLLATE "C")'
    return (
        f"CASE WHEN octet_length({text}) = length({text}) THEN {plain}"
        f" ELSE translate({plain}, '{letters}', '{others}') END"
    )
