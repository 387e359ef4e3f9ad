"""Writes statements of plans for Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp

from discreet.engines.spark.casts import CAST_RULES
from discreet.engines.spark.dates import DATE_FUNCTIONS, DATE_RULES
from discreet.engines.spark.numbers import NUMBER_FUNCTIONS, NUMBER_RULES
from discreet.engines.spark.sums import added_up
from discreet.engines.spark.texts import TEXT_FUNCTIONS, TEXT_RULES
from discreet.engines.spark.weights import counted_apart, counted_in_passing, window
from discreet.engines.translation.plain_rules import PLAIN_RULES
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Rule, Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["HINT", "ROW_NUMBER", "ApartWriter", "SparkWriter", "quoted"]

ROW_NUMBER = "monotonically_increasing_id()"
HINT = "/*+ BROADCAST(_heavy) */ "
"""Every machine is sent the heavy units, for Spark does not know that they are few before it has sorted all rows."""
_LONGEST = 200_000
"""Characters of one expression. Some rules write a part several times, and parts of parts do so again."""


def quoted(name: str) -> str:
    """A name between Spark's quotes."""
    return "`" + name.replace("`", "``") + "`"


def _same(symbol: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
        return Written(f"({symbol}({first.text} <=> {second.text}))", Kind.BOOLEAN)

    return rule


class SparkWriter(Writer):
    """Writes one statement."""

    rules: ClassVar[Mapping[type[exp.Expr], Rule]] = {
        **PLAIN_RULES,
        **CAST_RULES,
        **NUMBER_RULES,
        **TEXT_RULES,
        **DATE_RULES,
        exp.Sum: added_up,
        exp.Window: window,
        exp.NullSafeEQ: _same(""),
        exp.NullSafeNEQ: _same("NOT "),
    }
    functions: ClassVar[Mapping[str, Rule]] = {**NUMBER_FUNCTIONS, **TEXT_FUNCTIONS, **DATE_FUNCTIONS}

    def quoted(self, name: str) -> str:
        """A name between Spark's quotes."""
        return quoted(name)

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
        return counted_in_passing(node)

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

    def write(self, node: Any, scope: Scope) -> Written:
        """An expression in Spark's language."""
        written = super().write(node, scope)
        if len(written.text) > _LONGEST:
            raise Untranslatable("an expression of so many parts")
        return written


class ApartWriter(SparkWriter):
    """Writes one statement that finds the heavy units in a reading of their own."""

    def counting(self, node: exp.Expr) -> exp.Expr:
        """The statement as it counts the rows of units."""
        return counted_apart(node)

    def named_query(self, name: str, query: str) -> str:
        """A query that is used by name."""
        hinted = query.replace("SELECT ", f"SELECT {HINT}", 1) if name == "_weighted" else query
        return super().named_query(name, hinted)
