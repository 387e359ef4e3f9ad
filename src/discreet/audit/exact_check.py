"""Exact verification where the two laws are known: the true loss, outcome by outcome, in ball arithmetic.

A law is that of one of our measurements, or a mapping of outcomes to probabilities. Where a law goes on for ever it is
cut, and what is said about the listed part is a bound from below; the part that was left out is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.mechanism import Claimed
from discreet.errors import InvalidInput, InvalidValue
from discreet.exact.ball import BITS, Ball, ball, working_precision
from discreet.mechanisms.measurement import Measurement
from discreet.privacy.hypothesis_tests import ErrorRegion, Pair
from discreet.privacy.loss import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated

__all__ = ["ExactCheck", "exact_check", "pair_of"]


_ORDERS = (Fraction(3, 2), *(Fraction(2) ** k for k in range(1, 8)))
_ROUNDING = 1e-12
_MOST_CORNERS = 400
_LEAST_DELTA = 1e-30


@dataclass(frozen=True)
class ExactCheck:
    """What the two laws themselves say about the claim."""

    outcomes: int
    """How many outcomes were compared."""
    unlisted: float
    """The probability of outcomes that were left out; 0 where all were compared."""
    epsilon: float
    """The largest privacy loss of an outcome, in either direction; ∞ where one is impossible for one input alone."""
    claimed_epsilon: float
    """The ε at which δ was compared."""
    delta: float
    """The least δ at that ε, in the worse direction, over the listed outcomes; 0 where it may be 0."""
    violated: bool
    """Whether the claim is false, for certain."""
    corners: tuple[tuple[float, float], ...]
    """Corners of the true trade-off between the two errors, thinned out."""


def exact_check(
    mechanism: Any, first: Any, second: Any, claim: Claimed, outcomes: Iterable[Any] | None = None
) -> ExactCheck | None:
    """Compare the laws; None where the mechanism knows none, or lists no outcomes and none are passed."""
    if not isinstance(mechanism, Measurement):
        return None
    try:
        pair, count = pair_of(mechanism, first, second, outcomes)
    except InvalidInput:
        return None
    return _checked(pair, count, claim)


def pair_of(mechanism: Measurement, first: Any, second: Any, outcomes: Iterable[Any] | None) -> tuple[Pair, int]:
    """The two laws side by side, and how many outcomes they list."""
    laws = mechanism.distribution(first), mechanism.distribution(second)
    listed = None if outcomes is None else list(outcomes)
    if listed is None:
        listed = list(dict.fromkeys(answer for law in laws for answer in law.likely()))
    with working_precision(2 * BITS):
        here, there = ([law.mass(answer) for answer in listed] for law in laws)
        return Pair(here, there), len(listed)


def checked_laws(first: Mapping[Any, Any], second: Mapping[Any, Any], claim: Claimed) -> ExactCheck:
    """Compare two laws that are written down as outcome: probability."""
    for law in (first, second):
        if not isinstance(law, Mapping):
            raise InvalidValue("a law must map outcomes to probabilities", law, '{"yes": "3/4", "no": "1/4"}')
    listed = list(dict.fromkeys([*first, *second]))
    pair = Pair([first.get(o, 0) for o in listed], [second.get(o, 0) for o in listed])
    return _checked(pair, len(listed), claim)


def _checked(pair: Pair, count: int, claim: Claimed) -> ExactCheck:
    epsilon = pair.epsilon()
    deltas = [_worse_delta(pair, term) for term, _ in claim.terms]
    place = _furthest(deltas, [delta for _, delta in claim.terms])
    return ExactCheck(
        count,
        float(pair.unlisted),
        float(epsilon),
        float(claim.terms[place][0]),
        float(deltas[place]) if bool(deltas[place] > 0) else 0.0,
        _is_violated(pair, claim, epsilon, deltas),
        _thin(pair.trade_off()),
    )


def _worse_delta(pair: Pair, epsilon: Fraction) -> Ball:
    one, other = pair.delta(epsilon), pair.reversed().delta(epsilon)
    return one if float(one) >= float(other) else other


def _furthest(found: Sequence[Ball], allowed: Sequence[Fraction]) -> int:
    """Where the true δ is the largest part of what is allowed."""
    parts = [float(one) / max(float(limit), _LEAST_DELTA) for one, limit in zip(found, allowed, strict=True)]
    return parts.index(max(parts))


def _is_violated(pair: Pair, claim: Claimed, epsilon: Ball, deltas: Sequence[Ball]) -> bool:
    """Balls hold the true value, so a comparison that they decide is true."""
    loss = claim.loss
    with working_precision():
        if isinstance(loss, Pure):
            return bool(epsilon > ball(loss.epsilon))
        if any(bool(found > ball(limit)) for found, (_, limit) in zip(deltas, claim.terms, strict=True)):
            return True
    if isinstance(loss, Approximate):
        return False
    if isinstance(loss, GaussianDP):
        return any(not _is_allowed(loss, corner) for corner in pair.trade_off())
    return _exceeds_renyi(pair, _divergences(loss))


def _divergences(loss: Any) -> dict[Fraction, Fraction]:
    if isinstance(loss, ZeroConcentrated):
        return {order: order * loss.rho for order in _ORDERS}
    return dict(loss.curve) if isinstance(loss, Renyi) else {}


def _exceeds_renyi(pair: Pair, limits: dict[Fraction, Fraction]) -> bool:
    sides: tuple[Callable[[Fraction], Ball], ...] = (pair.renyi, pair.reversed().renyi)
    with working_precision():
        return any(bool(side(order) > ball(limit)) for order, limit in limits.items() for side in sides)


def _is_allowed(loss: GaussianDP, corner: tuple[float, float]) -> bool:
    """Corners are enough: between two of them the trade-off is a straight line, and the claimed curve is convex."""
    up = [min(error + _ROUNDING, 1.0) for error in corner]
    return ErrorRegion(loss).allows(Fraction(up[0]), Fraction(up[1]))


def _thin(corners: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    step = max(len(corners) // _MOST_CORNERS, 1)
    kept = list(corners[::step])
    return tuple(kept if kept[-1] == corners[-1] else [*kept, corners[-1]])
