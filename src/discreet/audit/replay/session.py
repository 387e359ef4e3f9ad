"""A recorded session: real questions to a real curator in a folder of its own, and all that happens written down.

Neighbours of an owner's own table have one person's rows removed, added or replaced, the most telling people first:
whoever has the most rows, holds the greatest or the least value of a column, or has a value missing;
and people who are not there yet, with values far outside of every bound, or broken ones. The rest is chosen at random.
The words about a neighbour name no person.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.replay.watch import RecordedQuestion, WatchedCurator, record_question
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.engines.duckdb.sources import declare_columns, read_parts, selection
from discreet.errors import InvalidValue
from discreet.exact.rational import Number
from discreet.noise.experiment import Chance
from discreet.privacy.neighbours import Neighbours

__all__ = ["Neighbour", "Session", "World", "neighbours_of", "recorded", "rows_of"]


World = Sequence[tuple[Any, Table]]
"""Tables with their policies, in the order in which they are taken in."""


@dataclass(frozen=True)
class Session:
    """Several questions to one curator."""

    asked: list[RecordedQuestion]
    """The questions in their order."""
    accounts: dict[str, Any]
    """What the ledger and the budgets say afterwards."""


def recorded(folder: Path, world: World, questions: Sequence[str], epsilon: Number) -> Session:
    """Protect these tables by a curator in ``folder``, ask every question for ``epsilon``, and write it all down."""
    curator = WatchedCurator(folder)
    try:
        curator.engine.store.share("audit")  # people who are in two sessions choose the same in both
        for rows, policy in world:
            curator.protect(rows, policy, unread=lambda _: None)  # values that break are put in on purpose
        curator.take_record()
        asked = [record_question(curator, sql, epsilon=epsilon) for sql in questions]
        entries = [(entry.body["kind"], entry.body.get("prices")) for entry in curator.ledger.entries()]
        return Session(asked, {"budget": curator.budget(), "ledger": entries})
    finally:
        curator.engine.close()
        curator.ledger.close()


Codes = npt.NDArray[np.int64]
"""Per row, the number of its person; below 0 for rows without a name, each of which is a person of its own."""

_EXTRA_ROWS = 3
"""By how many times an added person has more rows than count."""
_MOST_ADDED = 64
_STRANGER = "a person who is not there"
Values = dict[ColumnType, tuple[Any, ...]]
"""What cells of a type are filled with, in turn."""

_HIGH: Values = {
    ColumnType.INTEGER: (2**63 - 1,),
    ColumnType.REAL: (1.7e308,),
    ColumnType.TEXT: ("\uffff",),
    ColumnType.BOOLEAN: (True,),
    ColumnType.DATE: (date.max,),
    ColumnType.TIMESTAMP: (datetime.max,),
}
_LOW: Values = {
    ColumnType.INTEGER: (-(2**63),),
    ColumnType.REAL: (-1.7e308,),
    ColumnType.TEXT: ("",),
    ColumnType.BOOLEAN: (False,),
    ColumnType.DATE: (date.min,),
    ColumnType.TIMESTAMP: (datetime.min,),
}
_BROKEN: Values = {
    ColumnType.INTEGER: (None, 0, -1, 2**53 + 1),
    ColumnType.REAL: (None, float("nan"), float("inf"), float("-inf"), -0.0, 5e-324),
    ColumnType.TEXT: (None, "'", "it's \\ \x00", "Ω"),
    ColumnType.BOOLEAN: (None, True),
    ColumnType.DATE: (None, date(1, 1, 1)),
    ColumnType.TIMESTAMP: (None, datetime(9999, 12, 31, 23, 59, 59)),
}
_STRANGERS: dict[str, Values] = {
    "with values above every bound": _HIGH,
    "with values below every bound": _LOW,
    "with missing and broken values": _BROKEN,
}


@dataclass(frozen=True)
class Neighbour:
    """A table that differs from another by one person."""

    words: str
    """How it differs; it names nobody."""
    rows: pa.Table
    """The rows of the table."""


def rows_of(source: Any, policy: Table) -> pa.Table:
    """The declared columns of a source, read as the types that the policy declares."""
    connection = duckdb.connect(":memory:")
    scratch = TemporaryDirectory(prefix="discreet-replay-")
    try:
        names = [column.name for column in policy.columns]
        found = []
        for part in read_parts(
            source, declare_columns(policy), connection, spelled=policy.csv, scratch=Path(scratch.name)
        ):
            relation = part.patient_relation or part.relation
            columns = ", ".join(f"{cast} AS c{k}" for k, cast in enumerate(selection(policy, part)))
            found.append(connection.sql(f"SELECT {columns} FROM {relation}").to_arrow_table())  # noqa: S608  our casts
        return pa.concat_tables(found).rename_columns(names)
    finally:
        connection.close()
        scratch.cleanup()


def neighbours_of(rows: pa.Table, policy: Table, most: int, chance: Chance) -> list[Neighbour]:
    """Up to ``most`` neighbours under the relation of the policy, each of another person."""
    if policy.foreign_keys and policy.unit is None:
        rule = "neighbours are made for tables that name their people, or whose rows are people"
        raise InvalidValue(rule, policy.name, "join the column that names the person to the table first")
    people = _people(rows, policy)
    if policy.neighbours is Neighbours.ADD_REMOVE_ONE:
        made = _added_or_removed(rows, policy, people, chance)
    else:
        made = _replace(rows, policy, people, chance)
    found = list(islice(made, most))
    if not found:
        raise InvalidValue("a table without people has no neighbours under replace-one", policy.name)
    return found


def _people(rows: pa.Table, policy: Table) -> Codes:
    if policy.unit is None:
        return np.arange(rows.num_rows)
    encoded = pa.chunked_array(rows[policy.unit]).combine_chunks().dictionary_encode()
    indices = np.asarray(encoded.indices.fill_null(-1), np.int64)
    return np.where(indices < 0, -1 - np.arange(len(indices)), indices)


def _added_or_removed(rows: pa.Table, policy: Table, people: Codes, chance: Chance) -> Iterator[Neighbour]:
    strangers = iter(_strangers(rows, policy))
    yield from islice(strangers, 1)
    telling = _telling_people(rows, policy, people, chance)
    for words, person in telling:
        yield Neighbour(f"{words} removed", rows.filter(pa.array(people != person)))
        yield from islice(strangers, 1)
    yield from strangers


def _strangers(rows: pa.Table, policy: Table) -> Iterator[Neighbour]:
    for words, values in _STRANGERS.items():
        added = _stranger(rows, policy, values, _unknown_name(rows, policy))
        yield Neighbour(f"{_STRANGER} added, {words}", pa.concat_tables([rows, added]))


def _replace(rows: pa.Table, policy: Table, people: Codes, chance: Chance) -> Iterator[Neighbour]:
    kinds = list(_STRANGERS.items())
    named = (found for found in _telling_people(rows, policy, people, chance) if found[1] >= 0)
    for place, (words, person) in enumerate(named):
        kind, values = kinds[place % len(kinds)]
        name = pa.scalar(None) if policy.unit is None else rows[policy.unit][int(np.argmax(people == person))]
        others = rows.filter(pa.array(people != person))
        made = _stranger(rows, policy, values, name)
        yield Neighbour(f"{words} replaced by one {kind}", pa.concat_tables([others, made]))


def _telling_people(rows: pa.Table, policy: Table, people: Codes, chance: Chance) -> Iterator[tuple[str, int]]:
    """People by what makes them telling, each once."""
    seen = set[int]()
    for words, person in _candidates(rows, policy, people):
        if person not in seen:
            seen.add(person)
            yield words, person
    rest = np.setdiff1d(np.unique(people), list(seen))
    for person in chance.permutation(rest):
        yield "a person chosen at random", int(person)


def _candidates(rows: pa.Table, policy: Table, people: Codes) -> Iterator[tuple[str, int]]:
    if not len(people):
        return
    if policy.unit is not None and (people >= 0).any():
        yield "the person with the most rows", int(np.argmax(np.bincount(people[people >= 0])))
    for column in policy.columns:
        if column.type.is_ordered and column.name != policy.unit:
            values = rows[column.name]
            for word, order in (("greatest", "descending"), ("least", "ascending")):
                first = pc.sort_indices(values, sort_keys=[("", order)])[0].as_py()
                yield f"the person with the {word} {column.name}", int(people[first])
        missing = np.flatnonzero(np.asarray(rows[column.name].is_null()))
        if len(missing):
            yield f"a person whose {column.name} is missing", int(people[missing[0]])


# People who are not there.


def _stranger(rows: pa.Table, policy: Table, values: Values, name: pa.Scalar) -> pa.Table:
    """The rows of one person with these values, under this name; more of them than count."""
    count = min(policy.rows_per_unit * _EXTRA_ROWS + 1, _MOST_ADDED) if name.is_valid else 1
    columns = [
        pa.array([name.as_py()] * count, rows.schema.field(column.name).type)
        if column.name == policy.unit
        else pa.array(_cells(column, values[column.type], count), rows.schema.field(column.name).type)
        for column in policy.columns
    ]
    return pa.table(columns, rows.schema)


def _cells(column: Column, values: tuple[Any, ...], count: int) -> list[Any]:
    """Values for so many rows; listed keys are used where there are some, so that the person is in a group."""
    found = values
    if column.listed is not None:
        found = (column.listed[-1], column.listed[0], *(value for value in values if value is None))
    if not column.may_be_missing:
        found = tuple(value for value in found if not _is_missing(value))
    if column.constant_per_unit:
        found = found[:1]
    return [found[k % len(found)] for k in range(count)]


def _is_missing(value: Any) -> bool:
    """Whether the curator reads this as missing: of real numbers, all that are not finite."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _unknown_name(rows: pa.Table, policy: Table) -> pa.Scalar:
    """A name that nobody has; a missing one, which is a person of its own, where it is not clear how to make it."""
    if policy.unit is None:
        return pa.scalar(None)
    column = rows[policy.unit]
    if pa.types.is_integer(column.type):
        greatest = pc.max(column).as_py()
        return pa.scalar(0 if greatest is None else greatest + 1 if greatest < 2**63 - 1 else _gap(column), column.type)
    if pa.types.is_string(column.type):
        taken = set(column.to_pylist())
        return pa.scalar(next(name for name in map("stranger {}".format, range(len(taken) + 1)) if name not in taken))
    return pa.scalar(None, column.type)


def _gap(column: pa.ChunkedArray) -> int:
    taken = set(column.to_pylist())
    return next(number for number in range(len(taken) + 1) if number not in taken)
