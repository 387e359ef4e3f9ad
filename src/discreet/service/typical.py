"""Typical questions: what a count, a count in groups and an average of a table would still cost.

Prices come from explaining, which reads no row and costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.calibration import least
from discreet.catalog.table import Table
from discreet.engines.identifier import quoted
from discreet.errors import InvalidValue, QueryRefused
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.service import telling
from discreet.service.house import House
from discreet.service.role import Role
from discreet.service.visitor import Visitor

__all__ = ["Typical", "typical_questions"]

_ASKERS = frozenset({Role.OWNER, Role.ANALYST})
_FINEST = Fraction(1, 1000)
_DIGITS = 7


@dataclass(frozen=True)
class Typical:
    """A question that people often ask, and its price."""

    title: str
    """What it asks, in words."""
    sql: str
    """The question."""
    epsilon: Fraction
    """The ε to ask it with."""
    price: Pure | ZeroConcentrated
    """What that takes from the budget."""
    within: float | None
    """Its error, 95 times of 100 at most; None where it depends on the answer."""
    more: int
    """How many times the budget pays for it still."""


def typical_questions(house: House, visitor: Visitor, name: str, within: float) -> list[Typical]:
    """What these questions cost if counts may be off by ``within``; an average is priced like the count."""
    visitor.must_be(_ASKERS)
    if not (math.isfinite(within) and within > 0):
        raise InvalidValue("the wanted error must be positive", within)
    known = telling.table(house, visitor, name)
    left = [one.left for one in telling.budget(house, visitor) if one.table == known.name and _pays(one, visitor)]
    if not left:
        return []
    found: list[Typical] = []
    for title, sql, has_error in _worded(known):
        try:
            found.append(_priced(house, visitor, (title, sql), within if has_error else None, found, left))
        except QueryRefused:  # the policy does not allow it
            continue
    return found


def _pays(one: telling.Balance, visitor: Visitor) -> bool:
    return one.analyst is None or one.analyst == visitor.analyst


def _priced(
    house: House,
    visitor: Visitor,
    worded: tuple[str, str],
    within: float | None,
    before: list[Typical],
    left: list[Pure | ZeroConcentrated],
) -> Typical:
    title, sql = worded
    curator, analyst = house.curator, visitor.analyst

    def is_close(epsilon: Fraction) -> bool:
        errors = curator.explain(sql, epsilon, analyst=analyst).errors
        return max(one.within or 0 for one in errors) <= (within or 0)

    if within is None:
        epsilon = before[0].epsilon if before else Fraction(1)
    else:
        epsilon = least(is_close, start=_FINEST, precision=_DIGITS)
    price = curator.explain(sql, epsilon, analyst=analyst).price
    assert price is not None  # noqa: S101  the table is protected
    return Typical(title, sql, epsilon, price, within, min(_times(one, price) for one in left))


def _times(left: Pure | ZeroConcentrated, price: Pure | ZeroConcentrated) -> int:
    """How many of these prices fit what is left, both counted in the unit of the budget."""
    if isinstance(left, Pure) and isinstance(price, Pure):
        return math.floor(left.epsilon / price.epsilon)
    if isinstance(left, ZeroConcentrated) and isinstance(price, ZeroConcentrated):
        return math.floor(left.rho / price.rho)
    raise AssertionError(f"a budget of {left!r} does not pay {price!r}")


def _worded(known: Table) -> Iterator[tuple[str, str, bool]]:
    """Title, text, and whether its error is known beforehand."""
    source = ".".join(map(quoted, known.name.split(".")))
    yield "How many rows are there?", f"SELECT COUNT(*) AS n FROM {source}", True  # noqa: S608
    group = next((one for one in known.columns if one.keys is not None), None)
    if group is not None:
        by = quoted(group.name)
        sql = f"SELECT {by}, COUNT(*) AS n FROM {source} GROUP BY {by}"  # noqa: S608
        yield f"How many for each {group.name}?", sql, True
    measured = next((one for one in known.columns if one.type.is_numeric and one.bounds is not None), None)
    if measured is not None:
        sql = f"SELECT AVG({quoted(measured.name)}) AS mean FROM {source}"  # noqa: S608
        yield f"What is the average {measured.name}?", sql, False
