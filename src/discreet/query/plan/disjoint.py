"""Disjoint conditions: proved from their text, so that a row counts in one of several parts at most.

A condition in a few alternatives says something about expressions in each of them: that one has certain values, lies
below or above a constant, or is missing. Two alternatives exclude each other where both say something about the same
expression that no value fulfils; two conditions are disjoint where all their alternatives exclude each other. An
expression has one value in a row, values of a type are ordered alike for all comparisons (NaN above all others), and
texts are equal letter by letter, on every engine. What is not proved is not disjoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.catalog.column import ColumnType
from discreet.query.aggregates.statistics import Moments, PlainSum, RowStatistic
from discreet.query.expressions.expression import Call, Constant, Expression
from discreet.query.expressions.logic import AND, NOT, OR

__all__ = ["are_disjoint", "find_disjoint_families"]


_MOST_ALTERNATIVES = 64
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_COMPARISONS = {f"{{0}} {symbol} {{1}}": symbol for symbol in _MIRRORED}
_ORDERED = (ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE, ColumnType.TIMESTAMP)


@dataclass(frozen=True)
class _Limit:
    """What a condition says about the value of an expression."""

    values: frozenset[Any] | None = None
    """The only ones that it can have."""
    low: tuple[Any, bool] | None = None
    """What it is not below, and whether it cannot be equal to it."""
    high: tuple[Any, bool] | None = None
    """What it is not above, and whether it cannot be equal to it."""
    is_missing: bool = False
    """Whether it has no value; all others say that it has one."""

    def excludes(self, other: _Limit) -> bool:
        """Whether no value is within both."""
        if self.is_missing or other.is_missing:
            return self.is_missing is not other.is_missing
        if self.values is not None:
            return not any(other.allows(value) for value in self.values)
        if other.values is not None:
            return other.excludes(self)
        return _is_below(self.high, other.low) or _is_below(other.high, self.low)

    def allows(self, value: Any) -> bool:
        if self.values is not None:
            return value in self.values
        here = value, False
        return not _is_below(here, self.low) and not _is_below(self.high, here)


def _is_below(high: tuple[Any, bool] | None, low: tuple[Any, bool] | None) -> bool:
    if high is None or low is None:
        return False
    return bool(high[0] < low[0]) or (high[0] == low[0] and (high[1] or low[1]))


Facts = tuple[tuple[Expression, _Limit], ...]
"""What one alternative says."""


def find_disjoint_families(parts: Sequence[object]) -> list[list[int]]:
    """Parts by their places, put together where a row counts in one of them at most."""
    supports = [_support(part) for part in parts]
    families: list[list[int]] = []
    for k, support in enumerate(supports):
        fitting = [one for one in families if all(_exclude(support, supports[other]) for other in one)]
        if fitting and support is not None:
            fitting[0].append(k)
        else:
            families.append([k])
    return families


def are_disjoint(first: Expression, second: Expression) -> bool:
    """Whether no row meets both conditions."""
    return _exclude(_alternatives(first), _alternatives(second))


def _exclude(first: list[Facts] | None, second: list[Facts] | None) -> bool:
    if first is None or second is None:
        return False
    return all(_contradict(one, other) for one in first for other in second)


def _contradict(first: Facts, second: Facts) -> bool:
    return any(one == other and limit.excludes(more) for one, limit in first for other, more in second)


# Where a part is not zero.


def _support(part: object) -> list[Facts] | None:
    """The alternatives one of which a row fulfils that adds something to a part; None where any row may."""
    if not isinstance(part, RowStatistic) or (isinstance(part, Moments) and part.rest):
        return None
    found = None if part.condition is None else _alternatives(part.condition)
    inside = None if part.argument is None else _branches(part.argument, is_sum=isinstance(part, PlainSum))
    return inside if found is None else found if inside is None else _both(found, inside)


def _branches(argument: Expression, *, is_sum: bool) -> list[Facts] | None:
    """The alternatives in which CASE gives something that counts: NULL does not, and zero adds nothing to a sum."""
    if not isinstance(argument, Call) or not argument.template.startswith("CASE WHEN {0} THEN {"):
        return None
    count = (len(argument.arguments) - 1) // 2
    if len(argument.arguments) != 2 * count + 1 or not argument.template.endswith(f"ELSE {{{2 * count}}} END"):
        return None
    conditions, results, last = argument.arguments[:count], argument.arguments[count:-1], argument.arguments[-1]
    if not _is_nothing(last, is_sum=is_sum):
        return None
    pairs = zip(conditions, results, strict=True)
    return _any_of(_alternatives(test) for test, result in pairs if not _is_nothing(result, is_sum=is_sum))


def _is_nothing(result: Expression, *, is_sum: bool) -> bool:
    value, is_known = _constant(result)
    return is_known and (value is None or (is_sum and value == 0))


# What a condition says.


def _alternatives(condition: Expression, *, holds: bool = True) -> list[Facts] | None:
    """What follows in each way in which a condition is true, or false; None where these are too many."""
    if not isinstance(condition, Call):
        return [((condition, _Limit(frozenset([holds]))),)]
    template, arguments = condition.template, condition.arguments
    if template == NOT:
        return _alternatives(arguments[0], holds=not holds)
    if holds and template in ("{0} IS TRUE", "{0} IS FALSE"):
        return _alternatives(arguments[0], holds=template == "{0} IS TRUE")
    if template in (AND, OR):
        sides = [_alternatives(part, holds=holds) for part in arguments]
        if (template == AND) is holds:
            return None if None in sides else _both(*(side for side in sides if side is not None))
        return _any_of(sides)
    return [((condition, _Limit(frozenset([holds]))), *_of_test(template, arguments, holds))]


def _both(first: list[Facts], second: list[Facts]) -> list[Facts] | None:
    found = [one + other for one in first for other in second]
    return found if len(found) <= _MOST_ALTERNATIVES else None


def _any_of(several: Iterable[list[Facts] | None]) -> list[Facts] | None:
    found: list[Facts] = []
    for one in several:
        if one is None:
            return None
        found += one
    return found if len(found) <= _MOST_ALTERNATIVES else None


def _of_test(template: str, arguments: tuple[Expression, ...], holds: bool) -> Facts:
    if template == "{0} IS NULL":
        return ((arguments[0], _Limit(is_missing=True)),) if holds else ()
    if template in _COMPARISONS:
        return _compare(arguments[0], _COMPARISONS[template], arguments[1], holds)
    if not holds:
        return ()
    if template == "{0} BETWEEN {1} AND {2}":
        value, low, high = arguments
        return _compare(value, ">=", low, holds=True) + _compare(value, "<=", high, holds=True)
    if template.startswith("{0} IN ("):
        constants = [_constant(other) for other in arguments[1:]]
        if all(is_known for _, is_known in constants):
            known = frozenset(value for value, _ in constants if value is not None)
            return ((arguments[0], _Limit(known)),)
    return ()


def _compare(left: Expression, symbol: str, right: Expression, holds: bool) -> Facts:
    value, is_known = _constant(right)
    if not is_known:
        value, is_known = _constant(left)
        left, symbol = right, _MIRRORED[symbol]
    if not is_known or value is None or (not holds and symbol == "="):
        return ()
    symbol = symbol if holds else _OPPOSITE[symbol]
    if symbol == "=":
        return ((left, _Limit(frozenset([value]))),)
    if left.type not in _ORDERED:
        return ()
    end = value, not symbol.endswith("=")
    return ((left, _Limit(high=end) if symbol.startswith("<") else _Limit(low=end)),)


def _constant(expression: Expression) -> tuple[Any, bool]:
    """The value of a constant as it is compared, and whether it is one."""
    if isinstance(expression, Constant):
        value = expression.value
        return (Fraction(float(value)) if isinstance(value, Fraction) else value), True
    if isinstance(expression, Call) and expression.template == "TRY_CAST({0} AS DOUBLE)":
        inner = expression.arguments[0]
        if isinstance(inner, Constant) and isinstance(inner.value, int):
            return Fraction(float(inner.value)), True
    return None, False
