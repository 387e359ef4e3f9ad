"""A chapter: words and a table that the terminal and the page both show."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Bar", "Cell", "Chapter"]


@dataclass(frozen=True)
class Bar:
    """A share that is drawn, from one end to the other."""

    until: float | Fraction
    """Where the bar ends, from 0 to 1."""
    start: float | Fraction = 0
    """Where it starts."""
    is_comparison: bool = False
    """Whether it is what another bar is compared with; a page draws it quieter."""


Cell = str | Bar


@dataclass(frozen=True)
class Chapter:
    """One thing to understand."""

    name: str
    """What the chart of the chapter is filed under."""
    title: str
    """The title."""
    words: tuple[str, ...]
    """What to read before the table."""
    header: tuple[str, ...]
    """The names of the columns; empty for a column of bars."""
    rows: tuple[tuple[Cell, ...], ...]
    """The table."""
    notes: tuple[str, ...] = ()
    """What to read after it, if at all."""
