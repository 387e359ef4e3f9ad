"""Public keys: every value that an expression can have as a key, found from the policy and the text alone.

A column with listed keys, a condition, a bounded whole number, a bounded date or a bounded timestamp that is truncated
can take finitely many public values. An expression over these is evaluated on all of them, in a database that holds
nothing else, and what comes out is the list of its groups: bins, months, CASE labels. Which of the combinations of
several keys there are says `discreet.query.plan.list_groups`.

What a public table's column holds: values that anybody may know, so that they can be the keys of groups.

They are read as a query reads them, with defaults filled in and values moved into their bounds, and once for each
version of the table's data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import ColumnType, Value
from discreet.engines.sql_text import quote
from discreet.errors import InvalidValue
from discreet.query.answer.sandbox import open_closed_database
from discreet.query.bind.relation import normalise
from discreet.query.expressions.calendar import starts
from discreet.query.expressions.expression import (
    Call,
    Constant,
    DecimalType,
    Expression,
    Field,
    Statement,
    lists_missing,
    type_name,
)

__all__ = [
    "MOST_GROUPS",
    "Key",
    "KnownRows",
    "ListRows",
    "PublicEnds",
    "PublicValues",
    "arrow_type",
    "collect_parts",
    "find_domain",
    "find_values_through",
    "is_missing_listed",
    "order_keys",
    "plain",
    "replace_values",
]


Key = Value | float | None

MOST_GROUPS = 100_000
_MOST_VALUES = 20_000


@lru_cache(maxsize=256)  # what it finds is public, and finding it can take a database
def find_domain(expression: Expression) -> tuple[Key, ...] | None:
    """Every value that an expression can take, in canonical order; None where that is not public."""
    values = _listed(expression)
    if values is not None:
        return order_keys(values)
    if isinstance(expression, Call):
        found = _evaluated(expression)
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


def _listed(expression: Expression) -> list[Key] | None:
    missing: list[Key] = [None] if expression.nullable else []
    if isinstance(expression, Field) and expression.keys is not None:
        return [*(plain(key) for key in expression.keys), *missing]
    return _counted(expression) if isinstance(expression, Field) else None


def plain(key: Value | None) -> Key:
    """A value as Arrow takes it."""
    return float(key) if isinstance(key, Fraction) else key


def _evaluated(expression: Call) -> list[Key] | None:
    """The expression on every combination of what it is made of; bounded whole numbers inside it count as one."""
    atoms: dict[Expression, list[Key]] = {}
    if not collect_parts(expression, atoms):
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


def collect_parts(expression: Expression, atoms: dict[Expression, list[Key]]) -> bool:
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
    if all(collect_parts(argument, inside) for argument in expression.arguments):
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


class PublicValues:
    """Lists the values of public columns, each once for a version of its table."""

    def __init__(
        self, catalog: Catalog, run: Callable[[str, list[object]], pa.Table], version: Callable[[str], str]
    ) -> None:
        self._catalog, self._run, self._version = catalog, run, version
        self._known: dict[tuple[str, tuple[str, ...], int, str], KnownRows] = {}

    def __call__(self, table: str, columns: tuple[str, ...], most: int) -> KnownRows:
        """At most ``most`` distinct rows of a public table's columns; a protected table is never read."""
        key = (table, columns, most, self._version(table))
        if key not in self._known:
            self._known[key] = self._read(table, columns, most)
        return self._known[key]

    def _read(self, name: str, columns: tuple[str, ...], most: int) -> KnownRows:
        table = self._catalog.table(name)
        wanted = [table.column(column) for column in columns]
        if not table.public or None in wanted:
            raise InvalidValue("values are listed for columns of public tables alone", f"{name} {columns}")
        statement = Statement()
        shown = [normalise(column, statement) for column in wanted if column is not None]
        listed = ", ".join(f"{value} AS v{k}" for k, value in enumerate(shown))
        found = self._run(f"SELECT DISTINCT {listed} FROM {quote(table.name)} LIMIT {most}", statement.parameters)
        rows = zip(*(found[f"v{k}"].to_pylist() for k in range(len(shown))), strict=True)
        kept = tuple(tuple(map(_exact, row)) for row in rows if all(map(_is_key, row)))
        return KnownRows(kept, is_whole=len(kept) == found.num_rows)


class PublicEnds:
    """Tells between which values the columns of public tables lie, each table once for a version of it."""

    def __init__(
        self,
        catalog: Catalog,
        run: Callable[[str, list[object]], pa.Table],
        version: Callable[[str], str],
        *,
        at_rest: bool = True,
    ) -> None:
        """Where rows are not ``at_rest`` within a version, they are looked at whenever somebody wants to know."""
        self._catalog, self._run, self._version, self._at_rest = catalog, run, version, at_rest
        self._known: dict[tuple[str, str], dict[str, tuple[Value, Value] | None]] = {}

    def __call__(self, table: str, column: str) -> tuple[Value, Value] | None:
        """The least and the greatest value of a column; None where it has none, or one that is no number."""
        key = (table, self._version(table))
        if key not in self._known or not self._at_rest:
            self._known[key] = self._read(table)
        return self._known[key][column]

    def _read(self, name: str) -> dict[str, tuple[Value, Value] | None]:
        table = self._catalog.table(name)
        if not table.public:
            raise InvalidValue("values are listed for columns of public tables alone", name)
        statement, columns = Statement(), [column for column in table.columns if column.type.is_ordered]
        shown = ", ".join(f"{normalise(column, statement)} AS v{k}" for k, column in enumerate(columns))
        ends = ", ".join(f"MIN(v{k}) AS low{k}, MAX(v{k}) AS high{k}" for k in range(len(columns)))
        text = f"SELECT {ends} FROM (SELECT {shown} FROM {quote(table.name)}) r"
        (row,) = self._run(text, statement.parameters).to_pylist()
        return {column.name: _ends(row[f"low{k}"], row[f"high{k}"]) for k, column in enumerate(columns)}


def _ends(low: Value | float | None, high: Value | float | None) -> tuple[Value, Value] | None:
    if low is None or high is None or not (_is_key(low) and _is_key(high)):
        return None
    return _exact(low), _exact(high)  # type: ignore[return-value]  # neither is missing


def _exact(value: Value | float | None) -> Value | None:
    return Fraction(value) if isinstance(value, float) else value


def _is_key(value: object) -> bool:
    """Infinity and what is not a number are in no group."""
    return not isinstance(value, float) or math.isfinite(value)
