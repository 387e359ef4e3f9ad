"""Sums and extremes: exact, in the fastest form that the bounds of the summands allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.postgres.numbers import between
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Rule, Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["SUM_RULES"]

_SHORT = 2**20
"""Summands of 32 bits are added up in 64 without a check: of this size, more rows than a table can have still fit."""


def _sum(writer: Writer, node: exp.Sum, scope: Scope) -> Written:
    value = writer.write(node.this, scope)
    if value.kind is not Kind.INTEGER:
        raise Untranslatable(f"sums of {value.kind.value}")
    size = "int4" if between(value, -_SHORT, _SHORT) else "int8"
    return Written(f"SUM({value.text}::{size})::numeric", Kind.WIDE)


def _extreme(name: str, of_truth: str) -> Rule:
    """PostgreSQL has no least truth value by that name."""

    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        value = writer.write(node.this, scope)
        function = of_truth if value.kind is Kind.BOOLEAN else name
        return Written(f"{function}({value.text})", value.kind, *value.ends, whole=value.whole)

    return rule


SUM_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Sum: _sum,
    exp.Min: _extreme("MIN", "bool_and"),
    exp.Max: _extreme("MAX", "bool_or"),
}
