"""Odometers: at any moment, a bound on what was spent so far that holds at every moment at once.

The sum of ε is an odometer as it stands. For ρ, a bound of the form (ε, δ) must survive an analyst who stops at the
worst moment. Here the running sum is compared with doubling levels ρ₀, 2ρ₀, 4ρ₀, ...; level j has its share
δ/((j+1)(j+2)) of δ and the bound ρ_j + 2√(ρ_j ln(1/δ_j)) there, which holds at every moment up to the one where the
sum passes ρ_j (Ville's inequality for e^((α-1)L - α(α-1)Σρ)). With probability 1 - δ all levels hold.

>>> from discreet.privacy.loss import ZeroConcentrated
>>> odometer = ConcentratedOdometer(delta=1e-6)
>>> odometer.record(ZeroConcentrated(0.01)); odometer.reading()
Approximate(ε=0.77181, δ=1e-06)
"""

from __future__ import annotations

from fractions import Fraction
from threading import Lock

from discreet.accounting.filter import rho_of, same_relation
from discreet.errors import InvalidValue, NoProvedPath
from discreet.exact.ball import ball, round_up, upper, working_precision
from discreet.exact.rational import Number, positive, probability
from discreet.privacy.loss import Approximate, Loss, Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["ConcentratedOdometer", "PureOdometer", "bound_of_order"]


class PureOdometer:
    """The running sum of ε: at every moment the releases so far satisfy it."""

    def __init__(self) -> None:
        self._spent = Pure(0)
        self._lock = Lock()

    def record(self, price: Pure) -> None:
        """Add what a release cost."""
        if not isinstance(price, Pure):
            raise NoProvedPath("a pure odometer records pure prices", repr(price))
        with self._lock:  # an addition that another thread overwrites would be forgotten
            relation = same_relation(self._spent.neighbours, price)
            self._spent = Pure(self._spent.epsilon + price.epsilon, relation)

    def reading(self) -> Pure:
        """What was spent so far."""
        return self._spent


class ConcentratedOdometer:
    """A bound (ε, δ) on the privacy loss so far, where all its readings hold together with probability 1 - δ."""

    def __init__(self, delta: Number, first_level: Number = "0.01") -> None:
        self.delta = probability(delta, "delta")
        if not 0 < self.delta < 1:
            raise InvalidValue("delta must lie strictly between 0 and 1", delta)
        self._first_level = positive(first_level, "first_level")
        self._spent = Fraction(0)
        self._relation: Neighbours | None = None
        self._lock = Lock()

    def record(self, price: Loss) -> None:
        """Add what a release cost."""
        rho = rho_of(price)
        with self._lock:
            self._relation = same_relation(self._relation, price)
            self._spent += rho

    def reading(self) -> Approximate:
        """The bound at the level that the running sum has reached."""
        if self._spent == 0:
            return Approximate(0, self.delta, self._relation)
        level, share = 0, self.delta / 2
        while self._first_level * 2**level < self._spent:
            level += 1
            share = self.delta / ((level + 1) * (level + 2))
        with working_precision():
            rho = ball(self._first_level * 2**level)
            bound = upper(rho + 2 * (rho * -(ball(share).log())).sqrt())
        return Approximate(round_up(bound), self.delta, self._relation)


def bound_of_order(order: Fraction, divergence: Fraction, delta: Number) -> Approximate:
    """A bound (ε, δ) on the loss so far, from the running sum of Rényi divergences of one order α > 1.

    For sums that hold at this order alone, which levels may not be used for: those take another order at each level.
    e^((α-1)(L - Σd)) is a non-negative supermartingale that starts at 1, so with probability 1 - δ it stays below 1/δ
    at every moment (Ville's inequality), and L ≤ Σd + ln(1/δ)/(α-1) at every moment at once.

    >>> bound_of_order(Fraction(12), Fraction(1, 2), "1e-6")
    Approximate(ε=1.756, δ=1e-06)
    """
    share = probability(delta, "delta")
    if not 0 < share < 1:
        raise InvalidValue("delta must lie strictly between 0 and 1", delta)
    with working_precision():
        bound = upper(ball(divergence) - ball(share).log() / ball(order - 1))
    return Approximate(round_up(bound), share)
