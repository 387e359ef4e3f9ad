"""Public lists of what can be chosen or answered: named once each, before any data is seen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from discreet.errors import InvalidType, InvalidValue

__all__ = ["named_once"]


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
