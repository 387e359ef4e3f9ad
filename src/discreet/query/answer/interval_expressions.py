"""The ends of an expression over noisy values: which rule of interval arithmetic each part of it follows.

An expression whose operators and functions are all known here gets ends; any other has none. Where the same noisy value
stands twice, as in a / (a + b), arithmetic on intervals stays right and becomes wide; the common forms are read as one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Protocol

from sqlglot import exp

from discreet.query.answer.interval_rules import (
    BoundExpressions,
    absolute,
    add,
    divide,
    exact,
    exponential,
    greatest,
    hull,
    least,
    logarithm,
    map_bounds,
    multiply,
    negate,
    power,
    share,
    square_root,
    subtract,
    whole,
)

__all__ = ["Known", "bound_expression"]


_NEVER_FALL = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Sign, exp.Cbrt)
_LONGEST = 4000
_REAL = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
_DECIMAL_PLACES = 3


class Known(Protocol):
    """What the place of an expression knows about its parts."""

    def is_noisy(self, node: exp.Expr) -> bool:
        """Whether noise can change the value."""

    def leaf(self, node: exp.Expr) -> BoundExpressions | None:
        """The ends of a noisy column, subquery or aggregate; None where none are known."""

    def whole(self, node: exp.Expr) -> BoundExpressions | None:
        """The ends of a noisy expression as a whole; None where they follow from those of its parts."""

    def public(self, node: exp.Expr) -> exp.Expr:
        """A public value, as it is called where the ends are computed."""


def bound_expression(node: exp.Expr, known: Known) -> BoundExpressions | None:
    """The ends of an expression; None where none are known."""
    if not known.is_noisy(node):
        return exact(known.public(node))
    rule = _RULES.get(type(node))
    found = known.whole(node)
    if found is None:
        found = known.leaf(node) if rule is None else rule(node, known)
    return None if found is None or _is_long(found.low) else found


def _is_long(node: exp.Expr) -> bool:
    """Every product writes its factors several times, so a long one has no ends rather than a query without end."""
    return next(itertools.islice(node.walk(), _LONGEST, None), None) is not None


Rule = Callable[[exp.Expr, Known], BoundExpressions | None]


def _one(rule: Callable[[BoundExpressions], BoundExpressions]) -> Rule:
    def read(node: exp.Expr, known: Known) -> BoundExpressions | None:
        x = bound_expression(node.this, known)
        return None if x is None else rule(x)

    return read


def _two(rule: Callable[[BoundExpressions, BoundExpressions], BoundExpressions]) -> Rule:
    def read(node: exp.Expr, known: Known) -> BoundExpressions | None:
        x, y = bound_expression(node.this, known), bound_expression(node.expression, known)
        return None if x is None or y is None else rule(x, y)

    return read


def _several(rule: Callable[[list[BoundExpressions]], BoundExpressions]) -> Rule:
    def read(node: exp.Expr, known: Known) -> BoundExpressions | None:
        found = _all(list(node.iter_expressions()), known)
        return None if found is None else rule(found)

    return read


def _all(nodes: list[exp.Expr], known: Known) -> list[BoundExpressions] | None:
    found = [bound_expression(node, known) for node in nodes]
    return None if None in found else [ends for ends in found if ends is not None]


def _never_falling(node: exp.Expr, known: Known) -> BoundExpressions | None:
    x = bound_expression(node.this, known)
    settings = [value for key, value in node.args.items() if key != "this" and isinstance(value, exp.Expr)]
    is_set = all(isinstance(_unsigned(each), exp.Literal) for each in settings)
    return None if x is None or not is_set else map_bounds(x, node)


def _unsigned(node: exp.Expr) -> exp.Expr:
    return _unsigned(node.this) if isinstance(node, (exp.Neg, exp.Paren)) else node


def _cast(node: exp.Expr, known: Known) -> BoundExpressions | None:
    x, kind = bound_expression(node.this, known), node.args["to"]
    if x is None:
        return None
    if kind.is_type(*_REAL):
        return x
    if kind.is_type(*exp.DataType.INTEGER_TYPES):
        return whole(x)
    if kind.is_type(exp.DataType.Type.DECIMAL):
        parameters = [parameter.this for parameter in kind.expressions]
        places = parameters[1] if len(parameters) > 1 else exp.Literal.number(0 if parameters else _DECIMAL_PLACES)
        return map_bounds(x, exp.Round(this=exp.Null(), decimals=places))
    return None


def _logarithm(node: exp.Expr, known: Known) -> BoundExpressions | None:
    base, place = (node.this, "expression") if node.args.get("expression") is not None else (None, "this")
    is_growing = base is None or (isinstance(base, exp.Literal) and not base.is_string and float(base.name) > 1)
    x = bound_expression(node.args[place], known)
    return None if x is None or not is_growing else logarithm(x, node, place)


def _power(node: exp.Expr, known: Known) -> BoundExpressions | None:
    x = bound_expression(node.this, known)
    return None if x is None else power(x, node.expression)


def _null_if(node: exp.Expr, known: Known) -> BoundExpressions | None:
    x = bound_expression(node.this, known)
    return None if x is None else BoundExpressions(x.low, x.high, is_plain=False)


# Quotients.


def _quotient(node: exp.Expr, known: Known) -> BoundExpressions | None:
    found = _tight_quotient(node.this, node.expression, known)
    if found is None:
        found = _two(divide)(node, known)
    is_whole = node.args.get("typed") and all(
        side.is_type(*exp.DataType.INTEGER_TYPES) for side in (node.this, node.expression)
    )
    return whole(found) if found is not None and is_whole else found  # a dialect that divides whole numbers cuts off


def _tight_quotient(above: exp.Expr, below: exp.Expr, known: Known) -> BoundExpressions | None:
    """k·a / (a + r) as a share, and k·(a - b) / b as k·(a / b - 1): each noisy value stands once then."""
    factor, above, below = *_factor(above, known), _bare(below)
    terms = _terms(below)
    if len(terms) > 1 and above in terms:
        terms.remove(above)
        rest = exp.Paren(this=_add(terms))
        found = _all([above, rest], known)
        ends = None if found is None else share(*found)
    elif isinstance(above, exp.Sub) and _bare(above.expression) == below:
        found = _all([above.this, below], known)
        ends = None if found is None else subtract(divide(*found), exact(exp.Literal.number(1)))
    else:
        return None
    return None if ends is None else _scale(ends, factor, known)


def _scale(ends: BoundExpressions, factors: list[exp.Expr], known: Known) -> BoundExpressions:
    for factor in factors:
        ends = multiply(ends, exact(known.public(factor)))
    return ends


def _factor(node: exp.Expr, known: Known) -> tuple[list[exp.Expr], exp.Expr]:
    """The public factors of a product, and what is left."""
    node = _bare(node)
    if isinstance(node, exp.Mul):
        for factor, rest in ((node.this, node.expression), (node.expression, node.this)):
            if not known.is_noisy(factor):
                factors, bare = _factor(rest, known)
                return [factor, *factors], bare
    return [], node


def _bare(node: exp.Expr) -> exp.Expr:
    """The expression without what changes no quotient: parentheses, CAST to a real number, NULLIF."""
    if isinstance(node, (exp.Paren, exp.Nullif)):
        return _bare(node.this)
    if isinstance(node, exp.Cast) and node.to.is_type(*_REAL):
        return _bare(node.this)
    return node


def _terms(node: exp.Expr) -> list[exp.Expr]:
    node = _bare(node)
    return [*_terms(node.this), *_terms(node.expression)] if isinstance(node, exp.Add) else [node]


def _add(terms: list[exp.Expr]) -> exp.Expr:
    total = terms[0].copy()
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term.copy())
    return total


# Choices between values.


def _coalesce(node: exp.Expr, known: Known) -> BoundExpressions | None:
    """The first that is not NULL: known where NULL is public, else any of them."""
    first, *others = [node.this, *node.expressions]
    x = bound_expression(first, known)
    rest = exact(known.public(others[0])) if others and not known.is_noisy(others[0]) else None
    if others and rest is None:
        rest = bound_expression(exp.Coalesce(this=others[0].copy(), expressions=[o.copy() for o in others[1:]]), known)
    if x is None or rest is None:
        return x if not others else None
    if not x.is_plain:
        return hull([x, rest])
    is_missing = known.public(exp.Is(this=exp.Paren(this=first.copy()), expression=exp.Null()))
    low, high = _either(is_missing, rest.low, x.low), _either(is_missing, rest.high, x.high)
    return BoundExpressions(low, high, rest.is_plain)


def _choose(node: exp.Expr, known: Known) -> BoundExpressions | None:
    """CASE: each branch's own ends where the conditions are public, else all branches that can be meant together."""
    ifs = node.args["ifs"] if isinstance(node, exp.Case) else [node]
    otherwise = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    values = [each.args["true"] for each in ifs] + ([] if otherwise is None else [otherwise])
    numbers = [value for value in values if not isinstance(value, exp.Null)]
    found = _all(numbers, known)
    if found is None:
        return None
    subject = node.this if isinstance(node, exp.Case) else None
    conditions = [each.this for each in ifs] + ([] if subject is None else [subject])
    if any(known.is_noisy(condition) for condition in conditions):
        return hull(found) if any(known.is_noisy(value) for value in numbers) else None
    ends = iter(found)
    branches = [None if isinstance(value, exp.Null) else next(ends) for value in values]
    public = [known.public(each.this) for each in ifs]
    subject = None if subject is None else known.public(subject)
    low = _case_of(subject, public, [None if each is None else each.low for each in branches])
    high = _case_of(subject, public, [None if each is None else each.high for each in branches])
    return BoundExpressions(low, high, all(each.is_plain for each in found))


def _case_of(subject: exp.Expr | None, conditions: list[exp.Expr], values: list[exp.Expr | None]) -> exp.Expr:
    filled = [exp.Null() if value is None else value.copy() for value in values]
    ifs = [exp.If(this=each.copy(), true=value) for each, value in zip(conditions, filled, strict=False)]
    default = filled[len(conditions)] if len(filled) > len(conditions) else None
    return exp.Case(this=None if subject is None else subject.copy(), ifs=ifs, default=default)


def _either(condition: exp.Expr, one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return _case_of(None, [condition], [one, other])


_RULES: dict[type[exp.Expr], Rule] = {
    exp.Paren: _one(lambda x: x),
    exp.Neg: _one(negate),
    exp.Add: _two(add),
    exp.Sub: _two(subtract),
    exp.Mul: _two(multiply),
    exp.Div: _quotient,
    exp.Abs: _one(absolute),
    exp.Sqrt: _one(square_root),
    exp.Exp: _one(exponential),
    exp.Ln: _logarithm,
    exp.Log: _logarithm,
    exp.Pow: _power,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Greatest: _several(greatest),
    exp.Least: _several(least),
    exp.Coalesce: _coalesce,
    exp.Nullif: _null_if,
    exp.Case: _choose,
    exp.If: _choose,
    **dict.fromkeys(_NEVER_FALL, _never_falling),
}
