"""Which two datasets a promise compares, and whose data differs between them.

>>> print(Neighbours.REPLACE_ONE)
replace-one
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from discreet.errors import InvalidType, InvalidValue

__all__ = ["Neighbours", "Unit"]


class Neighbours(Enum):
    """The relation between two datasets that a promise keeps almost indistinguishable."""

    REPLACE_ONE = "replace-one"
    """One unit's data is replaced by any other; the number of units is public."""

    ADD_REMOVE_ONE = "add-remove-one"
    """One unit is present in one dataset and absent from the other; the number of units is private."""

    def __str__(self) -> str:
        return self.value

    @classmethod
    def of(cls, value: Neighbours | str) -> Neighbours:
        """The relation with this name."""
        try:
            return cls(value)
        except ValueError:
            known = " or ".join(f"'{relation}'" for relation in cls)
            raise InvalidValue(f"neighbours must be {known}", value) from None


@dataclass(frozen=True)
class Unit:
    """Whose privacy is protected: one row, or all rows that share a value in a key column."""

    key: str | None = None
    """The column that names the unit; None when every row is a unit of its own."""

    def __post_init__(self) -> None:
        if self.key is not None and not isinstance(self.key, str):
            raise InvalidType("the key of a unit must be the name of a column", self.key)
        if self.key is not None and not self.key.strip():
            raise InvalidValue("the key of a unit must name a column", self.key, "leave it out to protect each row")

    def __str__(self) -> str:
        return "each row" if self.key is None else f"all rows with the same {self.key}"
