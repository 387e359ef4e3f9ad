"""Exact sums of integers, as wide as it takes.

SUM over 64-bit integers raises in Spark when it leaves them, and over decimals it is several times slower. So integers
are added up in parts of at most 26 bits, whose sums stay within 64 bits for a hundred billion rows, and the sums
are put together once per group. Values with narrow bounds need one part, and ones are counted.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["added_up"]

_BITS = 25


def added_up(writer: Writer, node: exp.Sum, scope: Scope) -> Written:
    """The sum of an integer expression."""
    if (counted := _counted(node.this)) is not None:
        return Written(f"CAST(NULLIF(COUNT({writer.write(counted, scope).text}), 0L) AS DECIMAL(38,0))", Kind.WIDE)
    value = writer.write(node.this, scope)
    if value.kind is not Kind.INTEGER:
        raise Untranslatable(f"SUM of {value.kind.value}")
    bits = 63 if value.largest is None else int(value.largest).bit_length()
    places = range(0, max(bits - 1, 1), _BITS)
    parts = [_part(value.text, place, place == places[-1]) for place in places]
    sums = [f"CAST(SUM({part}) AS DECIMAL(38,0)) * {2**place}BD" for part, place in zip(parts, places, strict=True)]
    return Written(f"({' + '.join(sums)})", Kind.WIDE)


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
