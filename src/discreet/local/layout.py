"""How a report is laid out: named fields of fixed size, so that a million reports are a few arrays.

>>> Field("bits", "u1", 13).bytes_each, smallest_unsigned(300)
(13, 'u2')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import integer

__all__ = ["Field", "fields_from", "smallest_unsigned"]

_TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")
_WIDEST = 2**24


@dataclass(frozen=True)
class Field:
    """One number of a report, or several bytes of it."""

    name: str
    """What it is."""
    type: str
    """u1 to u8 or i1 to i8: without or with a sign, and how many bytes."""
    width: int = 1
    """How many of them; more than one only for bytes (u1)."""

    def __post_init__(self) -> None:
        if not str(self.name).isidentifier():
            raise InvalidValue("a field needs a name", self.name)
        if self.type not in _TYPES:
            raise InvalidValue(f"a field must be one of {', '.join(_TYPES)}", self.type)
        integer(self.width, "width", least=1, most=_WIDEST)
        if self.width > 1 and self.type != "u1":
            raise InvalidValue("a field of several numbers must be one of bytes, u1", self.type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its array, little endian."""
        return np.dtype("<" + self.type)

    @property
    def bytes_each(self) -> int:
        """Bytes that one report needs for it."""
        return self.dtype.itemsize * self.width

    def shape(self, n: int) -> tuple[int, ...]:
        """The shape of the array of ``n`` reports."""
        return (n,) if self.width == 1 else (n, self.width)


def fields_from(listed: Any) -> tuple[Field, ...]:
    """The layout that was written as [[name, type, width], …]."""
    if not isinstance(listed, Sequence) or not listed or not all(_is_written_field(one) for one in listed):
        raise InvalidType("a layout must list [name, type, width]", listed)
    return tuple(Field(*one) for one in listed)


def _is_written_field(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 3 and isinstance(one[0], str)


def smallest_unsigned(count: int) -> str:
    """The smallest type that holds 0, 1, …, count - 1."""
    return next(f"u{size}" for size in (1, 2, 4, 8) if count <= 2 ** (8 * size))
