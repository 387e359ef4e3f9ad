"""Mark which keys of every unit are kept, while a table is taken in: what the marks mean, `held_keys` says.

Rows come sorted by unit and are looked at in pieces of whole units, so a table need not fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.engines.build import Build
from discreet.engines.held_keys import name_held, shuffled

__all__ = ["marks", "put_in_order", "write_marked"]

Integers = npt.NDArray[np.int64]
_PIECE = 2**20
"""Rows that are looked at together, at least."""


def put_in_order(build: Build, place: int) -> str:
    """Number the values of a staged column in the order of `shuffled`, and return the join that finds the numbers."""
    order = f"stage.order{place}"
    number = f"row_number() OVER (ORDER BY {shuffled(['key'])}) AS number"
    build.run(f"CREATE TABLE {order} AS SELECT key, {number} FROM (SELECT DISTINCT c{place} AS key FROM stage.rows)")
    return f" JOIN {order} AS o{place} ON r.c{place} IS NOT DISTINCT FROM o{place}.key"


def write_marked(build: Build, places: list[int], most: int, until: float) -> None:
    """Make ``fresh.rows`` from ``stage.sorted``, in which the numbers of keys stand where the marks go."""
    build.run("CREATE TABLE fresh.rows AS FROM stage.sorted LIMIT 0")
    for piece in _pieces(_batches(build, until)):
        units, columns = piece.column("_unit").to_numpy(), dict(zip(piece.column_names, piece.columns, strict=True))
        for name in map(name_held, places):
            columns[name] = pa.array(marks(units, piece.column(name).to_numpy(), most))
        build.insert("fresh.rows", pa.table(columns))


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


def marks(units: Integers, keys: Integers, most: int) -> Integers:
    """The marks of rows that are sorted by unit, from the numbers of their keys in the order of all keys.

    >>> marks(np.array([1, 1, 1, 1, 2]), np.array([7, 3, 9, 3, 9]), most=2).tolist()
    [3, 3, 0, -3, 1]
    """
    if not len(units):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.concatenate(([True], units[1:] != units[:-1])))
    lengths = np.diff(starts, append=len(units))
    before = np.repeat(np.arange(len(starts)), lengths) * (int(keys.max()) + 1)
    order = np.argsort(before + keys, kind="stable")  # moves rows within their unit alone, so starts and lengths stay
    ordered = keys[order]
    is_new = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    is_new[starts] = True
    seen = np.cumsum(is_new)
    nth = seen - np.repeat(seen[starts] - 1, lengths)
    is_kept = nth <= most
    kept = np.repeat(np.add.reduceat(is_kept, starts, dtype=np.int64), lengths)
    found = np.empty(len(units), np.int64)
    found[order] = np.where(is_kept, np.where(is_new, kept, -kept), 0)
    return found
