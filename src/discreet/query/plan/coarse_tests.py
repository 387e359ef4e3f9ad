"""What a condition on a value says about its group: met before ten on the fifth is met by the fifth.

A timestamp or a real number has too many values to be listed, but the month or the bin that it lies in has few. Such a
part g(x) rises with x, or falls with it. So x < c makes g(x) ≤ g(c) where it rises, and g(x) < g(c) makes x < c. A day
or an hour begins before what is in it, g(x) ≤ x, so that there x < c makes g(x) < c: before February, it is none.
Moments go in steps, so that x < c is x ≤ c − 1 µs, and days in days: before 2025, the year is 2024 at most.

Claim. Where a test must stay true of all that meets it, what stands in its place is true wherever it is; and below NOT,
true nowhere else.

Proof. The implications above, with = and IN by g being a function. A missing g(x) or g(c) says nothing: COALESCE
then gives what the test wants. Each step of g is rounded to nearest or to one side, which keeps the order of doubles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from discreet.catalog.column import ColumnType
from discreet.query.expressions.expression import Call, Expression, Field, collect_fields
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.logic import AND, NOT, OR
from discreet.query.expressions.public_values import replace_values

__all__ = ["CoarsePart", "coarsen", "find_coarse_parts"]


_BETWEEN = "{0} BETWEEN {1} AND {2}"
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WEAKER = {"<": "<=", "<=": "<=", ">": ">=", ">=": ">="}
_STRICTER = {"<": "<", "<=": "<", ">": ">", ">=": ">"}
_COMPARED = {f"{{0}} {symbol} {{1}}": symbol for symbol in _FLIPPED}
_RISING = frozenset(
    ["{0} + {1}", "{0} - {1}", "{0} > {1}", "{0} >= {1}", "TRY_CAST({0} AS BIGINT)"]
    + [f"TRY_CAST({name}({{0}}) AS BIGINT)" for name in ("floor", "ceil", "round", "trunc")]
)
_FALLING = frozenset(["{0} < {1}", "{0} <= {1}"])
_SCALED = frozenset(["{0} * {1}", "CAST({0} AS DOUBLE) / NULLIF(CAST({1} AS DOUBLE), 0)"])
_MOMENTS = (ColumnType.DATE, ColumnType.TIMESTAMP)
_STEPS: dict[tuple[object, str], str] = {
    (ColumnType.DATE, "<"): "TRY(CAST({0} - INTERVAL 1 DAY AS DATE))",
    (ColumnType.DATE, ">"): "TRY(CAST({0} + INTERVAL 1 DAY AS DATE))",
    (ColumnType.TIMESTAMP, "<"): "TRY({0} - INTERVAL 1 MICROSECOND)",
    (ColumnType.TIMESTAMP, ">"): "TRY({0} + INTERVAL 1 MICROSECOND)",
}
"""What is next to a moment, before or after it."""
_RISING_PARTS = tuple(f"TRY_CAST(TRY(date_part('{name}', " for name in ("year", "isoyear", "decade", "century"))


@dataclass(frozen=True)
class CoarsePart:
    """A part of a key as a monotone function of what is in it."""

    inner: Expression
    """What it is a function of."""
    whole: Expression
    """The function: it has ``inner`` in it."""
    named: Field
    """Its value, where combinations are tried."""
    rises: bool
    is_start: bool
    """Whether it is the beginning of a day or an hour, and so no later than what is inside."""

    def of(self, other: Expression) -> Expression:
        """The function of something else."""
        return replace_values(self.whole, {self.inner: other})


def find_coarse_parts(parts: Mapping[Expression, Field]) -> list[CoarsePart]:
    """Every part that is a monotone function of something inside it."""
    return [
        CoarsePart(inner, whole, named, rises, whole.type in _MOMENTS)
        for whole, named in parts.items()
        for inner, rises in _insides(whole)
    ]


def _insides(whole: Expression) -> Iterator[tuple[Expression, bool]]:
    inner, rises = whole, True
    while isinstance(inner, Call) and inner.arguments and not any(_names(one) for one in inner.arguments[1:]):
        step = _rises(inner)
        if step is None:
            return
        inner, rises = inner.arguments[0], rises is step
        yield inner, rises


def _rises(step: Call) -> bool | None:
    """Whether a step rises with its first argument; None where it does neither, or nobody knows."""
    template, (first, *others) = step.template, step.arguments
    if first.type in _MOMENTS:
        is_truncated = template.startswith(("TRY(CAST(TRY(date_trunc(", *_RISING_PARTS)) and not others
        if is_truncated or template in ("TRY_CAST({0} AS DATE)", "TRY_CAST({0} AS TIMESTAMP)"):
            return True
    elif first.type is not ColumnType.REAL:
        return None
    if template in _FALLING:
        return False
    if template in _SCALED:
        low = _of_constant(others[0]).interval.low
        return True if first.type is ColumnType.REAL and low is not None and low > 0 else None
    return True if template in _RISING else None


def _of_constant(factor: Expression) -> Expression:
    """What a constant was before it was made a real number."""
    return _of_constant(factor.arguments[0]) if isinstance(factor, Call) and len(factor.arguments) == 1 else factor


def coarsen(test: Expression, parts: Iterable[CoarsePart], known: frozenset[str], *, holds: bool = True) -> Expression:
    """The test about parts of keys, wherever it compares something inside one with what is known."""
    if not isinstance(test, Call) or _names(test) <= known:
        return test
    if test.template in (AND, OR, NOT):
        wanted = holds is not (test.template == NOT)
        return replace(test, arguments=tuple(coarsen(one, parts, known, holds=wanted) for one in test.arguments))
    if test.template == _BETWEEN:
        value, low, high = test.arguments
        ends = (_condition("{0} >= {1}", value, low), _condition("{0} <= {1}", value, high))
        return coarsen(_condition(AND, *ends), parts, known, holds=holds)
    found = [coarse for part in parts for coarse in _coarse(test, part, known, holds)]
    if not found:
        return test
    together = found[0]
    for one in found[1:]:
        together = _condition(AND if holds else OR, together, one)
    return together


def _coarse(test: Call, part: CoarsePart, known: frozenset[str], holds: bool) -> Iterator[Expression]:
    """The test as one about a part; nothing where it is not about what is inside."""
    (value, *others), symbol = test.arguments, _COMPARED.get(test.template)
    if len(others) == 1 and value != part.inner:
        value, others, symbol = others[0], [value], _FLIPPED.get(symbol or "")
    is_known = all(_names(other) <= known for other in others)
    if value != part.inner or not is_known or any(other.type != value.type for other in others):
        return
    step = _STEPS.get((value.type, symbol or "")) if holds else None
    nearest = others if step is None else [Call(value.type, UNKNOWN, True, step, (other,)) for other in others]
    ends = [part.of(other) for other in nearest]
    if holds and part.is_start and symbol == "<":
        template, ends = "{0} < {1}", others
    elif symbol is not None:
        symbol = symbol if part.rises else _FLIPPED[symbol]
        template = f"{{0}} {(_WEAKER if holds else _STRICTER)[symbol]} {{1}}"
    elif holds and (test.template == "{0} = {1}" or test.template.startswith("{0} IN (")):
        template = test.template
    else:
        return
    yield _condition(f"COALESCE({template}, {'TRUE' if holds else 'FALSE'})", part.named, *ends)


def _names(expression: Expression) -> frozenset[str]:
    return frozenset(field.name for field in collect_fields(expression))


def _condition(template: str, *arguments: Expression) -> Call:
    return Call(ColumnType.BOOLEAN, UNKNOWN, True, template, arguments)
