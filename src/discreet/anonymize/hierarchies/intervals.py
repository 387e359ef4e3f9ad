"""Hierarchies of intervals: ``[25, 30)`` holds 25 and not 30; the ends may be open: ``<30`` and ``≥40``.

>>> ages = intervals(range(20, 60), [5, 10], bottom=30, top=50)
>>> ages.labels[1]
('<30', '[30, 35)', '[35, 40)', '[40, 45)', '[45, 50)', '≥50')
>>> ages.labels[2]
('<30', '[30, 40)', '[40, 50)', '≥50')
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.anonymize.hierarchies.hierarchy import SUPPRESSED, Hierarchy, Values, completed, present_values
from discreet.errors import InvalidType, InvalidValue

__all__ = ["intervals"]


Number = int | float | Decimal | Fraction
Label = Callable[[str, str], str]
"""How an interval is written, given how its ends are."""


def _closed_left(low: str, high: str) -> str:
    return f"[{low}, {high})"


def intervals(
    values: Values,
    steps: Sequence[Number | Sequence[Number]],
    *,
    origin: Number = 0,
    bottom: Number | None = None,
    top: Number | None = None,
    label: Label = _closed_left,
) -> Hierarchy:
    """The hierarchy of numbers with one level per step, and ``*`` on top.

    A step is a width, counted from ``origin``, or a list of edges. Every number below ``bottom`` is written
    ``<bottom`` and every number from ``top`` on ``≥top``, at every level; the first and the last edge of a list work
    the same way, so that no number is lost. A number is taken as it is written: 0.3 is three tenths.
    """
    present, has_missing = present_values(values)
    numbers = [_exact(value) for value in present]
    ends = (_edge(bottom), _edge(top))
    if bottom is not None and top is not None and bottom >= top:
        raise InvalidValue("the bottom must be below the top", bottom, f"the top is {top}")
    levels = [_level(numbers, step, _exact(origin), ends, label) for step in steps]
    return completed(Hierarchy.of(present, [*levels, [SUPPRESSED] * len(present)]), has_missing)


def _exact(value: Any) -> Fraction | float:
    """The number that is written; an infinite one stays as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction)):
        raise InvalidType("intervals must be made of numbers", value)
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def _edge(value: Number | None) -> Fraction | None:
    if value is None:
        return None
    found = _exact(value)
    if not isinstance(found, Fraction):
        raise InvalidValue("the end of an interval must be finite", value)
    return found


Ends = tuple[Fraction | None, Fraction | None]


def _level(
    numbers: Sequence[Fraction | float],
    step: Number | Sequence[Number],
    origin: Fraction | float,
    ends: Ends,
    label: Label,
) -> list[str]:
    if isinstance(step, Sequence):
        edges = _edges(step)
        return [_between(number, edges, _within(ends, edges), label) for number in numbers]
    width, start = _edge(step), _edge(origin)
    if not width or width < 0 or start is None:
        raise InvalidValue("the width of intervals must be positive", step)
    return [_regular(number, width, start, ends, label) for number in numbers]


def _edges(step: Sequence[Number]) -> list[Fraction]:
    edges = [edge for edge in map(_edge, step) if edge is not None]
    if not edges or any(low >= high for low, high in pairwise(edges)):
        raise InvalidValue("the edges of intervals must increase", list(step))
    return edges


def _within(ends: Ends, edges: Sequence[Fraction]) -> Ends:
    """The ends of a level: those of the hierarchy where they lie further inside than the edges."""
    bottom = edges[0] if ends[0] is None else max(ends[0], edges[0])
    top = edges[-1] if ends[1] is None else min(ends[1], edges[-1])
    return bottom, top


def _between(number: Fraction | float, edges: Sequence[Fraction], ends: Ends, label: Label) -> str:
    place = bisect_right(edges, number)
    low, high = edges[max(place - 1, 0)], edges[min(place, len(edges) - 1)]
    return _write(number, low, high, ends, label)


def _regular(number: Fraction | float, width: Fraction, origin: Fraction, ends: Ends, label: Label) -> str:
    if isinstance(number, float):  # infinite
        return _write(number, origin, origin, ends, label)
    low = origin + (number - origin) // width * width
    return _write(number, low, low + width, ends, label)


def _write(number: Fraction | float, low: Fraction, high: Fraction, ends: Ends, label: Label) -> str:
    bottom, top = ends
    if bottom is not None and number < bottom:
        return f"<{_format(bottom)}"
    if top is not None and number >= top:
        return f"≥{_format(top)}"
    if isinstance(number, float):
        raise InvalidValue("a number without end needs a bottom or a top to fall into", number)
    clipped = (low if bottom is None else max(low, bottom), high if top is None else min(high, top))
    return label(_format(clipped[0]), _format(clipped[1]))


def _format(edge: Fraction) -> str:
    return str(edge.numerator) if edge.denominator == 1 else repr(float(edge))
