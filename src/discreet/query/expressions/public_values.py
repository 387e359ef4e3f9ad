"""Public keys: every value that an expression can have as a key, found from the policy and the text alone.

A column with listed keys, a condition, a bounded whole number, a bounded date or a bounded timestamp that is truncated
can take finitely many public values. An expression over these is evaluated on all of them, in a database that holds
nothing else, and what comes out is the list of its groups: bins, months, CASE labels. Which of the combinations of
several keys there are says `discreet.query.plan.list_groups`. What the columns of public tables hold is filled in
first; `discreet.query.bind.public_tables` reads it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from discreet.catalog.column import ColumnType, Value
from discreet.engines.duckdb.closed_database import open_closed_database
from discreet.query.expressions.calendar import starts
from discreet.query.expressions.expression import (
    Call,
    Constant,
    DecimalType,
    Expression,
    Field,
    Statement,
    collect_fields,
    lists_missing,
    type_name,
)
from discreet.query.parse.places import refuse

__all__ = [
    "MOST_GROUPS",
    "MOST_ROWS",
    "Key",
    "KnownRows",
    "ListRows",
    "arrow_type",
    "collect_parts",
    "find_domain",
    "find_values_through",
    "is_missing_listed",
    "order_keys",
    "plain",
    "replace_values",
    "with_values",
]


Key = Value | float | None

MOST_GROUPS = 100_000
MOST_ROWS = 500_000
"""How many rows of public tables are looked at."""
_MOST_VALUES = 20_000


@lru_cache(maxsize=256)  # what it finds is public, and finding it can take a database
def find_domain(expression: Expression) -> tuple[Key, ...] | None:
    """Every value that an expression can take, in canonical order; None where that is not public."""
    values = _list(expression)
    if values is not None:
        return order_keys(values)
    if isinstance(expression, Call):
        found = _evaluate(expression)
        return None if found is None else order_keys(found)
    return None


def is_missing_listed(expression: Expression) -> bool:
    """Whether what is missing is a group: where it is listed, or made of values that are there."""
    return None in (find_domain(_of_listed(expression)) or ())


def _of_listed(expression: Expression) -> Expression:
    """The same where nothing is missing that is not listed."""
    if isinstance(expression, Field):
        return replace(expression, nullable=lists_missing(expression))
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(_of_listed(part) for part in expression.arguments)
    return replace(expression, arguments=arguments, nullable=lists_missing(expression))


def find_values_through(expression: Expression) -> Expression:
    """The expression with what subqueries computed put in place of the fields that show it."""
    if isinstance(expression, Field) and expression.computed is not None:
        return find_values_through(expression.computed)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(find_values_through(part) for part in expression.arguments))
    return expression


def _list(expression: Expression) -> list[Key] | None:
    missing: list[Key] = [None] if expression.nullable else []
    if isinstance(expression, Field) and expression.keys is not None:
        return [*(plain(key) for key in expression.keys), *missing]
    return _count(expression) if isinstance(expression, Field) else None


def plain(key: Value | None) -> Key:
    """A value as Arrow takes it."""
    return float(key) if isinstance(key, Fraction) else key


def _evaluate(expression: Call) -> list[Key] | None:
    """The expression on every combination of what it is made of; bounded whole numbers inside it count as one."""
    atoms: dict[Expression, list[Key]] = {}
    if not collect_parts(expression, atoms):
        return _count(expression)
    size = 1
    for values in atoms.values():
        size *= len(values)
    return _count(expression) if size > MOST_GROUPS else _run(expression, atoms)


def _count(expression: Expression) -> list[Key] | None:
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


def collect_parts(expression: Expression, atoms: dict[Expression, list[Key]]) -> bool:
    """Gather the finite parts of an expression; False where a part is neither finite nor made of finite parts."""
    if isinstance(expression, Constant) or expression in atoms:
        return True
    values = _list(expression)
    if values is not None:
        atoms[expression] = values
        return True
    if not isinstance(expression, Call):
        return False
    inside = dict(atoms)
    if all(collect_parts(argument, inside) for argument in expression.arguments):
        atoms |= inside
        return True
    counted = _count(expression)
    if counted is None:
        return False
    atoms[expression] = counted
    return True


def _run(expression: Call, atoms: dict[Expression, list[Key]]) -> list[Key]:
    names = {atom: f"d{position}" for position, atom in enumerate(atoms)}
    statement = Statement()
    named: dict[Expression, Expression] = {a: Field(a.type, a.interval, a.nullable, n) for a, n in names.items()}
    text = replace_values(expression, named).write(statement)
    rows = list(itertools.product(*atoms.values()))  # one row without columns where all of it is constant
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names.values())}
    fields = {n: pa.array(v, arrow_type(a)) for (a, n), v in zip(names.items(), columns.values(), strict=True)}
    fields["one"] = pa.array([1] * len(rows), pa.int8())
    casts = ", ".join([f"CAST({name} AS {type_name(atom.type)}) AS {name}" for atom, name in names.items()] or ["one"])
    with open_closed_database({"_domain": pa.table(fields)}) as database:
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


def replace_values(expression: Expression, others: Mapping[Expression, Expression]) -> Expression:
    """The expression with others in place of some of its parts."""
    if expression in others:
        return others[expression]
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(replace_values(part, others) for part in expression.arguments))
    return expression


def order_keys(values: list[Key]) -> tuple[Key, ...]:
    """An order that depends on the values alone, missing last."""
    # NaN is in no group: it equals nothing. A negative zero is the zero that it equals.
    known = sorted({v + 0 if isinstance(v, float) else v for v in values if v is not None and v == v})
    return (*known, *([None] if None in values else []))


@dataclass(frozen=True, eq=False)
class KnownRows:
    """What some columns of a public table hold together, each once; None for what is missing.

    It is equal to itself alone, so that what was found with it can be kept without looking at all of it again.
    """

    rows: tuple[tuple[Value | None, ...], ...]
    is_whole: bool = True
    """Whether no row was left out for a number that is none, or infinite: it is in no group."""


ListRows = Callable[[str, tuple[str, ...], int], KnownRows]
"""What a public table has in some columns, as many rows as asked for at most."""


def with_values(key: Expression, place: exp.Expr | None, read: ListRows | None) -> Expression:
    """The key with the values of public columns filled in."""
    filled: dict[Expression, Expression] = {}
    for used in collect_fields(key):
        column = used.keys_from if used.origin is None else (used.origin.table, used.origin.column)
        if column is None or used.keys is not None or read is None:
            continue
        values = [row[0] for row in read(column[0], (column[1],), MOST_ROWS + 1).rows]
        if len(values) > MOST_ROWS:
            rule = f"there may be at most {MOST_GROUPS:,} groups, and {'.'.join(column)} has more than {MOST_ROWS:,}"
            raise refuse(place, rule, "group by a coarser column")
        known = replace(used, keys=tuple(value for value in values if value is not None))
        if used.origin is not None:
            is_missing = None in values or used.origin.may_be_absent
            known = replace(known, nullable=is_missing, lists_missing=is_missing)
        filled[used] = known
    return replace_values(key, filled)
