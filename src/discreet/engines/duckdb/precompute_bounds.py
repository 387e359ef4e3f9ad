"""Marks the keys of every unit while a table is taken in; `discreet.engines.bounded_keys` says what the marks mean.

Rows come sorted by unit and are looked at in pieces of whole units, so a table need not fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from discreet.engines.bounded_keys import spell_value, write_number, write_places
from discreet.engines.duckdb.workbench import Build
from discreet.engines.parameters import Bindings
from discreet.engines.stored_columns import name_alike, name_held
from discreet.engines.value_grid import clamp_value

__all__ = ["Marking", "marks", "numbers_alike"]


Integers = npt.NDArray[np.int64]
_PIECE = 2**20
"""Rows that are looked at together, at least."""


@dataclass(frozen=True)
class Marking:
    """What is written about the keys of units, beside the rows."""

    held: list[int]
    """The columns whose first keys are marked, by their places."""
    alike: list[int]
    """The columns of which rows with the same key are counted."""
    most: int
    """How many keys of a unit are kept."""

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.held or self.alike)

    def columns(self) -> list[str]:
        """What to select for the columns that will hold the marks: the numbers of the keys, and their hashes."""
        held = [f"o{place}.number AS {name_held(place)}" for place in self.held]
        held += [f"o{place}.hashed AS {_hashed(place)}" for place in self.held]
        return held + [f"v{place}.number AS {name_alike(place)}" for place in self.alike]

    def left_out(self) -> str:
        """What no finished row has: the hashes of keys."""
        return f" EXCLUDE ({', '.join(map(_hashed, self.held))})" if self.held else ""

    def joins(self, build: Build, table: Table, secret: str) -> str:
        """Number the keys of the staged rows, and return the joins that find the numbers."""
        found = []
        for place in self.held:
            bindings = Bindings()
            text, bound = spell_value("key", table.columns[place].type), bindings.bind(secret, ColumnType.TEXT)
            numbers = f"row_number() OVER (ORDER BY key) AS number, {write_number([text], bound)} AS hashed"
            found.append(_numbered(build, f"o{place}", place, numbers, bindings))
        for place in self.alike:  # keys as questions see them, where several values may be one
            bindings = Bindings()
            rank = f"dense_rank() OVER (ORDER BY {clamp_value(table.columns[place], 'key', bindings.bind)}) AS number"
            found.append(_numbered(build, f"v{place}", place, rank, bindings))
        return "".join(found)

    def write(self, build: Build, until: float) -> None:
        """Fill ``fresh.rows`` from ``stage.sorted``, in which the numbers of keys stand where the marks go."""
        for piece in _pieces(_batches(build, until)):
            columns = dict(zip(piece.column_names, piece.columns, strict=True))
            units = columns["_unit"].to_numpy()
            salts = columns["_salt"].to_numpy()
            for place in self.held:
                turned, keys = write_places(salts, columns.pop(_hashed(place)).to_numpy()), columns[name_held(place)]
                columns[name_held(place)] = pa.array(marks(units, turned, keys.to_numpy(), self.most))
            for name in map(name_alike, self.alike):
                columns[name] = pa.array(numbers_alike(units, columns[name].to_numpy()))
            build.insert("fresh.rows", pa.table(columns))


def _hashed(place: int) -> str:
    return f"_hashed{place}"


def _numbered(build: Build, name: str, place: int, numbers: str, bindings: Bindings) -> str:
    """Number the values of a staged column, and return the join that finds the numbers."""
    values = f"SELECT DISTINCT c{place} AS key FROM stage.rows"
    build.run(f"CREATE TABLE stage.{name} AS SELECT key, {numbers} FROM ({values})", bindings.parameters)
    return f" JOIN stage.{name} AS {name} ON r.c{place} IS NOT DISTINCT FROM {name}.key"


def _batches(build: Build, until: float) -> Iterator[pa.Table]:
    """The sorted rows, in order."""
    [(rows,)] = build.run("SELECT count(*) FROM stage.sorted")
    begun = build.done
    for start in range(0, rows, _PIECE):
        end = min(start + _PIECE, rows)
        yield build.arrow(f"FROM stage.sorted WHERE rowid >= {start} AND rowid < {end}")
        build.report(begun + (until - begun) * end / rows)


def _pieces(batches: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in pieces of whole units: the last unit of a piece may go on in the next."""
    rest: list[pa.Table] = []
    last = None
    for batch in batches:
        units = batch.column("_unit").to_numpy()
        if np.any(units[1:] < units[:-1]) or (last is not None and units[0] < last):
            raise AssertionError("rows must be sorted by unit, or one could hold as many keys as two")
        last = units[-1]
        # The last unit begins where it would be put to stay before its equals.
        start = int(np.searchsorted(units, last, side="left"))
        if start > 0:
            yield pa.concat_tables([*rest, batch.slice(0, start)])
            rest = []
        rest.append(batch.slice(start))
    if rest:
        yield pa.concat_tables(rest)


def marks(units: Integers, places: Integers, keys: Integers, most: int) -> Integers:
    """The marks of rows that are sorted by unit, from the places of their keys in the unit's own order.

    Keys at one place are told apart by their numbers, in the order of all keys.

    >>> marks(np.array([1, 1, 1, 1, 2]), np.array([5, 2, 8, 2, 3]), np.array([7, 3, 9, 3, 9]), most=2).tolist()
    [3, 3, 0, -3, 1]
    """
    if not len(units):
        return np.empty(0, np.int64)
    starts, lengths = _runs(units)
    order, is_new = _ordered(starts, lengths, places, keys)
    seen = np.cumsum(is_new)
    nth: Integers = seen - np.repeat(seen[starts] - 1, lengths)
    is_kept = nth <= most
    kept = np.repeat(np.add.reduceat(is_kept, starts, dtype=np.int64), lengths)
    found = np.empty(len(units), np.int64)
    found[order] = np.where(is_kept, np.where(is_new, kept, -kept), 0)
    return found


def numbers_alike(units: Integers, keys: Integers) -> Integers:
    """For every row, how many rows of its unit have the same key; rows are sorted by unit.

    >>> numbers_alike(np.array([1, 1, 1, 1, 2]), np.array([7, 3, 9, 3, 9])).tolist()
    [1, 2, 1, 2, 1]
    """
    if not len(units):
        return np.empty(0, np.int64)
    order, is_new = _ordered(*_runs(units), keys, keys)
    pairs = np.flatnonzero(is_new)
    lengths = np.diff(pairs, append=len(units))
    found = np.empty(len(units), np.int64)
    found[order] = np.repeat(lengths, lengths)
    return found


def _runs(units: Integers) -> tuple[Integers, Integers]:
    """Where each unit begins, and how many rows it has."""
    starts = np.flatnonzero(np.concatenate(([True], units[1:] != units[:-1])))
    return starts, np.diff(starts, append=len(units))


def _ordered(
    starts: Integers, lengths: Integers, places: Integers, keys: Integers
) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """An order by unit, place and key, and where in it another pair of unit and key begins.

    It moves rows within their unit alone, so that units begin where they did.
    """
    before = np.repeat(np.arange(len(starts)), lengths) * (int(places.max()) + 1) + places
    order = np.argsort(before, kind="stable")
    is_shared = (before[order][1:] == before[order][:-1]) & (keys[order][1:] != keys[order][:-1])
    if is_shared.any():  # hardly ever: it takes three times as long
        order = np.lexsort((keys, before))
    is_new = np.concatenate(([True], keys[order][1:] != keys[order][:-1]))
    is_new[starts] = True
    return order, is_new
