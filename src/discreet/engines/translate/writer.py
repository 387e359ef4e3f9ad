"""Writes a statement of a plan for another engine: the structure of queries, and expressions by a fixed list of rules.

Plans come in one language, so they are the same on every engine, and so are prices and refusals. What they are written
from is a closed list; a rule says for each part how the engine spells it, so that it means the same and cannot raise,
whatever the rows are. What has no rule is refused before anything is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp

from discreet.engines.parameters import ParameterValue
from discreet.engines.translate.expression import Columns, Ends, ValueKind, WriterScope, Written, WrittenQuery, hull

__all__ = ["Rule", "SourceTable", "StatementWriter", "Untranslatable", "digits_and_exponent", "in_units"]


class Untranslatable(Exception):
    """The engine cannot answer this so that it means the same and cannot fail; ``str`` says what, in a few words."""


Rule = Callable[["Any", Any, WriterScope], Written]
"""Writes one kind of part: the writer, the part, and where its names are looked up."""


@dataclass(frozen=True)
class SourceTable:
    """A table of the engine, as plans see it."""

    relation: str
    """A query that returns its declared columns, cast so that no row can make it fail, and ``_unit``."""
    columns: Columns
    """Those columns."""
    unit: ValueKind | None = None
    """What its units are named by; None where it has none."""


_PARTS = frozenset({"with_", "expressions", "from_", "joins", "where", "group", "having", "distinct", "limit"})
_JOINS = frozenset({"this", "side", "kind", "on", "using"})


class StatementWriter(ABC):
    """Writes one statement."""

    rules: ClassVar[Mapping[type[exp.Expr], Rule]]
    """How each kind of part is written."""
    functions: ClassVar[Mapping[str, Rule]]
    """How functions are written that the parser knows by name alone."""

    def __init__(self, sources: Mapping[str, SourceTable], values: Sequence[ParameterValue]) -> None:
        """For a statement about these tables, by name, and with these values beside it."""
        self.sources = sources
        self.values = values
        self.tables: set[str] = set()
        """The tables that the statement was seen to read."""

    def statement(self, text: str) -> str:
        """The same in the engine's language."""
        return self._query(sqlglot.parse_one(text, read="duckdb"), {}).text

    # What engines spell differently.

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A name between the engine's quotes."""

    @abstractmethod
    def parameter(self, number: int) -> str:
        """The place of a value, counted from 1."""

    def named_query(self, name: str, query: str) -> str:
        """A query that others of the statement use by name."""
        return f"{name} AS ({query})"

    def source(self, relation: str) -> str:
        """The rows of a table, which this query returns, as they stand after FROM."""
        return f"({relation})"

    # Queries.

    def _query(self, node: Any, known: Mapping[str, Columns]) -> WrittenQuery:
        match node:
            case exp.Subquery():
                return self._query(node.this, known)
            case exp.Union():
                return self._union(node, known)
            case exp.Select():
                return self._select(node, known)
        raise Untranslatable("a query of this kind")

    def _union(self, node: exp.Union, known: Mapping[str, Columns]) -> WrittenQuery:
        if node.args.get("with_") is not None:
            raise Untranslatable("WITH before UNION")
        first, second = self._query(node.left, known), self._query(node.right, known)
        word = "UNION" if node.args.get("distinct") else "UNION ALL"
        pairs = zip(first.columns.items(), second.columns.values(), strict=True)
        columns = {name: _either(one, two) for (name, one), two in pairs}
        return WrittenQuery(f"({first.text}) {word} ({second.text})", columns)

    def _select(self, node: exp.Select, known: Mapping[str, Columns]) -> WrittenQuery:
        if any(value and part not in _PARTS for part, value in node.args.items()):
            raise Untranslatable("a clause of this kind")
        before, known = self._with(node, dict(known))
        source, scope = self._from(node, known)
        columns = self._projections(node, scope)
        words = "SELECT DISTINCT" if node.args.get("distinct") else "SELECT"
        listed = ", ".join(f"{text} AS {column.text}" for text, column in columns)
        text = f"{before}{words} {listed} FROM {source}{self._conditions(node, scope)}"
        return WrittenQuery(text, {column.text: column for _, column in columns})

    def _with(self, node: exp.Select, known: dict[str, Columns]) -> tuple[str, dict[str, Columns]]:
        written = []
        for named in node.args["with_"].expressions if node.args.get("with_") else ():
            rows = self._query(named.this, known)
            known[named.alias] = rows.columns
            written.append(self.named_query(named.alias, rows.text))
        return (f"WITH {', '.join(written)} " if written else ""), known

    def _from(self, node: exp.Select, known: Mapping[str, Columns]) -> tuple[str, WriterScope]:
        text, alias, columns = self._relation(node.args["from_"].this, known)
        scope = WriterScope({alias: columns})
        for join in node.args.get("joins") or ():
            if any(value and part not in _JOINS for part, value in join.args.items()):
                raise Untranslatable("a join of this kind")
            joined, alias, columns = self._relation(join.this, known)
            scope = WriterScope({**scope.relations, alias: columns})
            word = " ".join(filter(None, (join.side, join.kind, "JOIN")))
            text = f"{text} {word} {joined}{self._meeting(join, scope)}"
        return text, scope

    def _meeting(self, join: exp.Join, scope: WriterScope) -> str:
        if join.args.get("using"):
            return f" USING ({', '.join(name.name for name in join.args['using'])})"
        return f" ON {self.write(join.args['on'], scope).text}" if join.args.get("on") else ""

    def _relation(self, node: Any, known: Mapping[str, Columns]) -> tuple[str, str, Columns]:
        """The text, the alias and the columns of what stands after FROM or JOIN."""
        if isinstance(node, exp.Subquery):
            rows = self._query(node.this, known)
            return f"({rows.text}) {node.alias}", node.alias, rows.columns
        if not node.this.quoted:
            return node.name, node.name, known[node.name]
        self.tables.add(node.name)
        source = self.sources[node.name]
        alias = self.quoted(node.alias or node.name)
        return f"{self.source(source.relation)} {alias}", alias, source.columns

    def _projections(self, node: exp.Select, scope: WriterScope) -> list[tuple[str, Written]]:
        """Per output, its text and the column that it becomes."""
        found: list[tuple[str, Written]] = []
        for one in node.expressions:
            if isinstance(one, exp.Star):
                found += self._all(one, "", scope)
            elif isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
                found += self._all(one.this, one.table, scope)
            else:
                written = self.write(one.unalias(), scope)
                found.append((written.text, replace(written, text=one.alias_or_name)))
        return found

    def _all(self, star: exp.Star, relation: str, scope: WriterScope) -> list[tuple[str, Written]]:
        left_out = {one.name for one in star.args.get("except_") or ()}
        return [
            (f"{alias}.{column.text}", column)
            for alias, columns in scope.relations.items()
            for name, column in columns.items()
            if relation in ("", alias) and name not in left_out
        ]

    def _conditions(self, node: exp.Select, scope: WriterScope) -> str:
        where, group, having, limit = (node.args.get(part) for part in ("where", "group", "having", "limit"))
        text = f" WHERE {self.write(where.this, scope).text}" if where is not None else ""
        if group is not None:
            text += f" GROUP BY {', '.join(self.write(key, scope).text for key in group.expressions)}"
        text += f" HAVING {self.write(having.this, scope).text}" if having is not None else ""
        return text + (f" LIMIT {int(limit.expression.this)}" if limit is not None else "")

    # Expressions.

    def write(self, node: Any, scope: WriterScope) -> Written:
        """An expression in the engine's language; what a condition around it says of it is known of it."""
        rule = self.functions.get(node.name.lower()) if isinstance(node, exp.Anonymous) else self.rules.get(type(node))
        if rule is None:
            raise Untranslatable("one of its functions")
        written = rule(self, node, scope)
        known = scope.facts.get(node.sql(dialect="duckdb")) if scope.facts else None
        return written if known is None else replace(written, low=known[0], high=known[1])

    def type_of(self, node: exp.DataType) -> ValueKind:
        """The type that a cast in the language of plans leads to."""
        kind = ValueKind.WIDE if _is_wide(node) else _KINDS.get(node.this)
        if node.this is exp.DataType.Type.DECIMAL and kind is None:
            raise Untranslatable("text read as decimal")  # plans cast nothing else to other digits
        if kind is None:
            raise Untranslatable("a cast to this type")
        return kind


def digits_and_exponent(node: exp.Expr) -> tuple[exp.Expr, int] | None:
    """A decimal in its steps, and how many of its digits stand after the point, where it is read as a real number."""
    joined = node.this.unnest()
    if not isinstance(joined, exp.DPipe) or not isinstance(joined.this, exp.Cast):
        return None
    power = joined.expression
    is_power = isinstance(power, exp.Literal) and power.is_string and power.this.startswith("e-")
    return (joined.this.this, int(power.this[2:])) if is_power else None


def in_units(steps: Written, places: int) -> Ends:
    """The bounds of a decimal whose bounds are known in its steps."""
    low, high = (None if end is None else end / 10**places for end in steps.ends)
    return low, high


def _is_wide(node: exp.DataType) -> bool:
    """Whether it is the type of decimals in their steps: an integer of up to 38 digits."""
    sizes = [size.name for size in node.expressions]
    return node.this is exp.DataType.Type.DECIMAL and sizes == ["38", "0"]


def _either(one: Written, two: Written) -> Written:
    """A column whose values come from two."""
    low, high = hull([one, two])
    return replace(one, kind=two.kind if one.kind is ValueKind.NOTHING else one.kind, low=low, high=high)


_KINDS = {
    exp.DataType.Type.BIGINT: ValueKind.INTEGER,
    exp.DataType.Type.INT: ValueKind.INTEGER,
    exp.DataType.Type.INT128: ValueKind.WIDE,
    exp.DataType.Type.DOUBLE: ValueKind.REAL,
    exp.DataType.Type.TEXT: ValueKind.TEXT,
    exp.DataType.Type.VARCHAR: ValueKind.TEXT,
    exp.DataType.Type.BOOLEAN: ValueKind.BOOLEAN,
    exp.DataType.Type.DATE: ValueKind.DATE,
    exp.DataType.Type.TIMESTAMP: ValueKind.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPNTZ: ValueKind.TIMESTAMP,
}
