"""Writes statements of plans for Spark.

SUM over 64-bit integers raises in Spark when it leaves them, and over decimals it is several times slower. So integers
are added up in parts of at most 26 bits, whose sums stay within 64 bits for a hundred billion rows, and the sums
are put together once per group. Values with narrow bounds need one part, and ones are counted.

A plan counts the rows of every unit and joins the counts to the rows. Spark keeps no result of a named query, so it
would read and compute the rows twice. There are two ways to weigh rows:

- in passing: a window counts the rows of a unit. Whatever the rows are, every one is counted with those that it is
  added up with. All rows are sent around and sorted for it, which takes longer than all the rest.
- apart: units with more rows than count in full are found in a reading of their own, and their rows weigh less. Few
  units are, so rows stay where they are. If a second reading found other rows than the first, a unit that was light
  when it was counted could add up more than it may; `discreet.engines.spark.tables` says when that cannot be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp

from discreet.engines.spark.casts import CAST_RULES
from discreet.engines.spark.dates import DATE_FUNCTIONS, DATE_RULES
from discreet.engines.spark.numbers import NUMBER_FUNCTIONS, NUMBER_RULES
from discreet.engines.spark.texts import TEXT_FUNCTIONS, TEXT_RULES
from discreet.engines.translate.expression import ValueKind, WriterScope, Written
from discreet.engines.translate.rules import PLAIN_RULES
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable

__all__ = [
    "HINT",
    "ROW_NUMBER",
    "ApartWriter",
    "Readings",
    "SparkWriter",
    "add_up_in_spark",
    "count_apart_in_spark",
    "count_in_passing",
    "count_readings",
    "quote_in_spark",
    "window",
]


_ROWS, _COUNTED, _HEAVY, _WEIGHTED = "_rows", "_counted", "_heavy", "_weighted"
_UNSTEADY = (exp.Window, exp.AggFunc, exp.Limit)
"""What the order of rows could change: places of equal rows, and whatever is the first of something."""


@dataclass(frozen=True)
class Readings:
    """How often a statement reads its rows."""

    repeated: bool
    """Whether it reads some twice, so that what it says of a unit holds only if they are the same both times."""
    apart: bool
    """Whether the heavy units can be counted apart: rows are chosen one by one, and weighed by their number alone."""


@lru_cache(maxsize=256)
def count_readings(statement: str) -> Readings:
    """How often a statement in the language of plans reads its rows, where units are counted in passing."""
    node = sqlglot.parse_one(statement, read="duckdb")
    named = _named(node)
    apart = list(named) == [_ROWS, _COUNTED, _WEIGHTED] and not any(named[_ROWS].find_all(*_UNSTEADY))
    uses = Counter(table.name for table in count_in_passing(node).find_all(exp.Table) if not table.this.quoted)
    return Readings(any(number > 1 for number in uses.values()), apart)


def count_in_passing(node: exp.Expr) -> exp.Expr:
    """The statement without its query for the rows of units, where it has one."""
    named = _named(node)
    if _COUNTED not in named:
        return node
    _lessen(named[_WEIGHTED])
    before = node.args["with_"]
    before.set("expressions", [one for one in before.expressions if one.alias != _COUNTED])
    source = named[_COUNTED].args["from_"].this.name
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[exp.column("_unit")])
    rows = exp.select(exp.Star(), exp.alias_(count, "n")).from_(source)
    weighted = named[_WEIGHTED]
    weighted.set("joins", None)
    weighted.args["from_"].set("this", exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(source))))
    return node


def count_apart_in_spark(node: exp.Expr) -> exp.Expr:
    """The statement with a query for the heavy units alone; rows of all others weigh in full."""
    named = _named(node)
    case = _lessen(named[_WEIGHTED])
    limit = case.args["ifs"][0].this
    named[_COUNTED].set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=limit.expression)))
    limit.replace(exp.Is(this=exp.column("n"), expression=exp.Null()))
    (join,) = named[_WEIGHTED].args["joins"]
    join.set("side", "LEFT")
    join.set("this", exp.to_table(_HEAVY))
    for one in node.args["with_"].expressions:
        if one.alias == _COUNTED:
            one.set("alias", exp.TableAlias(this=exp.to_identifier(_HEAVY)))
    return node


def _named(node: exp.Expr) -> dict[str, Any]:
    before = node.args.get("with_")
    return {} if before is None else {one.alias: one.this for one in before.expressions}


def _lessen(weighted: Any) -> Any:
    """The weight of a row, which is told never to be more than the full one: sums need fewer parts for it."""
    (case,) = (one.this for one in weighted.expressions if one.alias == "w")
    full, part = case.args["ifs"][0].args["true"], case.args["default"]
    case.set("default", exp.Least(this=part.copy(), expressions=[full.copy()]))
    return case


def window(writer: StatementWriter, node: exp.Window, scope: WriterScope) -> Written:
    """The number of rows of a unit, or the place of a row among them."""
    if not isinstance(node.this, exp.Count):
        return _place(writer, node, scope)
    apart = ", ".join(writer.write(one, scope).text for one in node.args["partition_by"])
    count = writer.write(node.this, scope)
    return Written(f"{count.text} OVER (PARTITION BY {apart})", ValueKind.INTEGER, count.low)


_place = PLAIN_RULES[exp.Window]


_BITS = 25


def add_up_in_spark(writer: StatementWriter, node: exp.Sum, scope: WriterScope) -> Written:
    """The sum of an integer expression."""
    if (counted := _counted(node.this)) is not None:
        return Written(f"CAST(NULLIF(COUNT({writer.write(counted, scope).text}), 0L) AS DECIMAL(38,0))", ValueKind.WIDE)
    value = writer.write(node.this, scope)
    if value.kind is not ValueKind.INTEGER:
        raise Untranslatable(f"SUM of {value.kind.value}")
    bits = 63 if value.largest is None else int(value.largest).bit_length()
    places = range(0, max(bits - 1, 1), _BITS)
    parts = [_part(value.text, place, place == places[-1]) for place in places]
    sums = [f"CAST(SUM({part}) AS DECIMAL(38,0)) * {2**place}BD" for part, place in zip(parts, places, strict=True)]
    return Written(f"({' + '.join(sums)})", ValueKind.WIDE)


def _part(value: str, place: int, is_last: bool) -> str:
    """The bits from a place on; the last part has the sign."""
    moved = value if place == 0 else f"shiftright({value}, {place})"
    return moved if is_last else f"({moved} & {2**_BITS - 1}L)"


def _counted(node: Any) -> Any:
    """What is counted by adding up a one wherever it is there; None where something else is added up."""
    if not isinstance(node, exp.Case) or len(node.args["ifs"]) != 1 or node.args.get("default") is not None:
        return None
    test, value = node.args["ifs"][0].this, node.args["ifs"][0].args["true"]
    is_there = (
        isinstance(test, exp.Not) and isinstance(test.this, exp.Is) and isinstance(test.this.expression, exp.Null)
    )
    return test.this.this if is_there and isinstance(value, exp.Literal) and value.this == "1" else None


ROW_NUMBER = "monotonically_increasing_id()"
HINT = "/*+ BROADCAST(_heavy) */ "
"""Every machine is sent the heavy units, for Spark does not know that they are few before it has sorted all rows."""
_LONGEST = 200_000
"""Characters of one expression. Some rules write a part several times, and parts of parts do so again."""


def quote_in_spark(name: str) -> str:
    """A name between Spark's quotes."""
    return "`" + name.replace("`", "``") + "`"


def _same(symbol: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
        return Written(f"({symbol}({first.text} <=> {second.text}))", ValueKind.BOOLEAN)

    return rule


class SparkWriter(StatementWriter):
    """Writes one statement."""

    rules: ClassVar[Mapping[type[exp.Expr], Rule]] = {
        **PLAIN_RULES,
        **CAST_RULES,
        **NUMBER_RULES,
        **TEXT_RULES,
        **DATE_RULES,
        exp.Sum: add_up_in_spark,
        exp.Window: window,
        exp.NullSafeEQ: _same(""),
        exp.NullSafeNEQ: _same("NOT "),
    }
    functions: ClassVar[Mapping[str, Rule]] = {**NUMBER_FUNCTIONS, **TEXT_FUNCTIONS, **DATE_FUNCTIONS}

    def quoted(self, name: str) -> str:
        """A name between Spark's quotes."""
        return quote_in_spark(name)

    def parameter(self, number: int) -> str:
        """The place of a value, counted from 1."""
        return f":p{number}"

    def statement(self, text: str) -> str:
        """The same in Spark's language."""
        node = self.counting(sqlglot.parse_one(text, read="duckdb"))
        self._check_numbers(node)
        return self._query(node, {}).text

    def counting(self, node: exp.Expr) -> exp.Expr:
        """The statement as it counts the rows of units."""
        return count_in_passing(node)

    def _check_numbers(self, node: exp.Expr) -> None:
        """Refuse what reads a table twice whose rows are units: a row would be another unit each time, and weigh twice.

        Spark numbers the rows as it reads them, and promises the same numbers for no second reading. Within one reading
        every row has a number of its own, so no two rows share a weight, and none escapes from what it shares.
        """
        used = Counter(table.name for table in node.find_all(exp.Table))
        for name, source in self.sources.items():
            if ROW_NUMBER in source.relation and used[name]:
                repeated = [each for each in (name, "_all", "_rows") if used[each] > 1]
                if repeated:
                    raise Untranslatable("a table without a unit's name, read twice")

    def write(self, node: Any, scope: WriterScope) -> Written:
        """An expression in Spark's language."""
        written = super().write(node, scope)
        if len(written.text) > _LONGEST:
            raise Untranslatable("an expression of so many parts")
        return written


class ApartWriter(SparkWriter):
    """Writes one statement that finds the heavy units in a reading of their own."""

    def counting(self, node: exp.Expr) -> exp.Expr:
        """The statement as it counts the rows of units."""
        return count_apart_in_spark(node)

    def named_query(self, name: str, query: str) -> str:
        """A query that is used by name."""
        hinted = query.replace("SELECT ", f"SELECT {HINT}", 1) if name == "_weighted" else query
        return super().named_query(name, hinted)
