"""Columns: a type, and the public facts an owner states about the values, never read from the data.

Bounds make a sum possible: values outside are moved to the nearest bound. Keys make a group public: every listed key
appears in an answer, also the empty ones. What is not stated is unknown, and what needs it is refused.

>>> Column("age", ColumnType.INTEGER, lower=0, upper=110).bounds
(0, 110)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.catalog.complaints import Complaints
from discreet.catalog.literal import ColumnType, Value, checked
from discreet.catalog.names import checked_name, checked_text

__all__ = ["Column", "ColumnType", "Value"]

Bounds = tuple[Value, Value]


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
    keys: tuple[Value | None, ...] | None = None
    """Every value that may appear as a group, when that list is public; null among them lists what is missing."""
    keys_from: str | None = None
    """The column of a public table, such as ``icd10.code``, whose values are the keys: for lists that are long."""
    nullable: bool | None = None
    """Whether values may be missing. True lists what is missing as a group; not stated, it is in no group unless
    ``keys`` lists it. That none are missing is checked when rows are taken in, and believed of no others."""
    default: Value | None = None
    """What stands in for a missing value; None leaves it missing."""
    constant_per_unit: bool = False
    """Whether all rows of a unit hold the same value; verified when data is taken in."""
    rows_per_key: int | None = None
    """How many rows of a unit with one value count in full, where questions group by it; None for all that count."""
    description: str = ""
    """A sentence for analysts."""

    def __post_init__(self) -> None:
        found = Complaints()
        found.checked(("name",), checked_name, self.name, "a column's name")
        found.checked(("description",), checked_text, self.description, f"{self.name}: description")
        kind = found.checked(("type",), ColumnType.of, self.type)
        self._check_flags(found)
        if kind is not None:
            self._set("type", kind)
            bounds = self._check_bounds(found)
            self._check_keys(found, bounds)
            self._check_default(found, bounds)
        found.refuse_any()

    @property
    def bounds(self) -> Bounds | None:
        """Lower and upper bound, where the owner stated them."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    @property
    def key_table(self) -> tuple[str, str] | None:
        """The public table and its column that list the keys."""
        if self.keys_from is None:
            return None
        table, _, column = self.keys_from.rpartition(".")
        return table, column

    @property
    def may_be_missing(self) -> bool:
        """Whether values may be missing: unless the policy says that none are."""
        return self.nullable is not False

    @property
    def lists_missing(self) -> bool:
        """Whether rows without a value are a group of their own."""
        return self.nullable is True or (self.keys is not None and None in self.keys)

    @property
    def listed(self) -> tuple[Value, ...] | None:
        """Every value that may appear as a group, without what is missing."""
        return None if self.keys is None else tuple(key for key in self.keys if key is not None)

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _literal(self, found: Complaints, path: tuple[str | int, ...], value: object) -> Value | None:
        return found.checked(path, checked, self.type, value, f"{self.name}: {path[0]}")

    def _check_flags(self, found: Complaints) -> None:
        for field in ("nullable", "constant_per_unit"):
            stated = getattr(self, field)
            if not isinstance(stated, bool) and (field != "nullable" or stated is not None):
                found.say((field,), f"{self.name}: {field} must be true or false", stated)
        rows: object = self.rows_per_key
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
            found.say(("rows_per_key",), f"{self.name}: rows_per_key must be a whole number from 1", rows)

    def _check_bounds(self, found: Complaints) -> Bounds | None:
        stated = [field for field in ("lower", "upper") if getattr(self, field) is not None]
        if stated and not self.type.is_ordered:
            rule = f"{self.name}: only numbers, dates and timestamps have bounds"
            found.say((stated[0],), rule, f"<a column of type {self.type.value}>", "list its keys instead")
        elif len(stated) == 1:
            found.say((stated[0],), f"{self.name}: bounds must be a pair", f"<{stated[0]} alone>", "add the other")
        elif stated:
            return self._check_pair(found)
        return None

    def _check_pair(self, found: Complaints) -> Bounds | None:
        low, high = (self._literal(found, (field,), getattr(self, field)) for field in ("lower", "upper"))
        if low is None or high is None:
            return None
        self._set("lower", low)
        self._set("upper", high)
        if low < high:  # type: ignore[operator]  # both are of the column's own ordered type
            return low, high
        found.say(("lower",), f"{self.name}: lower must be below upper", f"<{self.lower} and {self.upper}>")
        return None

    def _check_keys_from(self, found: Complaints) -> None:
        stated: object = self.keys_from
        if stated is None:
            return
        if not isinstance(stated, str) or not all(stated.rpartition(".")[::2]):
            rule = f"{self.name}: keys_from must name a public table and its column"
            found.say(("keys_from",), rule, stated, "write keys_from: icd10.code")
        elif self.keys is not None:
            found.say(("keys_from",), f"{self.name}: keys are listed once", stated, "drop keys or keys_from")

    def _check_keys(self, found: Complaints, bounds: Bounds | None) -> None:
        self._check_keys_from(found)
        if self.keys is None:
            return
        given: Any = self.keys
        if not isinstance(given, (list, tuple)) or all(key is None for key in given):
            found.say(("keys",), f"{self.name}: keys must be a list of at least one value", given)
        else:
            literals = [
                key if key is None else self._literal(found, ("keys", place), key) for place, key in enumerate(given)
            ]
            self._check_missing_key(found, list(given))
            self._check_each_key(found, literals, bounds)
            self._set("keys", tuple(literals))

    def _check_missing_key(self, found: Complaints, given: list[object]) -> None:
        places = [place for place, key in enumerate(given) if key is None]
        if len(places) > 1:
            found.say(("keys", places[1]), f"{self.name}: keys must differ", "<null twice>", "list it once")
        if places and (self.nullable is False or self.default is not None):
            rule = f"{self.name}: keys list null only where values may be missing"
            found.say(("keys", places[0]), rule, "<null>", "drop it, or nullable: false and the default")

    def _check_each_key(self, found: Complaints, keys: list[Value | None], bounds: Bounds | None) -> None:
        seen: set[Value] = set()
        for place, key in enumerate(keys):
            if key is None:
                continue
            if key in seen:
                found.say(("keys", place), f"{self.name}: keys must differ", key, "list it once")
            if _is_outside(key, bounds):
                found.say(("keys", place), f"{self.name}: keys must lie within the bounds", key)
            seen.add(key)

    def _check_default(self, found: Complaints, bounds: Bounds | None) -> None:
        if self.default is None:
            return
        default = self._literal(found, ("default",), self.default)
        if default is None:
            return
        self._set("default", default)
        if not self.may_be_missing:
            rule = f"{self.name}: only a column that may miss values has a default"
            found.say(("default",), rule, default, "say nullable: true or drop the default")
        if _is_outside(default, bounds):
            found.say(("default",), f"{self.name}: default must lie within the bounds", default)
        if self.keys is not None and default not in self.keys:
            found.say(("default",), f"{self.name}: default must be one of the keys", default)


def _is_outside(value: Value, bounds: Bounds | None) -> bool:
    return bounds is not None and not bounds[0] <= value <= bounds[1]  # type: ignore[operator]  # one ordered type
