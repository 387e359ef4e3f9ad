"""Reading an aggregate: which question it is, of which values and of which rows. What is not understood is refused.

A block: one aggregate over private rows, the only place where a query touches people's data.

Everything below it is private and stays in the engine; everything above it is post-processing of the noisy table that
the block releases, whose columns are k0, k1, … for the groups and a0, a1, … for the aggregates.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.errors import QueryRefused
from discreet.query.bind.relation import PartitionFilter, Relation
from discreet.query.expressions.dates import format_iso_date
from discreet.query.expressions.decimals import as_key, as_real
from discreet.query.expressions.expression import Call, Constant, DecimalType, Expression, Field, collect_fields
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.narrowing import find_facts, narrow, within_usual
from discreet.query.expressions.read import LookUp, check_complete, read, read_condition
from discreet.query.parse.alternatives import not_answered
from discreet.query.plan.public_groups import find_domain
from discreet.query.refusal import refuse

__all__ = [
    "BY_VALUE",
    "QUANTILES",
    "Aggregate",
    "AggregateKind",
    "PrivateAggregation",
    "has_aggregate",
    "is_aggregate",
    "read_aggregate",
]


class AggregateKind(Enum):
    """What is asked about a group."""

    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    DEVIATION = "standard deviation"
    QUANTILE = "quantile"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MODE = "mode"
    PEOPLE = "number of people"
    VALUES = "number of different values"

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number that is never below zero."""
        return self in (AggregateKind.COUNT, AggregateKind.PEOPLE, AggregateKind.VALUES)

    @property
    def is_choice(self) -> bool:
        """Whether it is one of the values themselves, chosen, and not computed from sums."""
        return self in (AggregateKind.QUANTILE, AggregateKind.MINIMUM, AggregateKind.MAXIMUM, AggregateKind.MODE)


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of a query."""

    kind: AggregateKind
    """What is asked."""
    argument: Expression | None = None
    """Of which values; None counts rows."""
    condition: Expression | None = None
    """Of which rows; None takes all."""
    quantile: Fraction = Fraction(1, 2)
    """Which quantile, for quantiles."""
    is_sample: bool = False
    """Whether a variance divides by n - 1."""
    shown_as: ColumnType = ColumnType.REAL
    """What a chosen value is shown as; dates are chosen by their number of days."""


@dataclass
class PrivateAggregation:
    """Groups and aggregates over private rows."""

    number: int
    """Which block of the query it is."""
    rows: Relation
    """The private rows."""
    keys: list[Expression]
    """What the rows are grouped by."""
    places: list[exp.Expr]
    """Where the query says so, for refusals that point."""
    asked: dict[Aggregate, str] = field(default_factory=dict)
    """What is asked about each group, each once, and the column of the noisy table that will hold it."""
    top: int | None = None
    """How many groups are wanted, where only the names of the largest are shown."""

    @property
    def name(self) -> str:
        """The noisy table's name above the block."""
        return f"_block{self.number}"

    @property
    def aggregates(self) -> list[Aggregate]:
        """What is asked about each group, each once."""
        return list(self.asked)

    @property
    def restriction(self) -> PartitionFilter | None:
        """Whose rows they are alone, where the query says so."""
        known = () if self.rows.privacy is None else self.rows.privacy.restrictions
        return known[0] if known else None

    def ask(self, aggregate: Aggregate) -> str:
        """The column of the noisy table that will hold this aggregate."""
        return self.asked.setdefault(aggregate, f"a{len(self.asked)}")


BY_VALUE: dict[type[exp.Expr], tuple[AggregateKind, bool]] = {
    exp.Sum: (AggregateKind.SUM, False),
    exp.Avg: (AggregateKind.MEAN, False),
    exp.Variance: (AggregateKind.VARIANCE, True),
    exp.VariancePop: (AggregateKind.VARIANCE, False),
    exp.Stddev: (AggregateKind.DEVIATION, True),
    exp.StddevSamp: (AggregateKind.DEVIATION, True),
    exp.StddevPop: (AggregateKind.DEVIATION, False),
    exp.Min: (AggregateKind.MINIMUM, False),
    exp.Max: (AggregateKind.MAXIMUM, False),
    exp.Median: (AggregateKind.QUANTILE, False),
}
_FINEST_QUANTILE = 2**16
_LARGEST = Fraction(2**200)
_DATES = {
    ColumnType.DATE: (ColumnType.INTEGER, "TRY({0} - DATE '1970-01-01')"),
    ColumnType.TIMESTAMP: (ColumnType.REAL, "TRY(epoch({0}))"),
}
QUANTILES = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node turns many rows into one value."""
    if isinstance(node, exp.Filter):
        return is_aggregate(node.this)
    if isinstance(node, exp.Window):
        return False
    return isinstance(node, (exp.AggFunc, exp.WithinGroup))


def has_aggregate(node: exp.Select) -> bool:
    """Whether a query turns many rows into one; subqueries inside it and functions of windows do not count."""
    if node.args.get("group") is not None or node.args.get("having") is not None:
        return True
    parts = [part for projection in node.expressions for part in _own_nodes(projection)]
    return any(is_aggregate(part) and not _is_of_window(part) for part in parts)


def _own_nodes(node: exp.Expr) -> list[exp.Expr]:
    return list(node.walk(prune=lambda part: isinstance(part, (exp.Subquery, exp.Query))))


def _is_of_window(node: exp.Expr) -> bool:
    outer = node.parent.parent if isinstance(node.parent, (exp.Filter, exp.IgnoreNulls)) else node.parent
    return isinstance(outer, exp.Window) and outer.this in (node, node.parent)


def read_aggregate(node: exp.Expr, look_up: LookUp) -> Aggregate:
    """The aggregate that ``node`` asks for."""
    check_complete(node)
    if isinstance(node, exp.Filter):
        return _filtered(node, look_up)
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, look_up)
    if isinstance(node, exp.Count):
        return _count(node, look_up)
    if isinstance(node, exp.CountIf):
        return Aggregate(AggregateKind.COUNT, None, read_condition(node.this, look_up))
    if isinstance(node, exp.Mode):
        return _mode(node, look_up)
    if isinstance(node, QUANTILES):
        return _quantile(node, node.this, node.args.get("quantile") or node.args.get("expression"), look_up)
    return _by_value(node, look_up)


def _filtered(node: exp.Filter, look_up: LookUp) -> Aggregate:
    condition = read_condition(node.args["expression"].this, look_up)
    facts = find_facts(condition)
    inner = read_aggregate(node.this, lambda column: narrow(look_up(column), facts))
    if inner.condition is not None:
        condition = Call(ColumnType.BOOLEAN, UNKNOWN, True, "{0} AND {1}", (inner.condition, condition))
    return replace(inner, condition=condition)


def _by_value(node: exp.Expr, look_up: LookUp) -> Aggregate:
    found = BY_VALUE.get(type(node))
    if found is None:
        raise not_answered(node, "over protected rows", {*BY_VALUE, *QUANTILES, exp.Count, exp.CountIf, exp.Mode})
    if [key for key, value in node.args.items() if value and key != "this"]:
        raise refuse(node, "only one argument is understood here", "leave the rest out")
    if found[0].is_choice:
        return _choice(Aggregate(found[0]), node, node.this, look_up)
    return Aggregate(found[0], _argument(node, node.this, look_up), is_sample=found[1])


def _choice(wanted: Aggregate, node: exp.Expr, of: exp.Expr, look_up: LookUp) -> Aggregate:
    """A quantile of numbers, or of dates and times by their number of days or seconds since 1970."""
    if isinstance(of, exp.Distinct):
        raise refuse(node, "DISTINCT is not answered inside this aggregate", "leave DISTINCT out")
    typed = _read_bounded(of, look_up)
    kind = _shown_as(typed)
    number = _DATES.get(kind)
    if number is None:
        is_end = wanted.kind in (AggregateKind.MINIMUM, AggregateKind.MAXIMUM)
        shown = kind if is_end else ColumnType.REAL
        return replace(wanted, argument=_bounded(node, typed), shown_as=shown)
    counted = Call(number[0], typed.interval.in_doubles(), typed.nullable, number[1], (typed,))
    return replace(wanted, argument=_bounded(node, counted), shown_as=kind)


def _shown_as(typed: Expression) -> ColumnType:
    """The type in which one of its values is shown: a decimal as the real number that it is nearest to."""
    return ColumnType.REAL if isinstance(typed.type, DecimalType) else typed.type


def _count(node: exp.Count, look_up: LookUp) -> Aggregate:
    if node.expressions:
        raise refuse(node, "COUNT takes one argument", "use COUNT(*)")
    if node.this is None or isinstance(node.this, exp.Star):
        return Aggregate(AggregateKind.COUNT)
    if isinstance(node.this, exp.Distinct):
        return _distinct(node, node.this, look_up)
    argument = read(node.this, look_up)
    return Aggregate(AggregateKind.COUNT, argument if argument.nullable else None)


def _distinct(node: exp.Count, distinct: exp.Distinct, look_up: LookUp) -> Aggregate:
    parts = [read(part, look_up) for part in distinct.expressions]
    if len(parts) != 1:
        raise refuse(node, "COUNT(DISTINCT …) takes one column", "count the rows of a subquery with GROUP BY")
    if isinstance(parts[0], Field) and parts[0].is_unit:
        return Aggregate(AggregateKind.PEOPLE, condition=_has_row(parts[0]) if parts[0].may_be_absent else None)
    return Aggregate(AggregateKind.VALUES, parts[0])


def _has_row(unit: Field) -> Expression:
    """Whether an outer join found a row that names the person."""
    return Call(ColumnType.BOOLEAN, UNKNOWN, False, "{0} IS NOT NULL", (unit,))


def _mode(node: exp.Expr, look_up: LookUp) -> Aggregate:
    if isinstance(node.this, exp.Distinct) or [key for key, value in node.args.items() if value and key != "this"]:
        raise refuse(node, "MODE takes one column", "write MODE(x)")
    argument = read(node.this, look_up)
    if isinstance(argument, Field) and argument.is_unit:
        raise refuse(node, "the person's own identifier cannot be shown", "ask about another column")
    shown = format_iso_date(as_key(node, argument))
    is_listed_elsewhere = any(used.keys_from or used.origin for used in collect_fields(shown))  # what planning reads
    if not is_listed_elsewhere and not find_domain(replace(shown, nullable=False)):
        rule = "MODE needs a column whose values are public"
        raise refuse(node, rule, "the owner lists its keys in the policy, or write SELECT x, COUNT(*) … GROUP BY x")
    return Aggregate(AggregateKind.MODE, shown, shown_as=_shown_as(argument))


def _within_group(node: exp.WithinGroup, look_up: LookUp) -> Aggregate:
    inner, order = node.this, node.args["expression"]
    if not isinstance(inner, (exp.PercentileCont, exp.PercentileDisc)) or len(order.expressions) != 1:
        rule = "WITHIN GROUP goes with PERCENTILE_CONT or PERCENTILE_DISC and one column"
        raise refuse(node, rule, "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)")
    ordered = order.expressions[0]
    found = _quantile(node, ordered.this, inner.this, look_up)
    return _mirrored(found) if ordered.args.get("desc") else found


def _mirrored(found: Aggregate) -> Aggregate:
    """The same quantile counted from the other end."""
    kinds = {AggregateKind.MINIMUM: AggregateKind.MAXIMUM, AggregateKind.MAXIMUM: AggregateKind.MINIMUM}
    return replace(found, kind=kinds.get(found.kind, found.kind), quantile=1 - found.quantile)


def _quantile(node: exp.Expr, of: exp.Expr, share: exp.Expr | None, look_up: LookUp) -> Aggregate:
    wanted = None if share is None else read(share, look_up)
    if not isinstance(wanted, Constant) or not isinstance(wanted.value, (int, Fraction)) or not 0 <= wanted.value <= 1:
        raise refuse(node, "a quantile is a number from 0 to 1", "write 0.5 for the median")
    share_of_rows = Fraction(wanted.value)
    if share_of_rows.denominator > _FINEST_QUANTILE:
        raise refuse(node, f"a quantile is a fraction with a denominator of at most {_FINEST_QUANTILE}", "write 0.95")
    ends = {Fraction(0): AggregateKind.MINIMUM, Fraction(1): AggregateKind.MAXIMUM}
    kind = ends.get(share_of_rows, AggregateKind.QUANTILE)
    return _choice(Aggregate(kind, quantile=share_of_rows), node, of, look_up)


def _argument(node: exp.Expr, argument: exp.Expr, look_up: LookUp) -> Expression:
    if isinstance(argument, exp.Distinct):
        raise refuse(node, "DISTINCT is not answered inside this aggregate", "leave DISTINCT out")
    return _bounded(node, _read_bounded(argument, look_up))


def _read_bounded(node: exp.Expr, look_up: LookUp) -> Expression:
    """The expression; where it has no bounds, with counts of a person's rows as the policies bound them."""
    typed = read(node, look_up)
    return read(node, lambda column: within_usual(look_up(column))) if typed.interval.known is None else typed


def _bounded(node: exp.Expr, typed: Expression) -> Expression:
    if not typed.type.is_numeric:
        raise _no_number(node, typed)
    if typed.interval.known is None:
        raise _unbounded(node, typed)
    if max(abs(end) for end in typed.interval.known) > _LARGEST:
        raise refuse(node, "the bounds of this are too wide", "clamp it: CLAMP(x, 0, 100)")
    return as_real(typed) if isinstance(typed.type, DecimalType) else typed


def _no_number(node: exp.Expr, typed: Expression) -> QueryRefused:
    column = _column(typed)
    if typed.type is not ColumnType.TEXT or column is None:
        remedy = _NUMBERS.get(_shown_as(typed), "write CLAMP(CAST(x AS INTEGER), 0, 100), or count: COUNT(x)")
        return refuse(node, f"this aggregate needs numbers, not {typed.type.value}", remedy)
    rule = f"this aggregate needs numbers, and the policy says that {column} is text"
    numbers = "if it holds numbers, the owner states its type and bounds in the policy"
    return refuse(node, rule, f"{numbers}; else count: SELECT {column}, COUNT(*) … GROUP BY {column}")


_NUMBERS = {
    ColumnType.BOOLEAN: "write COUNT_IF(x), or AVG(CAST(x AS INTEGER))",
    ColumnType.DATE: "write MEDIAN(x) or MIN(x) or MAX(x)",
    ColumnType.TIMESTAMP: "write MEDIAN(x) or MIN(x) or MAX(x)",
}


def _unbounded(node: exp.Expr, typed: Expression) -> QueryRefused:
    """Refuse values without public bounds: where the policy declares none, or where they do not follow from it."""
    dated = isinstance(typed, Call) and typed.template in (template for _, template in _DATES.values())
    column = _column(typed.arguments[0] if isinstance(typed, Call) and dated else typed)
    x, few = column or "x", "DATE '2020-01-01' AND DATE '2020-12-31'" if dated else "0 AND 100"
    ways = f"keep WHERE {x} BETWEEN {few}" + ("" if dated else f", or clamp: CLAMP({x}, 0, 100)")
    if column is None:
        rule = "this needs public bounds, and they do not follow from the columns' bounds"
        return refuse(node, rule, f"state bounds in the policy, {ways}")
    rule = f"this needs public bounds, and the policy declares none for {column}"
    return refuse(node, rule, f"the owner adds lower and upper to {column}; or {ways}")


def _column(typed: Expression) -> str | None:
    """The column of a protected table that an expression is, by the name that the policy gives it."""
    return typed.column[1] if isinstance(typed, Field) and typed.column is not None else None
