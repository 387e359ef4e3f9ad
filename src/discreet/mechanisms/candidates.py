"""Lists of names: public ones that were fixed before any data was seen, and orders that say nothing about the data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from discreet.errors import InvalidType, InvalidValue

__all__ = ["canonical", "named_once"]


def named_once(things: Iterable[Hashable], name: str, least: int = 1) -> tuple[Hashable, ...]:
    """``things`` as a tuple of at least ``least`` different names."""
    if isinstance(things, (str, bytes)) or not isinstance(things, Iterable):
        raise InvalidType(f"{name} must be a list of names", things, "['yes', 'no'], for example")
    listed = tuple(things)
    try:
        different = len(set(listed))
    except TypeError:
        raise InvalidType(f"{name} must be hashable", "<an unhashable one>", "use tuples for lists") from None
    if len(listed) < least:
        raise InvalidValue(f"{name} must be at least {least}", len(listed))
    if different != len(listed):
        raise InvalidValue(f"{name} must differ from each other", f"<{len(listed) - different} repeated>")
    if any(thing != thing for thing in listed):
        raise InvalidValue(f"{name} must be equal to themselves", "<NaN>", "name missing values in words")
    return listed


def canonical(keys: Iterable[Hashable]) -> list[Any]:
    """The keys in an order that depends on the keys alone: numbers and texts by value, others by type and text."""
    listed = list(keys)
    kinds = {type(key) for key in listed}
    if kinds <= {str} or kinds <= {int}:
        return sorted(listed)
    return sorted(listed, key=lambda key: (type(key).__name__, repr(key)))
