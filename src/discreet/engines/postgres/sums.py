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

_SHORT = 2**25
"""Summands of 32 bits are added up in 64 without a check: of this size, a quarter of a trillion rows still fit."""


def _sum(writer: Writer, node: exp.Sum, scope: Scope) -> Written:
    if (counted := _counted(node.this)) is not None:
        return Written(f"COUNT({writer.write(counted, scope).text})::numeric", Kind.WIDE)
    value = writer.write(node.this, scope)
    if value.kind is not Kind.INTEGER:
        raise Untranslatable(f"sums of {value.kind.value}")
    size = "int4" if between(value, -_SHORT, _SHORT) else "int8"
    return Written(f"SUM({value.text}::{size})::numeric", Kind.WIDE)


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
