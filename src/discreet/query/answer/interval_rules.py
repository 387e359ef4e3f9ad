"""Interval arithmetic in SQL: from the ends of the operands to the ends of the result.

Ends hold a value when the value lies between them or is NULL or not a number. An operation's ends hold its result
whenever its operands' ends hold the operands, whatever the operands have to do with each other: every rule below gives
the least and the greatest result over all values between the ends. Both ends are NULL where none are known, and every
rule hands this on; so a divisor that may be zero leaves a NULL, because its quotient can be any number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

__all__ = [
    "BoundExpressions",
    "absolute",
    "add",
    "divide",
    "exact",
    "exponential",
    "greatest",
    "hull",
    "least",
    "logarithm",
    "map_bounds",
    "multiply",
    "negate",
    "power",
    "share",
    "square_root",
    "subtract",
    "whole",
]


_LARGEST_EXPONENT = 700  # beyond it the exponential leaves the floating-point numbers


@dataclass(frozen=True)
class BoundExpressions:
    """Two expressions over the noisy tables that hold a third between them."""

    low: exp.Expr
    high: exp.Expr
    is_plain: bool = True
    """Whether the value is NULL where a public value says so, and never because of noise."""

    @property
    def is_exact(self) -> bool:
        """Whether the value is public, so that both ends are the value itself."""
        return self.low is self.high


def exact(node: exp.Expr) -> BoundExpressions:
    """The ends of a public value; what is no number has none."""
    value = node if _is_number(node) else exp.TryCast(this=node.copy(), to=exp.DataType.build("double"))
    return BoundExpressions(value, value)


def negate(x: BoundExpressions) -> BoundExpressions:
    """-x, where the ends change places."""
    return BoundExpressions(_negative(x.high), _negative(x.low), x.is_plain)


def add(x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    """X + y."""
    return BoundExpressions(_of(exp.Add, x.low, y.low), _of(exp.Add, x.high, y.high), x.is_plain and y.is_plain)


def subtract(x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    """X - y, least where y is greatest."""
    return BoundExpressions(_of(exp.Sub, x.low, y.high), _of(exp.Sub, x.high, y.low), x.is_plain and y.is_plain)


def multiply(x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    """X · y, whose least and greatest lie at corners."""
    return replace(_corners(exp.Mul, x, y), is_plain=x.is_plain and y.is_plain)


def divide(x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    """X / y, where y cannot be zero; its least and greatest lie at corners then."""
    corners = _corners(exp.Div, x, y)
    if y.is_exact and _is_number(y.low) and float(y.low.name) != 0:
        return corners
    is_sure = exp.Or(this=_above(y.low, 0), expression=_below(y.high, 0))
    return _where(is_sure, corners)


def share(x: BoundExpressions, rest: BoundExpressions) -> BoundExpressions:
    """X / (x + rest): it grows with x and falls with the rest where neither is negative; else as any quotient."""
    low = _case([(_above(_of(exp.Add, x.low, rest.high), 0), _quotient(x.low, rest.high))], _number(0))
    high = _case([(_above(_of(exp.Add, x.high, rest.low), 0), _quotient(x.high, rest.low))], _number(1))
    any_sign = divide(x, add(x, rest))
    is_part = exp.and_(_at_least(x.low, 0), _at_least(rest.low, 0))
    return BoundExpressions(
        _case([(is_part, low)], any_sign.low), _case([(is_part, high)], any_sign.high), is_plain=False
    )


def absolute(x: BoundExpressions) -> BoundExpressions:
    """The distance from zero."""
    low = _case(
        [(_at_least(x.low, 0), x.low), (_at_most(x.high, 0), _negative(x.high)), (_below(x.low, 0), _number(0))]
    )
    return BoundExpressions(low, _call("GREATEST", _negative(x.low), x.high), x.is_plain)


def map_bounds(x: BoundExpressions, function: exp.Expr) -> BoundExpressions:
    """A function that never falls, given as a call whose first argument is replaced by each end."""
    return BoundExpressions(_apply(function, x.low), _apply(function, x.high), x.is_plain)


def whole(x: BoundExpressions) -> BoundExpressions:
    """X rounded to a whole number by whatever rule."""
    return BoundExpressions(_call("FLOOR", x.low), _call("CEIL", x.high), x.is_plain)


def square_root(x: BoundExpressions) -> BoundExpressions:
    """√x; what is below zero has no root, so the ends start there."""
    low, high = (
        _case([(_at_least(end, 0), _call("SQRT", end)), (_below(end, 0), _number(0))]) for end in (x.low, x.high)
    )
    return BoundExpressions(low, high, is_plain=False)


def logarithm(x: BoundExpressions, function: exp.Expr, place: str) -> BoundExpressions:
    """A logarithm, where its argument is surely above zero."""
    return _where(_above(x.low, 0), BoundExpressions(_apply(function, x.low, place), _apply(function, x.high, place)))


def exponential(x: BoundExpressions) -> BoundExpressions:
    """e^x, where it stays a number."""
    ends = BoundExpressions(_call("EXP", x.low), _call("EXP", x.high))
    return replace(_where(_below(x.high, _LARGEST_EXPONENT), ends), is_plain=x.is_plain)


def power(x: BoundExpressions, exponent: exp.Expr) -> BoundExpressions | None:
    """X to a positive constant power; a power that is not whole needs x at least zero."""
    size = float(exponent.name) if _is_number(exponent) else 0
    if size <= 0:
        return None
    base = absolute(x) if size % 2 == 0 else x
    ends = BoundExpressions(_call("POWER", base.low, exponent), _call("POWER", base.high, exponent), x.is_plain)
    return ends if size % 1 == 0 else _where(_at_least(x.low, 0), ends)


def greatest(several: list[BoundExpressions]) -> BoundExpressions:
    """The greatest of several values."""
    return _extremes("GREATEST", "GREATEST", several)


def least(several: list[BoundExpressions]) -> BoundExpressions:
    """The least of several values."""
    return _extremes("LEAST", "LEAST", several)


def hull(several: list[BoundExpressions]) -> BoundExpressions:
    """One of several values, nobody knows which."""
    return replace(_extremes("LEAST", "GREATEST", several), is_plain=False)


def _extremes(low: str, high: str, several: list[BoundExpressions]) -> BoundExpressions:
    """LEAST and GREATEST pass over NULL, so unknown ends are looked for first."""
    missing = [exp.Is(this=ends.low.copy(), expression=exp.Null()) for ends in several]
    lows, highs = [ends.low for ends in several], [ends.high for ends in several]
    found = BoundExpressions(_call(low, *lows), _call(high, *highs))
    known = exp.Not(this=exp.Paren(this=exp.or_(*missing)))
    return replace(_where(known, found), is_plain=all(ends.is_plain for ends in several))


def _corners(kind: type[exp.Binary], x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    xs, ys = ([ends.low] if ends.is_exact else [ends.low, ends.high] for ends in (x, y))
    if y.is_exact and _is_number(y.low):
        return BoundExpressions(
            _of(kind, x.low, y.low), _of(kind, x.high, y.low), is_plain=False
        )  # a constant above zero
    if kind is exp.Mul and x.is_exact and _is_number(x.low):
        return _corners(kind, y, x)
    corners = [_of(kind, one, other) for one in xs for other in ys]
    return BoundExpressions(_call("LEAST", *corners), _call("GREATEST", *corners), is_plain=False)


def _where(condition: exp.Expr, ends: BoundExpressions) -> BoundExpressions:
    """The ends where a condition holds; unknown elsewhere."""
    return BoundExpressions(_case([(condition, ends.low)]), _case([(condition, ends.high)]), is_plain=False)


def _is_number(node: exp.Expr) -> bool:
    """Whether it is a number as it stands, which has no sign and so is never below zero."""
    return isinstance(node, exp.Literal) and not node.is_string


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _of(kind: type[exp.Binary], one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Paren(this=kind(this=one.copy(), expression=other.copy()))


def _negative(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Neg(this=exp.Paren(this=node.copy())))


def _quotient(part: exp.Expr, rest: exp.Expr) -> exp.Expr:
    return _of(exp.Div, part, _of(exp.Add, part, rest))


def _above(node: exp.Expr, bound: int) -> exp.Expr:
    return exp.GT(this=node.copy(), expression=_number(bound))


def _at_least(node: exp.Expr, bound: int) -> exp.Expr:
    return exp.GTE(this=node.copy(), expression=_number(bound))


def _below(node: exp.Expr, bound: int) -> exp.Expr:
    return exp.LT(this=node.copy(), expression=_number(bound))


def _at_most(node: exp.Expr, bound: int) -> exp.Expr:
    return exp.LTE(this=node.copy(), expression=_number(bound))


def _case(branches: list[tuple[exp.Expr, exp.Expr]], otherwise: exp.Expr | None = None) -> exp.Expr:
    ifs = [exp.If(this=condition.copy(), true=value.copy()) for condition, value in branches]
    return exp.Case(ifs=ifs, default=None if otherwise is None else otherwise.copy())


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _apply(function: exp.Expr, argument: exp.Expr, place: str = "this") -> exp.Expr:
    applied = function.copy()
    applied.set(place, argument.copy())
    return applied
