"""Random worlds: a catalog of one to three protected tables and public ones, and two databases that differ in one unit.

A world is made from a number, so that the number says all that is needed to make it again. In a *plain* world the
policy bounds nothing: every value lies within its bounds and its keys, and everybody's rows count in full.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType, Value
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.privacy.neighbours import Neighbours
from tests.fuzz.hostile_values import ORDINARY, VALUES
from tests.query.world import _ARROW

__all__ = ["FuzzWorld", "Rows", "as_arrow", "make_world", "without_row"]

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]
"""Per table, its rows."""

INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
_BOUNDS: dict[ColumnType, tuple[tuple[Any, Any], ...]] = {
    INTEGER: ((0, 10), (0, 10), (-5, 100), (0, 2**53 + 1), (-(2**62), 2**62), (2**62, 2**62 + 600), (1, 2**63 - 1)),
    REAL: (
        (0, 1), (0, 10), (-1, 1), (Fraction(1, 10), Fraction(3, 10)), (0, Fraction(1, 10**300)), (-(10**46), 10**46),
        (2**53, 2**53 + 10), (2**62, 2**62 + 2048), (-(10**308), 10**308),
    ),
    DATE: ((date(2020, 1, 1), date(2021, 12, 31)), (date.min, date.max), (date(9999, 12, 1), date.max)),
    TIMESTAMP: ((datetime(2020, 1, 1), datetime(2021, 12, 31, 23)), (datetime.min, datetime.max)),
}  # fmt: skip
_WIDE: dict[ColumnType, tuple[Any, Any]] = {
    INTEGER: (-64, 64),
    REAL: (-64, 64),
    DATE: (date(2019, 1, 1), date(2022, 12, 31)),
    TIMESTAMP: (datetime(2019, 1, 1), datetime(2022, 12, 31)),
}
_KINDS = {"i": INTEGER, "r": REAL, "s": TEXT, "b": BOOLEAN, "d": DATE, "w": TIMESTAMP}
_MOST_ROWS = 512


@dataclass(frozen=True)
class FuzzWorld:
    """Policies and two neighbouring databases."""

    seed: int
    """What it was made from."""
    catalog: Catalog
    """What questions are planned with."""
    believed: frozenset[tuple[str, str]]
    """Columns of which the catalog says that nothing is missing, though they were taken in without saying so."""
    here: Rows
    """A database."""
    there: Rows
    """The same but for one unit."""
    target: Any
    """The identifier of that unit; None where every row is a unit."""
    is_removal: bool
    """Whether the unit is gone in the other one, and not only different."""
    is_plain: bool
    """Whether the policy bounds nothing."""
    collated: bool = False
    """Whether the rows come from a file whose texts are compared without regard to case."""
    natives: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Columns that a server keeps as another type than the plain one."""

    @property
    def taken_in(self) -> Catalog:
        """The policies under which the rows are taken in."""
        return Catalog([replace(t, columns=tuple(self._honest(t, c) for c in t.columns)) for t in self.catalog])

    def _honest(self, table: Table, column: Column) -> Column:
        return replace(column, nullable=True) if (table.name, column.name) in self.believed else column

    @property
    def protected(self) -> list[Table]:
        return [table for table in self.catalog if not table.public]


def as_arrow(table: Table, rows: Sequence[Row]) -> pa.Table:
    """The rows of a table."""
    return pa.table({c.name: pa.array([row[k] for row in rows], _ARROW[c.type]) for k, c in enumerate(table.columns)})


def make_world(seed: int, *, plain: bool = False) -> FuzzWorld:
    """The world of a number."""
    return _Maker(seed, plain).made()


def without_row(world: FuzzWorld, place: int) -> FuzzWorld | None:
    """The world without the rows at this place of both databases; None where there are no more places."""
    both = [(name, row) for name in world.here for row in world.here[name] if row in world.there.get(name, [])]
    if place >= len(both):
        return None
    name, row = both[place]
    fewer = [{**rows, name: _less(rows[name], row)} for rows in (world.here, world.there)]
    return replace(world, here=fewer[0], there=fewer[1])


def _less(rows: list[Row], row: Row) -> list[Row]:
    place = rows.index(row)
    return rows[:place] + rows[place + 1 :]


class _Maker:
    """Draws a world."""

    def __init__(self, seed: int, plain: bool) -> None:
        self.seed, self.plain, self.chance = seed, plain, random.Random(f"world {seed} {plain}")
        self.neighbours = self.chance.choice(list(Neighbours))
        self.believes = not plain and self.chance.random() < 0.3
        self.is_collated = not plain and random.Random(f"collated {seed}").random() < 0.25
        self.has_twins = not plain and self.chance.random() < 0.3
        self.visits = iter(range(1, 10_000))

    def made(self) -> FuzzWorld:
        chance = self.chance
        tables, publics = self._protected(), [self._public(k) for k in range(chance.choice((1, 1, 2)))]
        by_row = tables[0].unit is None
        is_removal = self.neighbours is Neighbours.ADD_REMOVE_ONE or chance.random() < 0.3
        units = list(range(1, chance.randint(2, 12)))
        target = chance.choice(units)
        crowd = {unit: self._rows_of(tables, unit, is_target=unit == target) for unit in units}
        other = None if is_removal else self._rows_of(tables, target, is_target=True)
        shared = {table.name: self._public_rows(table) for table in publics}
        here, there = self._database(tables, crowd), self._database(tables, {**crowd, target: other})
        return FuzzWorld(
            self.seed,
            Catalog([*tables, *publics]),
            self._believed([*tables, *publics]),
            {**here, **shared},
            {**there, **shared},
            None if by_row else target,
            is_removal,
            self.plain,
            collated=self.is_collated,
            natives=self._natives([*tables, *publics]),
        )

    # Policies.

    def _protected(self) -> list[Table]:
        shape = self.chance.choice(("rows", "one", "one", "two", "two", "path", "chain"))
        if shape == "rows" and not self.plain:  # where every row is a unit, a join that repeats rows bounds them
            return [self._table("t")]
        if shape in ("rows", "one"):
            return [self._table("t", unit="person")]
        own = None if shape == "path" else "person"
        people, visits = self._table("p", unit="person"), self._table("v", unit=own, to=("person", "p", "person"))
        if shape != "chain":
            return [people, visits]
        return [people, self._table("v", unit="person", extra="visit"), self._table("w", to=("visit", "v", "visit"))]

    def _table(
        self, name: str, unit: str | None = None, to: tuple[str, str, str] | None = None, extra: str | None = None
    ) -> Table:
        chance, first = self.chance, [Column(one, INTEGER) for one in dict.fromkeys((unit, extra)) if one]
        keys: tuple[ForeignKey, ...] = ()
        if to is not None:
            keys = (ForeignKey(*to),)
            first += [Column(to[0], INTEGER)] if to[0] not in (unit, extra) else []
        many = unit is not None or to is not None
        columns = [*first, *(self._column(letter, many) for letter in self._letters())]
        most = _MOST_ROWS if self.plain else chance.choice((1, 1, 2, 3, 5))
        return Table(
            name,
            tuple(columns),
            unit=unit,
            neighbours=self.neighbours,
            budget=self._budget,
            rows_per_unit=most if many else 1,
            groups_per_unit=(_MOST_ROWS if self.plain else chance.choice((1, 1, 2, 3))) if many else 1,
            foreign_keys=keys,
        )

    @property
    def _budget(self) -> Budget:
        if not hasattr(self, "_kind"):
            self._kind = self.chance.choice((0, 0, 1, 1, 1, 2))
        ways = (Budget(5999), Budget(5999, "1e-3", "1e-3"), Budget(5999, "1e-3", "5e-4"))
        return ways[0] if self.plain else ways[self._kind]

    def _letters(self) -> list[str]:
        more = self.chance.sample(["i1", "r1", "s1", "b0", "d0", "w0"], self.chance.randint(1, 4))
        return ["i0", "r0", "s0", *more]

    def _column(self, name: str, many: bool, public: bool = False) -> Column:
        chance, kind = self.chance, _KINDS[name[0]]
        bounds: tuple[Value | None, Value | None] = (None, None)
        keys: tuple[Value, ...] | None = None
        if self.plain:
            bounds = _WIDE.get(kind, bounds)
            keys = tuple(ORDINARY[TEXT]) if kind is TEXT else None  # type: ignore[arg-type]
            return Column(name, kind, *bounds, keys=keys, nullable=True)
        is_bounded = chance.random() < 0.7
        if self.has_twins and name in (("i0",) if public else ("r0",)):
            is_bounded = False  # bounds would make one of them
        if kind in _BOUNDS and is_bounded:
            bounds = chance.choice(_BOUNDS[kind])
        elif kind in (TEXT, INTEGER) and chance.random() < 0.5:
            keys = tuple(chance.sample(ORDINARY[kind], 3))  # type: ignore[arg-type]
        nullable = chance.random() < 0.8
        default = (
            chance.choice([*(keys or ()), *(one for one in bounds if one is not None), None]) if nullable else None
        )
        few = chance.choice((None, None, 1, 2)) if many and not public else None
        return Column(name, kind, *bounds, keys=keys, nullable=nullable, default=default, rows_per_key=few)

    def _public(self, place: int) -> Table:
        columns = [self._column(name, False, public=True) for name in ("i0", "r0", "s0", "d0")]
        return Table(f"pub{place}", tuple(columns), public=True)

    def _believed(self, tables: list[Table]) -> frozenset[tuple[str, str]]:
        """What the policy of a question says, and nobody checked."""
        columns = [(table, column) for table in tables for column in table.columns if not column.nullable]
        return frozenset((table.name, column.name) for table, column in columns if self.believes)

    def _natives(self, tables: list[Table]) -> dict[tuple[str, str], str]:
        ways = {
            INTEGER: ("bigint", "bigint", "numeric"),
            REAL: ("double precision", "double precision", "numeric"),
            TEXT: ("text", "text", "varchar(400)", "char(400)"),
        }
        return {
            (table.name, column.name): self.chance.choice(ways[column.type])
            for table in tables
            for column in table.columns
            if column.type in ways and not self.plain
        }

    # Rows.

    def _rows_of(self, tables: list[Table], unit: int, *, is_target: bool = False) -> Rows:
        """All rows of one unit."""
        chance, found, visits = self.chance, Rows(), [0]
        is_hostile = not self.plain and chance.random() < (0.85 if is_target else 0.5)
        for place, table in enumerate(tables):
            by_row = table.unit is None and not table.foreign_keys
            count = 1 if by_row or (place == 0 and len(tables) > 1 and chance.random() < 0.8) else chance.randint(0, 5)
            rows = []
            for _ in range(count):
                named = {"person": unit, "visit": next(self.visits) if table.name != "w" else chance.choice(visits)}
                rows.append(self._row(table, named, is_hostile))
            found[table.name] = rows
            if table.name == "v" and table.column("visit") is not None:
                place_of = [column.name for column in table.columns].index("visit")
                visits = [row[place_of] for row in rows]
                if not visits:
                    found["w"] = []
                    break
        return found

    def _row(self, table: Table, named: dict[str, Any], is_hostile: bool) -> Row:
        return tuple(named[c.name] if c.name in named else self._value(c, is_hostile) for c in table.columns)

    def _value(self, column: Column, is_hostile: bool) -> Any:
        chance, values = self.chance, [*ORDINARY[column.type]]
        if is_hostile and chance.random() < 0.6:
            values = [*VALUES[column.type]]
        near = [value for value in (column.lower, column.upper) if value is not None]
        if near and is_hostile and chance.random() < 0.3:
            values = [float(value) if column.type is REAL else value for value in near]  # type: ignore[arg-type]
        if self.has_twins and is_hostile and column.type in (INTEGER, REAL) and chance.random() < 0.3:
            values = [2**62] if column.type is INTEGER else [2.0**62]
        if self.is_collated and column.type is TEXT and chance.random() < 0.5:
            values = ["a", "A", "b", "B"]
        if column.nullable or self.believes:
            return None if chance.random() < 0.12 else chance.choice(values)
        return chance.choice([value for value in values if not isinstance(value, float) or math.isfinite(value)])

    def _public_rows(self, table: Table) -> list[Row]:
        rows = [
            self._row(table, {}, not self.plain and self.chance.random() < 0.4)
            for _ in range(self.chance.randint(1, 5))
        ]
        twice = self.chance.choices(rows, k=self.chance.choice((0, 1, 2)))  # a join repeats who matches these
        if self.has_twins:  # different integers that are one real number
            place = [column.name for column in table.columns].index("i0")
            twice += [(*row[:place], whole, *row[place + 1 :]) for row in rows[:1] for whole in (2**62, 2**62 - 1)]
        return [*rows, *twice]

    def _database(self, tables: list[Table], crowd: Mapping[int, Rows | None]) -> Rows:
        found: Rows = {table.name: [] for table in tables}
        for rows in crowd.values():
            for name, some in (rows or {}).items():
                found[name] += some
        for table in tables:
            self.chance.shuffle(found[table.name])
        return found
