"""Columns: a type, and the public facts an owner states about the values, never read from the data.

Bounds make a sum possible: values outside are moved to the nearest bound. Keys make a group public: every listed key
appears in an answer, also the empty ones. What is not stated is unknown, and what needs it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import rational

__all__ = ["Column", "ColumnType", "Value"]

Value = int | Fraction | str | bool | date | datetime
"""A literal value of a column; numbers are exact."""


class ColumnType(Enum):
    """What the values of a column are."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_numeric(self) -> bool:
        """Whether values can be added up."""
        return self in (ColumnType.INTEGER, ColumnType.REAL)

    @property
    def is_ordered(self) -> bool:
        """Whether values can have bounds."""
        return self.is_numeric or self in (ColumnType.DATE, ColumnType.TIMESTAMP)


@dataclass(frozen=True)
class Column:
    """One column and what is public about it."""

    name: str
    """As written in SQL; matched without regard to case."""
    type: ColumnType
    """What its values are."""
    lower: Value | None = None
    """The least value that counts; smaller ones are moved to it."""
    upper: Value | None = None
    """The greatest value that counts; greater ones are moved to it."""
    keys: tuple[Value, ...] | None = None
    """Every value that may appear as a group, when that list is public."""
    nullable: bool = True
    """Whether values may be missing."""
    default: Value | None = None
    """What stands in for a missing value; None leaves it missing."""
    constant_per_unit: bool = False
    """Whether all rows of a unit hold the same value; verified when data is taken in."""
    description: str = ""
    """A sentence for analysts."""

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith("_"):
            raise InvalidValue("a column's name must not be empty or start with an underscore", self.name)
        self._check_bounds()
        self._check_keys()
        if self.default is not None:
            object.__setattr__(self, "default", self._of_type(self.default, "default"))

    def _check_bounds(self) -> None:
        if (self.lower is None) is not (self.upper is None):
            raise InvalidValue(f"{self.name}: bounds must be given as a pair", f"<{self.lower}, {self.upper}>")
        if self.lower is None or self.upper is None:
            return
        if not self.type.is_ordered:
            raise InvalidType(f"{self.name}: only numbers, dates and timestamps have bounds", self.type.value)
        low, high = self._of_type(self.lower, "lower"), self._of_type(self.upper, "upper")
        if not low < high:  # type: ignore[operator]  # both are of the column's own ordered type
            raise InvalidValue(f"{self.name}: lower must be below upper", f"<{self.lower}, {self.upper}>")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    def _check_keys(self) -> None:
        if self.keys is None:
            return
        keys = tuple(self._of_type(key, "keys") for key in self.keys)
        if not keys or len(set(keys)) != len(keys):
            raise InvalidValue(f"{self.name}: keys must be a list of different values", list(self.keys))
        object.__setattr__(self, "keys", keys)

    def _of_type(self, value: Any, field: str) -> Value:
        """``value`` as a literal of this column's type, or a refusal."""
        wanted = f"{self.name}: {field} must be of type {self.type.value}"
        match self.type, value:
            case ColumnType.BOOLEAN, bool():
                return value
            case (ColumnType.INTEGER | ColumnType.REAL), bool():
                raise InvalidType(wanted, value)
            case ColumnType.INTEGER, int() if abs(value) < 2**63:
                return value
            case ColumnType.INTEGER, Fraction() if value.denominator == 1 and abs(value) < 2**63:
                return int(value)
            case ColumnType.REAL, int() | float() | Fraction():
                return rational(value, field)
            case ColumnType.TEXT, str():
                return value
            case ColumnType.DATE, date() if not isinstance(value, datetime):
                return value
            case ColumnType.TIMESTAMP, datetime():
                return value
        raise InvalidType(wanted, value)

    @property
    def bounds(self) -> tuple[Value, Value] | None:
        """Lower and upper bound, where the owner stated them."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)
