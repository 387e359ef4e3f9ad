"""One row per person: a subquery that groups by the unit stays private, and each of its rows is that person's own.

COUNT, SUM, AVG, MIN and MAX are answered there, with HAVING and with expressions over them. They are exact, because
they never leave. Sums of real numbers are taken on an integer grid all the same: a floating-point sum depends on the
order of rows, and that order on everybody's data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.errors import QueryRefused
from discreet.exact.grid import Grid
from discreet.query.bind.contribution import ONE_ROW
from discreet.query.bind.relation import Names, Relation, filter_rows, project
from discreet.query.expressions.decimals import as_real, get_scale
from discreet.query.expressions.expression import (
    DecimalType,
    Expression,
    Field,
    Statement,
    canonical,
    list_pieces,
    lists_missing,
    name_expression,
    type_name,
)
from discreet.query.expressions.interval import Interval
from discreet.query.expressions.read import LookUp, as_condition, check_complete, read
from discreet.query.parse.parser import is_aggregate
from discreet.query.parse.places import refuse, refuse_part

__all__ = ["names_unit", "per_unit"]


_PARTS = ("expressions", "from_", "joins", "where", "group", "having", "with_")
_STEPS = 2**24
_LONGEST = Fraction(2**40)
_WORD = 2**63
_ANSWERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_DISTINCT = "GROUP BY the person and x in a subquery inside, and COUNT(*) its rows"
_SIMPLER = "compute with it in the query around this one"

Writer = Callable[[Statement], str]


def per_unit(node: exp.Select, rows: Relation, keys: list[Expression], look_up: LookUp, names: Names) -> Relation:
    """Rows grouped by the unit, and perhaps by more."""
    unknown = [part for part, value in node.args.items() if value and part not in _PARTS]
    if unknown:
        rule = "{} is not answered in a subquery of one row per person"
        raise refuse_part(node, unknown[0], rule, "use it in the query around it")
    groups = _Groups(keys, look_up, names, rows)
    columns = [(_visible(projection), groups.read(projection.unalias())) for projection in node.expressions]
    having = node.args.get("having")
    condition = None if having is None else as_condition(groups.read(having.this), having)
    grouped = groups.of(rows)
    kept = grouped if condition is None else filter_rows(grouped, condition, names)
    return project(kept, columns, names)


def _visible(projection: exp.Expr) -> str:
    return projection.alias_or_name or str(projection.unalias().sql().lower())


class _Groups:
    """Rows of one person: what they are grouped by, and the aggregates over them that the query asks for."""

    def __init__(self, keys: list[Expression], look_up: LookUp, names: Names, rows: Relation) -> None:
        self._keys, self._look_up, self._names, self._rows = keys, look_up, names, rows
        self._columns: list[tuple[Field, Writer]] = [_key(key, names) for key in keys]
        self._places: dict[str, Field] = {}

    def read(self, node: exp.Expr) -> Expression:
        """An expression over keys and aggregates; anything else has no single value per person."""
        key = self._key_of(node)
        if key is not None:
            return key
        return read(node.copy().transform(self._placed, copy=False), self._find)

    def of(self, rows: Relation) -> Relation:
        """One row for every person and further key."""
        columns, pairs = list(self._columns), zip(self._keys, self._columns, strict=False)
        further = [(key, field) for key, (field, _) in pairs if not names_unit(key)]
        below, alias = self._names.new("r"), self._names.new("r")

        def write(statement: Statement) -> str:
            # Keys are written once, below the groups: their constants get another number wherever they are written.
            keys = [f"{canonical(key).write(statement)} AS {field.name}" for key, field in further]
            inner = f"SELECT {', '.join(['*', *keys])} FROM ({rows.write(statement)}) {below}"
            salt = ["MIN(_salt) AS _salt"] if statement.salted else []
            parts = ["_unit", *salt, *(f"{text(statement)} AS {field.name}" for field, text in columns)]
            # Grouped by the unit itself: rows of one unit whose identifiers are spelled differently stay together.
            grouped = ["_unit", *(field.name for _, field in further)]
            return f"SELECT {', '.join(parts)} FROM ({inner}) {alias} GROUP BY {', '.join(grouped)}"

        privacy = rows.privacy and replace(
            rows.privacy,
            one_row_each=not further,
            contribution=rows.privacy.contribution if further else ONE_ROW,
        )
        named_columns = tuple((field.name, field) for field, _ in columns)
        # A group has a row, which meets them.
        return Relation(named_columns, write, privacy, rows.public, conditions=rows.conditions)

    def _placed(self, node: exp.Expr) -> exp.Expr:
        """A name of our own in place of an aggregate or a key."""
        if is_aggregate(node):
            field, write = _aggregate(node, self._look_up, self._names)
            field = _counted(field, self._rows) if isinstance(node, exp.Count) else field
            self._columns.append((field, write))
        elif isinstance(node, exp.Column) or (key := self._key_of(node)) is None:
            return node
        else:
            field = key
        place = f" {field.name}"  # no name of a query begins with a space
        self._places[place] = field
        return exp.column(exp.to_identifier(place, quoted=True))

    def _key_of(self, node: exp.Expr) -> Field | None:
        if isinstance(node, (exp.Literal, exp.Identifier)):
            return None
        try:
            typed = read(node, self._look_up)
        except QueryRefused:
            return None
        return self._columns[self._keys.index(typed)][0] if typed in self._keys else None

    def _find(self, node: exp.Column) -> Expression:
        placed = self._places.get(node.name)
        if placed is not None:
            return placed
        typed = self._look_up(node)
        if typed not in self._keys:
            remedy = "group by it, or compute with it in the query around this one"
            raise refuse(node, "a column must be grouped by or aggregated", remedy)
        return self._columns[self._keys.index(typed)][0]


def names_unit(key: Expression) -> bool:
    """Whether rows of different units are in different groups by it: those that it leaves unnamed would be in one."""
    return isinstance(key, Field) and key.is_unit and not key.may_be_absent


def _key(key: Expression, names: Names) -> tuple[Field, Writer]:
    field = name_expression(key, names.new())
    return field, _identifier(key) if names_unit(key) else field.write


def _identifier(unit: Expression) -> Writer:
    return lambda statement: f"MIN({unit.write(statement)})"


def _counted(count: Field, rows: Relation) -> Field:
    """A count of rows of which a person has so many at most, or has if they have no more in a table than count."""
    if rows.privacy is None:
        return count
    most = rows.privacy.contribution.most
    interval = Interval(count.interval.low, None if most is None else Fraction(most))
    return replace(count, interval=interval, usual=rows.privacy.contribution.usual if most is None else None)


def _aggregate(node: exp.Expr, look_up: LookUp, names: Names) -> tuple[Field, Writer]:
    if isinstance(node, exp.Count) and (node.this is None or isinstance(node.this, exp.Star)):
        return Field(ColumnType.INTEGER, Interval(Fraction(1), None), False, names.new()), lambda _: "COUNT(*)"
    if not isinstance(node, _ANSWERED) or {k for k, v in node.args.items() if v} - {"this", "big_int"}:
        raise refuse(node, "only COUNT, SUM, AVG, MIN and MAX of one column are answered per person", _SIMPLER)
    check_complete(node)
    if isinstance(node.this, exp.Distinct):
        raise refuse(node, "DISTINCT is not answered per person", _DISTINCT)
    argument = read(node.this, look_up)
    if isinstance(node, exp.Count):
        count = Field(ColumnType.INTEGER, Interval(Fraction(0), None), False, names.new())
        return count, lambda s: f"COUNT({argument.write(s)})"
    if isinstance(node, (exp.Min, exp.Max)):
        function = "MIN" if isinstance(node, exp.Min) else "MAX"
        pieces = list_pieces(argument)
        extreme = Field(argument.type, argument.interval, argument.nullable, names.new(), pieces=pieces)
        extreme = replace(extreme, lists_missing=lists_missing(argument))
        return extreme, lambda s: f"{function}({canonical(argument).write(s)})"
    return _sum(node, argument, names)


def _sum(node: exp.Expr, argument: Expression, names: Names) -> tuple[Field, Writer]:
    ends = argument.interval.known
    if not argument.type.is_numeric or ends is None or max(abs(ends[0]), abs(ends[1])) > _LONGEST:
        raise refuse(node, "a sum per person needs a number with public bounds", "write CLAMP(x, 0, 100)")
    if isinstance(argument.type, DecimalType):
        fits = max(abs(end) for end in ends) * 10**argument.type.scale < _WORD
        return _sum_of_steps(node, argument, names) if fits else _sum(node, as_real(argument), names)
    is_whole = argument.type is ColumnType.INTEGER
    step = Fraction(1) if is_whole else _step(ends)
    interval = _of_any_mean(argument.interval, step) if isinstance(node, exp.Avg) else _of_any_sum(ends)
    kind = ColumnType.INTEGER if is_whole and isinstance(node, exp.Sum) else ColumnType.REAL
    field = Field(kind, interval, True, names.new(), lists_missing=lists_missing(argument))

    def write(statement: Statement) -> str:
        steps = f"TRY_CAST(CAST({argument.write(statement)} AS DOUBLE) * {float(1 / step)!r} AS BIGINT)"
        total = f"SUM({steps})"
        if isinstance(node, exp.Avg):
            return f"CAST({total} AS DOUBLE) * {float(step)!r} / NULLIF(COUNT({steps}), 0)"
        return f"TRY_CAST({total} AS BIGINT)" if is_whole else f"CAST({total} AS DOUBLE) * {float(step)!r}"

    return field, write


def _sum_of_steps(node: exp.Expr, argument: Expression, names: Names) -> tuple[Field, Writer]:
    """A sum of decimals is exact, as one of integers; their mean is a real number."""
    step = Fraction(1, 10 ** get_scale(argument))
    ends = argument.interval.known or (-step, step)
    is_mean = isinstance(node, exp.Avg)
    interval = _of_any_mean(argument.interval, step) if is_mean else _of_any_sum(ends)
    field = Field(ColumnType.REAL if is_mean else argument.type, interval, True, names.new())

    def write(statement: Statement) -> str:
        steps = f"TRY_CAST({argument.write(statement)} AS BIGINT)"
        if is_mean:
            return f"CAST(SUM({steps}) AS DOUBLE) / {float(1 / step)!r} / NULLIF(COUNT({steps}), 0)"
        return f"TRY_CAST(SUM({steps}) AS {type_name(argument.type)})"

    return field, write


def _step(ends: tuple[Fraction, Fraction]) -> Fraction:
    """Fine enough for their range, and so coarse that no value has more than 2^50 steps."""
    fine = Grid.finer_than(max(ends[1] - ends[0], Fraction(1, 2**40)) / _STEPS).step
    return max(fine, Grid.finer_than(max(abs(ends[0]), abs(ends[1]), Fraction(1, 2**40)) / 2**49).step)


def _of_any_mean(of: Interval, step: Fraction) -> Interval:
    """Each value is moved by half a step at most, and the mean of integers is one division of doubles."""
    return (of.in_doubles() + Interval(-step, step)).of_function()


def _of_any_sum(ends: tuple[Fraction, Fraction]) -> Interval:
    """However many values are added, their sum has their sign when they all have one."""
    return Interval(Fraction(0) if ends[0] >= 0 else None, Fraction(0) if ends[1] <= 0 else None)
