"""Hierarchies in a word and some numbers: ``mask``, ``mask:prefix``, ``dates``, ``intervals:5,10``, ``ordered:3,9``.

>>> described_hierarchy([21, 24, 38], "intervals", "10,20").labels[1:]
(('[20, 30)', '[30, 40)'), ('[20, 40)',), ('*',))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.anonymize.dates import dates
from discreet.anonymize.domain import Values
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.intervals import intervals
from discreet.anonymize.masks import masked
from discreet.anonymize.ordered import ordered
from discreet.errors import InvalidValue

__all__ = ["KINDS", "described_hierarchy"]


def described_hierarchy(values: Values, kind: str, details: str = "") -> Hierarchy:
    """The hierarchy of ``values`` that is of some kind, with the details that the kind takes."""
    if kind not in KINDS:
        raise InvalidValue("the kind of a hierarchy must be known", kind, f"one of {', '.join(KINDS)}")
    return KINDS[kind](values, details)


def _masked(values: Values, details: str) -> Hierarchy:
    return masked(values, side="prefix" if details == "prefix" else "suffix")


def _dates(values: Values, details: str) -> Hierarchy:
    return dates(values, _listed(details) or None)


def _intervals(values: Values, details: str) -> Hierarchy:
    return intervals(values, _numbers(details, "5,10,20"))


def _ordered(values: Values, details: str) -> Hierarchy:
    return ordered(values, [int(one) for one in _numbers(details, "3,9")])


KINDS: Mapping[str, Callable[[Values, str], Hierarchy]] = {
    "mask": _masked,
    "dates": _dates,
    "intervals": _intervals,
    "ordered": _ordered,
}
"""The kinds by name."""


def _listed(details: str) -> list[str]:
    return [part.strip() for part in details.split(",") if part.strip()]


def _numbers(details: str, example: str) -> list[float]:
    try:
        found = [float(one) for one in _listed(details)]
        return [int(one) if one == int(one) else one for one in found or [float("nan")]]
    except (ValueError, OverflowError):
        raise InvalidValue("the steps of a hierarchy must be numbers with commas", details, example) from None
