"""The distinct values that a hierarchy is built for, from a column, an array or a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.anonymize.coded import CodedColumn
from discreet.anonymize.hierarchy import Hierarchy

__all__ = ["Values", "completed", "present_values"]

Values = CodedColumn | Iterable[Any]
"""A coded column, or anything with values: a list, a range, an array, a column of a frame."""


def present_values(values: Values) -> tuple[list[Any], bool]:
    """The distinct values in their order, as plain Python values, and whether a missing one was among them."""
    plain = _plain(values)
    present = list(dict.fromkeys(value for value in plain if not _is_missing(value)))
    return present, any(map(_is_missing, plain))


def completed(hierarchy: Hierarchy, has_missing: bool) -> Hierarchy:
    """The hierarchy, with a leaf for the missing value where there was one."""
    return hierarchy.with_missing() if has_missing else hierarchy


def _plain(values: Any) -> list[Any]:
    if isinstance(values, CodedColumn):
        return list(values.values)
    for plainly in ("to_pylist", "tolist", "to_list"):  # Arrow, NumPy and pandas, Polars
        if hasattr(values, plainly):
            return list(getattr(values, plainly)())
    return list(values)


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN and NaT differ from themselves
