"""Writes statements of plans for PostgreSQL. Every expression is total: no row can make the server raise.

Sums and extremes are exact, in the fastest form that the bounds of the summands allow.

Of the weights of rows, only the units with too many rows are looked up, and they are few. A plan counts the rows of
every unit and joins the counts to the rows. In PostgreSQL every worker of a parallel scan would count them all for
itself. So here the units with more rows than count in full are collected first, once, into two arrays, and the rows of
all others have the full weight.

No two workers share a count, so one worker would do all the counting. Rows that are read from one table are counted in
two halves, by a hash of their unit, which two workers do side by side: each reads all rows and counts half of them.
Where people have few rows and numbers for names, they are counted in order: along an index on the column, where there
is one, in a third of the time; else sorted, which still waits less for memory than looking up a million hashes does.
Where the server knows the middle of such numbers, the halves are those below it and the others, and each worker reads
half of the index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

from sqlglot import exp

from discreet.engines.parameters import ParameterValue
from discreet.engines.postgres.casts import CAST_RULES, TYPES
from discreet.engines.postgres.dates import DATE_FUNCTIONS, DATE_RULES, YEARS, move_date
from discreet.engines.postgres.numbers import NUMBER_FUNCTIONS, NUMBER_RULES, clamp_between
from discreet.engines.postgres.texts import TEXT_FUNCTIONS, TEXT_RULES
from discreet.engines.translate.expression import Columns, ValueKind, WriterScope, Written, WrittenQuery
from discreet.engines.translate.rules import PLAIN_RULES
from discreet.engines.translate.writer import Rule, SourceTable, StatementWriter, Untranslatable

__all__ = [
    "COUNTED",
    "HEAVY",
    "HEAVY_RULES",
    "ROWS",
    "SUM_RULES",
    "WEIGHTED",
    "HalvingWriter",
    "KeepingWriter",
    "PostgresWriter",
    "heavy_units",
    "is_in_order",
    "with_heavy_units",
]


COUNTED, WEIGHTED, ROWS, _ALL = "_counted", "_weighted", "_rows", "_all"
HEAVY = f"unnest((SELECT units FROM {COUNTED}), (SELECT counts FROM {COUNTED})) AS {COUNTED}(_unit, n)"
"""The units with too many rows, and how many."""
_HASHES = {ValueKind.INTEGER: "hashint8", ValueKind.TEXT: "hashtext"}
"""Equal units have equal numbers of 32 bits; about half of them are below zero."""
_FEW = 100
"""Rows of one person. Where most have more, there are fewer people, and their hashes are close at hand."""
_IN_ORDER = "in order"


class _Half(exp.Expression):
    """Whether a unit is below the middle, or not below: by its hash, or by itself where units are read in order."""

    arg_types: ClassVar = {"this": True, "function": True, "sign": True, "in_order": True}


class _Lessened(exp.Expression):
    """A weight that is less than the full one, because its unit has too many rows."""

    arg_types: ClassVar = {"this": True, "full": True}


def heavy_units(query: str) -> str:
    """The query for units and their rows, collected once."""
    return f"{COUNTED} AS MATERIALIZED (SELECT array_agg(_unit) AS units, array_agg(n) AS counts FROM ({query}) h)"


def with_heavy_units(node: exp.Select, sources: Mapping[str, SourceTable] | None) -> exp.Select:
    """A statement in which only such units are counted, where it counts units for weights.

    They are counted in halves where the units of its ``sources`` can be parted.
    """
    named = {one.alias: one.this for one in node.args["with_"].expressions} if node.args.get("with_") else {}
    if COUNTED not in named:
        return node
    (case,) = (one.this for one in named[WEIGHTED].expressions if one.alias == "w")
    limit, full, part = case.args["ifs"][0].this, case.args["ifs"][0].args["true"], case.args["default"]
    named[COUNTED].set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=limit.expression)))
    most = int(limit.expression.this)
    limit.replace(exp.Is(this=exp.column("n"), expression=exp.Null()))
    part.replace(_Lessened(this=part.copy(), full=full.copy()))
    (join,) = named[WEIGHTED].args["joins"]
    join.set("side", "LEFT")
    if sources is not None:
        _count_in_halves(named, sources, most)
    return node


def is_in_order(table: exp.Table) -> bool:
    """Whether the units of this table are to be read in order."""
    return bool(table.meta.get(_IN_ORDER))


def _count_in_halves(named: Mapping[str, Any], sources: Mapping[str, SourceTable], most: int) -> None:
    function = None if _ALL in named else _hash_of_units(named[ROWS], sources)
    if function is None:
        return
    in_order = function == _HASHES[ValueKind.INTEGER] and most <= _FEW
    named[COUNTED].args["from_"].this.meta[_IN_ORDER] = in_order
    first, second = named[COUNTED].copy(), named[COUNTED].copy()
    for half, sign in ((first, "<"), (second, ">=")):
        below = _Half(this=exp.column("_unit"), function=function, sign=sign, in_order=in_order)
        half.set("where", exp.Where(this=below))
    named[COUNTED].replace(exp.Union(this=first, expression=second, distinct=False))


def _hash_of_units(rows: Any, sources: Mapping[str, SourceTable]) -> str | None:
    """The hash for the units of one table; None where there are several, which would be joined once more."""
    if rows.find(exp.Join, exp.Union) is not None:
        return None
    (table,) = rows.find_all(exp.Table)
    unit = sources[table.name].unit
    return None if unit is None else _HASHES.get(unit)


def _half(writer: Any, node: _Half, scope: WriterScope) -> Written:
    unit, sign = writer.write(node.this, scope).text, node.args["sign"]
    if node.args["in_order"] and writer.middle is not None:
        return Written(f"({unit} {sign} {writer.middle})", ValueKind.BOOLEAN)
    return Written(f"({node.args['function']}({unit}) {sign} '0'::int4)", ValueKind.BOOLEAN)


def _lessen(writer: StatementWriter, node: _Lessened, scope: WriterScope) -> Written:
    return replace(writer.write(node.this, scope), low=Fraction(0), high=Fraction(node.args["full"].this))


HEAVY_RULES: Mapping[type[exp.Expr], Rule] = {_Half: _half, _Lessened: _lessen}


_SHORT = 2**25
"""Summands of 32 bits are added up in 64 without a check: of this size, a quarter of a trillion rows still fit."""


def _sum(writer: StatementWriter, node: exp.Sum, scope: WriterScope) -> Written:
    if (counted := _counted(node.this)) is not None:
        return Written(f"COUNT({writer.write(counted, scope).text})::numeric", ValueKind.WIDE)
    value = writer.write(node.this, scope)
    if value.kind is not ValueKind.INTEGER:
        raise Untranslatable(f"sums of {value.kind.value}")
    size = "int4" if clamp_between(value, -_SHORT, _SHORT) else "int8"
    return Written(f"SUM({value.text}::{size})::numeric", ValueKind.WIDE)


def _counted(node: Any) -> Any:
    """What is counted by adding up a one wherever it is there; None where something else is added up."""
    if not isinstance(node, exp.Case) or len(node.args["ifs"]) != 1 or node.args.get("default") is not None:
        return None
    test, value = node.args["ifs"][0].this, node.args["ifs"][0].args["true"]
    is_there = (
        isinstance(test, exp.Not) and isinstance(test.this, exp.Is) and isinstance(test.this.expression, exp.Null)
    )
    return test.this.this if is_there and isinstance(value, exp.Literal) and value.this == "1" else None


def _extreme(name: str, of_truth: str) -> Rule:
    """PostgreSQL has no least truth value by that name."""

    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        value = writer.write(node.this, scope)
        function = of_truth if value.kind is ValueKind.BOOLEAN else name
        return Written(f"{function}({value.text})", value.kind, *value.ends, whole=value.whole)

    return rule


SUM_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Sum: _sum,
    exp.Min: _extreme("MIN", "bool_and"),
    exp.Max: _extreme("MAX", "bool_or"),
}


_LONGEST = 200_000
"""Letters of a statement: guards repeat what they guard, and what is nested deeply would grow without an end."""

_WITH = "WITH "
_LARGE = frozenset({"_all", "_rows", "_present", "_weighted"})
_COMPUTED_ONCE = " OFFSET '0'::int8"
"""Without it, PostgreSQL would compute a column again wherever it is used; a plain 0 would keep workers away."""
_LONGEST_COLUMN = 1000
"""Letters of a column with all that it is computed from: a longer one is computed once.

PostgreSQL puts the expression of a subquery's column wherever the column is used. Guards use their operands several
times, so that a few subqueries in each other would become an expression that it plans for ever.
"""
_LONGEST_INLINED = 5000
"""Letters of such a column from which on what it is computed from is computed once as well."""
_NAMES = re.compile(r"\b[a-z]+[0-9]+\b")
"""The names that plans give to columns."""


def _same(word: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
        return Written(f"({first.text} {word} {second.text})", ValueKind.BOOLEAN)

    return rule


class PostgresWriter(StatementWriter):
    """Writes one statement for PostgreSQL."""

    rules: ClassVar[Mapping[type[exp.Expr], Rule]] = {
        **PLAIN_RULES,
        exp.NullSafeEQ: _same("IS NOT DISTINCT FROM"),
        exp.NullSafeNEQ: _same("IS DISTINCT FROM"),
        **CAST_RULES,
        **NUMBER_RULES,
        **TEXT_RULES,
        **DATE_RULES,
        **SUM_RULES,
        **HEAVY_RULES,
    }
    functions: ClassVar[Mapping[str, Rule]] = {**NUMBER_FUNCTIONS, **TEXT_FUNCTIONS, **DATE_FUNCTIONS}
    in_halves: ClassVar[bool] = True
    """Whether people are counted in two halves, side by side, where that can be."""

    def __init__(self, sources: Mapping[str, SourceTable], values: Sequence[ParameterValue]) -> None:
        """For a statement about these tables and with these values; dates of tables lie in the years 1 to 9999."""
        super().__init__({name: _with_years(source) for name, source in sources.items()}, values)
        self._lengths: dict[str, int] = {}
        """Per column of a subquery, how long it is with all that it is computed from."""
        self._once: set[int] = set()
        """The parts after FROM, by identity, whose columns are computed once."""

    @property
    def middle(self) -> str | None:
        """The middle of the numbers that name people, where it is known."""
        return None

    def statement(self, text: str) -> str:
        """The same in PostgreSQL's language."""
        written = super().statement(text)
        if len(written) > _LONGEST:
            raise Untranslatable("expressions that are nested this deeply")
        return written

    def quoted(self, name: str) -> str:
        """A name between double quotes."""
        return '"' + name.replace('"', '""') + '"'

    def parameter(self, number: int) -> str:
        """The place of a value."""
        return f"${number}"

    def named_query(self, name: str, query: str) -> str:
        """A query that is used by name: what has a row for every row is read twice rather than kept in between."""
        if name == COUNTED:
            return heavy_units(query)
        if name not in _LARGE:
            return super().named_query(name, query)
        return f"{name} AS NOT MATERIALIZED ({query})"

    def _with(self, node: exp.Select, known: dict[str, Columns]) -> tuple[str, dict[str, Columns]]:
        return super()._with(with_heavy_units(node, self.sources if self.in_halves else None), known)

    def write(self, node: Any, scope: WriterScope) -> Written:
        """An expression; one that has outgrown what a server is sent is refused before it grows further."""
        written = super().write(node, scope)
        if len(written.text) > _LONGEST:
            raise Untranslatable("expressions that are nested this deeply")
        return written

    def moved(self, first: Written, symbol: str, second: Written) -> Written:
        """A date that is added to or subtracted from."""
        return move_date(first, symbol, second)

    def _relation(self, node: Any, known: Mapping[str, Columns]) -> tuple[str, str, Columns]:
        if isinstance(node, exp.Table) and node.name == COUNTED:
            return HEAVY, COUNTED, known[COUNTED]
        text, alias, columns = super()._relation(node, known)
        is_long = isinstance(node, exp.Subquery) and any(self._length(name) > _LONGEST_COLUMN for name in columns)
        if is_long or id(node) in self._once:
            self._lengths |= {name: len(name) for name in columns}
            text = f"(SELECT * FROM {text}{_COMPUTED_ONCE}) {alias}"
        elif isinstance(node, exp.Table) and node.name == ROWS and _is_added_up(node):
            text = f"(SELECT * FROM {text}{_COMPUTED_ONCE}) {alias}"
        elif isinstance(node, exp.Table) and is_in_order(node):
            text = f"(SELECT _unit FROM {text} ORDER BY _unit) {alias}"
        return text, alias, columns

    def _select(self, node: exp.Select, known: Mapping[str, Columns]) -> WrittenQuery:
        rows = super()._select(node, known)
        sources = [node.args["from_"].this, *(join.this for join in node.args.get("joins") or ())]
        below = {id(one) for one in sources if isinstance(one, exp.Subquery) or one.this.quoted}
        is_long = any(self._length(name) > _LONGEST_INLINED for name in rows.columns)
        if not is_long or below <= self._once:
            return rows
        self._once |= below
        return super()._select(node, known)

    def _projections(self, node: exp.Select, scope: WriterScope) -> list[tuple[str, Written]]:
        found = super()._projections(node, scope)
        cast = self._cast_length(node.args["from_"].this)
        lengths = [sum(map(self._length, _NAMES.findall(text)), len(text) + cast) for text, _ in found]
        self._lengths |= {column.text: length for (_, column), length in zip(found, lengths, strict=True)}
        return found

    def _cast_length(self, node: Any) -> int:
        """How long a column of a table is with its cast; nothing for what is no table, or is computed once."""
        if not isinstance(node, exp.Table) or not node.this.quoted or id(node) in self._once:
            return 0
        source = self.sources[node.name]
        return len(source.relation) // max(len(source.columns), 1)

    def _length(self, name: str) -> int:
        return self._lengths.get(name, len(name))

    def _meeting(self, join: exp.Join, scope: WriterScope) -> str:
        if join.args.get("on") is None:
            return super()._meeting(join, scope)
        condition = join.args["on"].unnest()
        parts = [part.unnest() for part in (condition.flatten() if isinstance(condition, exp.And) else [condition])]
        if join.side == "FULL" and not any(isinstance(part, (exp.EQ, exp.NullSafeEQ)) for part in parts):
            raise Untranslatable("FULL JOIN without a column that is equal on both sides")
        return f" ON {' AND '.join(self._pair(part, scope) for part in parts)}"

    def _pair(self, condition: Any, scope: WriterScope) -> str:
        """What rows that meet have in common: PostgreSQL looks up arrays; for IS NOT DISTINCT it compares all pairs."""
        if not isinstance(condition, exp.NullSafeEQ):
            return self.write(condition, scope).text
        one, two = (self.write(side, scope) for side in (condition.this, condition.expression))
        return f"(ARRAY[{one.text}::{TYPES[one.kind]}] = ARRAY[{two.text}::{TYPES[two.kind]}])"


class KeepingWriter(PostgresWriter):
    """Writes one statement that reads each table once and keeps its rows in between, however often they are used."""

    in_halves: ClassVar[bool] = False

    def statement(self, text: str) -> str:
        """The same in PostgreSQL's language."""
        self._kept: dict[str, str] = {}
        written = super().statement(text)
        kept = ", ".join(f"{name} AS MATERIALIZED ({relation})" for relation, name in self._kept.items())
        more = written.startswith(_WITH)
        return f"{_WITH}{kept}{', ' + written.removeprefix(_WITH) if more else ' ' + written}" if kept else written

    def source(self, relation: str) -> str:
        """The rows of a table, by the name under which they are kept."""
        return self._kept.setdefault(relation, f"_kept{len(self._kept)}")


class HalvingWriter(PostgresWriter):
    """Writes one statement that is sent with one value more: the middle of the numbers that name people."""

    @property
    def middle(self) -> str:
        """Where the middle stands in a statement."""
        return f"{self.parameter(len(self.values) + 1)}::int8"


def _is_added_up(rows: exp.Table) -> bool:
    """Whether values of these rows are needed, and not the units alone, whose order in an index would be lost."""
    named = rows.find_ancestor(exp.CTE)
    return named is not None and named.alias == WEIGHTED


def _with_years(source: SourceTable) -> SourceTable:
    columns = {
        name: replace(column, low=YEARS[column.kind][0], high=YEARS[column.kind][1]) if column.kind in YEARS else column
        for name, column in source.columns.items()
    }
    return replace(source, columns=columns)
