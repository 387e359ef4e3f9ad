"""Public groups: every key a query can show, found from the policy and the text alone.

A column with listed keys, a condition, a bounded whole number, a bounded date or a bounded timestamp that is truncated
can take finitely many public values. An expression over these is evaluated on all of them, in a database that holds
nothing else, and what comes out is the list of its groups: bins, months, CASE labels, combinations. Groups that nobody
is in appear too, with noise.

A column that comes unchanged from a public table has the values that it has there: they are public, so listing them
says nothing about anybody.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from discreet.catalog.column import ColumnType, Value
from discreet.errors import QueryRefused
from discreet.query.block import Block
from discreet.query.calendar import starts
from discreet.query.closed_database import closed_database
from discreet.query.expression import Call, Constant, DecimalType, Expression, Field, Statement, fields_of, type_name
from discreet.query.public_values import ListValues
from discreet.query.refusal import refuse

__all__ = ["MOST_GROUPS", "Key", "arrow_type", "domain_of", "known_domains"]

Key = Value | float | None

MOST_GROUPS = 100_000
_MOST_VALUES = 20_000


def known_domains(block: Block, public_values: ListValues | None = None) -> list[tuple[Key, ...]] | None:
    """For every key of a block, every value it can have; None where that is not public.

    ``public_values`` lists what a public table's column holds; without it, such a column needs keys or bounds as well.
    """
    lists = []
    size = 1
    for key, place in zip(block.keys, block.places, strict=True):
        values = domain_of(_with_values(key, place, public_values))
        if values is None:
            return None
        lists.append(values)
        size *= len(values)
    if size > MOST_GROUPS:
        raise _too_many(block.places[0])
    return lists


def _too_many(place: exp.Expr) -> QueryRefused:
    return refuse(place, f"there may be at most {MOST_GROUPS:,} groups", "group by fewer or coarser columns")


def _with_values(key: Expression, place: exp.Expr, public_values: ListValues | None) -> Expression:
    """The key in terms of the tables' columns, with the values of public ones filled in."""
    key = _seen_through(key)
    filled: dict[Expression, Expression] = {}
    for used in fields_of(key):
        if used.origin is None or used.keys is not None or public_values is None:
            continue
        values = public_values(used.origin.table, used.origin.column, MOST_GROUPS + 1)
        if len(values) > MOST_GROUPS:
            raise _too_many(place)
        known = tuple(value for value in values if value is not None)
        filled[used] = replace(used, keys=known, nullable=None in values or used.origin.may_be_absent)
    return _replaced(key, filled)


@lru_cache(maxsize=256)  # what it finds is public, and finding it can take a database
def domain_of(expression: Expression) -> tuple[Key, ...] | None:
    """Every value that an expression can take, in canonical order; None where that is not public."""
    values = _listed(expression)
    if values is not None:
        return _ordered(values)
    if isinstance(expression, Call):
        found = _evaluated(expression)
        return None if found is None else _ordered(found)
    return None


def _seen_through(expression: Expression) -> Expression:
    """The expression with what subqueries computed put in place of the fields that show it."""
    if isinstance(expression, Field) and expression.computed is not None:
        return _seen_through(expression.computed)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_seen_through(part) for part in expression.arguments))
    return expression


def _listed(expression: Expression) -> list[Key] | None:
    missing: list[Key] = [None] if expression.nullable else []
    if isinstance(expression, Field) and expression.keys is not None:
        return [*(_plain(key) for key in expression.keys), *missing]
    return _counted(expression) if isinstance(expression, Field) else None


def _plain(key: Value) -> Key:
    return float(key) if isinstance(key, Fraction) else key


def _evaluated(expression: Call) -> list[Key] | None:
    """The expression on every combination of what it is made of; bounded whole numbers inside it count as one."""
    atoms: dict[Expression, list[Key]] = {}
    if not _collect(expression, atoms):
        return _counted(expression)
    size = 1
    for values in atoms.values():
        size *= len(values)
    return _counted(expression) if size > MOST_GROUPS else _run(expression, atoms)


def _counted(expression: Expression) -> list[Key] | None:
    """Every value that the interval holds: more than can occur, perhaps, and each of them public."""
    missing: list[Key] = [None] if expression.nullable else []
    if expression.type is ColumnType.BOOLEAN:
        return [False, True, *missing]
    if expression.type is ColumnType.INTEGER:
        ends = expression.interval.known
        if ends is None or ends[1] - ends[0] >= _MOST_VALUES:
            return None
        return [*range(int(-(-ends[0] // 1)), int(ends[1] // 1) + 1), *missing]
    grain = expression.grain if isinstance(expression, Call) else None
    if expression.type is ColumnType.DATE or (expression.type is ColumnType.TIMESTAMP and grain):
        found = starts(expression.type, grain or "day", expression.interval, _MOST_VALUES)
        return None if found is None else [*found, *missing]
    return None


def _collect(expression: Expression, atoms: dict[Expression, list[Key]]) -> bool:
    """Gather the finite parts of an expression; False where a part is neither finite nor made of finite parts."""
    if isinstance(expression, Constant) or expression in atoms:
        return True
    values = _listed(expression)
    if values is not None:
        atoms[expression] = values
        return True
    if not isinstance(expression, Call):
        return False
    inside = dict(atoms)
    if all(_collect(argument, inside) for argument in expression.arguments):
        atoms |= inside
        return True
    counted = _counted(expression)
    if counted is None:
        return False
    atoms[expression] = counted
    return True


def _run(expression: Call, atoms: dict[Expression, list[Key]]) -> list[Key]:
    names = {atom: f"d{position}" for position, atom in enumerate(atoms)}
    statement = Statement()
    named: dict[Expression, Expression] = {a: Field(a.type, a.interval, a.nullable, n) for a, n in names.items()}
    text = _replaced(expression, named).write(statement)
    rows = list(itertools.product(*atoms.values()))  # one row without columns where all of it is constant
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names.values())}
    fields = {n: pa.array(v, arrow_type(a)) for (a, n), v in zip(names.items(), columns.values(), strict=True)}
    fields["one"] = pa.array([1] * len(rows), pa.int8())
    casts = ", ".join([f"CAST({name} AS {type_name(atom.type)}) AS {name}" for atom, name in names.items()] or ["one"])
    with closed_database({"_domain": pa.table(fields)}) as database:
        found = database.execute(f"SELECT DISTINCT {text} FROM (SELECT {casts} FROM _domain)", statement.parameters)
        return [row[0] for row in found.fetchall()]


def arrow_type(expression: Expression) -> pa.DataType:
    """The type that an expression's values have in Arrow; a decimal's are steps."""
    if isinstance(expression.type, DecimalType):
        return pa.decimal128(38, 0)
    return {
        ColumnType.INTEGER: pa.int64(),
        ColumnType.REAL: pa.float64(),
        ColumnType.TEXT: pa.string(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.DATE: pa.date32(),
        ColumnType.TIMESTAMP: pa.timestamp("us"),
    }[expression.type]


def _replaced(expression: Expression, others: dict[Expression, Expression]) -> Expression:
    if expression in others:
        return others[expression]
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_replaced(part, others) for part in expression.arguments))
    return expression


def _ordered(values: list[Key]) -> tuple[Key, ...]:
    """An order that depends on the values alone, missing last."""
    # NaN is in no group: it equals nothing. A negative zero is the zero that it equals.
    known = sorted({v + 0 if isinstance(v, float) else v for v in values if v is not None and v == v})
    return (*known, *([None] if None in values else []))
